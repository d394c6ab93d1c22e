import { isLineNumber } from './clutter.ts';
import { attributeOf, DEPTH_MAX, type Element, isElement, isText, type Parent } from './tree.ts';

const LINES = new Set(['div', 'p', 'li', 'tr']);
const SKIPPED = new Set(['button', 'svg', 'script', 'style', 'template']);

/** Line breaks may be characters, `<br>` or one element a line; line numbers and copy buttons are left out. */
export function codeText(pre: Element): string {
  let text = '';
  let atLineStart = true;
  const write = (piece: string): void => {
    if (piece === '') return;
    text += piece;
    atLineStart = piece.endsWith('\n');
  };
  const read = (parent: Parent, depth: number): void => {
    for (const child of parent.childNodes) {
      if (isText(child)) write(child.value);
      else if (isElement(child) && depth < DEPTH_MAX) readElement(child, depth);
    }
  };
  const readElement = (element: Element, depth: number): void => {
    if (element.tagName === 'br') {
      write('\n');
      return;
    }
    if (SKIPPED.has(element.tagName) || isLineNumber(element) || attributeOf(element, 'aria-hidden') === 'true') return;
    const isLine = LINES.has(element.tagName);
    if (isLine && !atLineStart) write('\n');
    const lengthBefore = text.length;
    read(element, depth + 1);
    if (isLine && (text.length === lengthBefore || !atLineStart)) write('\n');
  };
  read(pre, 0);
  return text;
}
