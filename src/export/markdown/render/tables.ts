import type { Words } from '../site/words.ts';
import { Token } from './token.ts';

const CODE_WORD = /^`([A-Za-z][A-Za-z0-9_.-]*)`$/;
const ALIGNMENT = /text-align:\s*(left|center|right)/;

/**
 * Lets wide tables scroll by themselves, says alignment by classes, and gives a row whose first cell is one code word that
 * word as its id, so that a page of settings or errors can be linked into.
 */
export function makeTables(tokens: Token[], words: Words): void {
  const taken = new Set(tokens.map((token) => token.attrGet('id')).filter((id) => id !== null));
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'th_open' || token.type === 'td_open') alignByClass(token);
    if (token.type !== 'tr_open' || tokens[index + 1]?.type !== 'td_open') continue;
    const word = CODE_WORD.exec(tokens[index + 2]?.content ?? '')?.[1];
    if (word === undefined || taken.has(word)) continue;
    taken.add(word);
    token.attrSet('id', word);
  }
  for (let index = tokens.length - 1; index >= 0; index--) {
    const type = tokens[index]?.type;
    if (type === 'table_open') {
      tokens.splice(index, 0, html(`<div class="table" role="region" aria-label="${words.table}" tabindex="0">\n`));
    } else if (type === 'table_close') tokens.splice(index + 1, 0, html('</div>\n'));
  }
}

function alignByClass(cell: Token): void {
  const alignment = ALIGNMENT.exec(String(cell.attrGet('style') ?? ''))?.[1];
  if (alignment === undefined) return;
  cell.attrs = (cell.attrs ?? []).filter(([name]) => name !== 'style');
  cell.attrSet('class', `align-${alignment}`);
}

function html(content: string): Token {
  const token = new Token('html_block', '', 0);
  token.content = content;
  return token;
}
