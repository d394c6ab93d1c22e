import { isClutter } from './clutter.ts';
import { DEPTH_MAX, type Element, isElement, isText, type Node, oneLine, type Parent } from './tree.ts';

/** UTF-16 code units. Longer headings are text. */
const HEADING_LENGTH_MAX = 500;

/** Spans beside each other that the page's style sets apart: a number and its title, a name and its claim. */
function areSetApart(before: Node | undefined, node: Element): boolean {
  return isElement(before) && before.tagName === 'span' && node.tagName === 'span' && node.attrs.length > 0;
}

export function headingText(heading: Element): string {
  let text = '';
  const read = (parent: Parent, depth: number, inCode: boolean): void => {
    parent.childNodes.forEach((child, index) => {
      if (isText(child)) text += child.value;
      else if (isElement(child) && depth < DEPTH_MAX && !isClutter(child)) {
        const isApart = child.tagName === 'br' || (!inCode && areSetApart(parent.childNodes[index - 1], child));
        if (isApart) text += ' ';
        read(child, depth + 1, inCode || child.tagName === 'code');
      }
    });
  };
  read(heading, 0, false);
  return oneLine(text.slice(0, 4 * HEADING_LENGTH_MAX))
    .slice(0, HEADING_LENGTH_MAX)
    .toWellFormed();
}
