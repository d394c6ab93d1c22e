import { isLineNumber } from './clutter.ts';
import { attributeOf, DEPTH_MAX, type Element, isElement, isText, type Parent } from './tree.ts';

/** Elements that highlighters use for a line of code, or for a block inside one. */
const LINES = new Set(['div', 'p', 'li', 'tr']);
const SKIPPED = new Set(['button', 'svg', 'script', 'style', 'template']);

/**
 * Preformatted code with its line breaks, whether written as characters, as `<br>` or as one element a line; without line
 * numbers and copy buttons.
 */
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
