import { Token } from './token.ts';

const BOX = /^\[([ xX])\][ \t]+/;

/** Turns list items that begin with `[ ]` or `[x]` into items with a checkbox (GitHub Flavored Markdown, section 5.3). */
export function makeTasks(tokens: readonly Token[]): void {
  for (const [index, token] of tokens.entries()) {
    const inline = tokens[index + 2];
    if (token.type !== 'list_item_open' || tokens[index + 1]?.type !== 'paragraph_open' || inline === undefined)
      continue;
    const first = inline.children?.[0];
    const box = first?.type === 'text' ? BOX.exec(first.content) : null;
    if (first === undefined || box === null) continue;
    first.content = first.content.slice(box[0].length);
    const input = new Token('html_inline', '', 0);
    input.content = `<input type="checkbox" disabled${box[1] === ' ' ? '' : ' checked'}> `;
    inline.children?.unshift(input);
    token.attrJoin('class', 'task');
  }
}
