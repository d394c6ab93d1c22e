import { decodeHTML, decodeHTMLAttribute } from 'entities/decode';
import { RAW_TEXT } from '../rewrite/markup/elements.ts';
import { MarkupScanner } from '../rewrite/markup/scanner.ts';

/** Maximum letters and digits to compare at the start of a section. 200 suffice to distinguish sections with the same heading. */
const COMPARED_MAX = 200;
/** Maximum characters of the Markdown to compare, in about 0.3 s. In a hostile file, all lines can begin like the section. */
const READ_MAX = 3_000_000;

/**
 * Finds the Markdown line with the text that the page has at an anchor. Returns the line's offset, or null. Compares only
 * letters and digits, because a Markdown file of the bundle may have other markup.
 */
export function fragmentOffset(html: string, fragment: string, markdown: string): number | null {
  const { first, text } = textAtAnchor(html, fragment);
  if (first === '') return null;
  const written = ATTRIBUTES.map((each) => markdown.indexOf(each(fragment))).find((at) => isProse(markdown, at));
  if (written !== undefined) return markdown.lastIndexOf('\n', written) + 1;
  let best = first.length;
  let offset: number | null = null;
  let left = READ_MAX;
  for (let start = 0; start !== -1 && start < markdown.length && left > 0; start = nextLine(markdown, start)) {
    const common = commonPart(markdown, start, text);
    left -= common.end - start;
    // Prefer a heading to other lines with the same text, because a table of contents repeats the texts of headings.
    const length = common.length + (markdown[start] === '#' ? 0.5 : 0);
    if (length < best || (length === best && offset !== null)) continue;
    best = length;
    offset = start;
  }
  return offset;
}

/** Texts in Markdown that define an anchor. */
const ATTRIBUTES: readonly ((anchor: string) => string)[] = [
  (anchor) => `{#${anchor}}`,
  (anchor) => `id="${anchor}"`,
  (anchor) => `name="${anchor}"`,
];

/** False inside of a code block, which can contain an example of an anchor. */
const isProse = (markdown: string, at: number): boolean =>
  at !== -1 && (markdown.slice(0, at).match(/^ *(?:```|~~~)/gm)?.length ?? 0) % 2 === 0;

function nextLine(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? -1 : end + 1;
}

const LETTER = /[\p{L}\p{N}]/u;

/**
 * Compares the start of `text` with the Markdown at `start`. Ignores characters of the Markdown except letters and digits.
 * @returns number of equal letters and digits, and the place in the Markdown where the comparison ended
 */
function commonPart(markdown: string, start: number, text: string): { readonly length: number; readonly end: number } {
  let length = 0;
  let at = start;
  for (; at < markdown.length && length < text.length; at += 1) {
    const letter = markdown[at] as string;
    if (letter === text[length]) length += 1;
    else if (LETTER.test(letter)) break;
    // Skip the address of a link, which the page does not show.
    else if (letter === ']' && markdown[at + 1] === '(') at += Math.max(0, markdown.slice(at, at + 1_000).indexOf(')'));
    else if (length === 0 && letter === '\n') break;
  }
  return { length, end: at + 1 };
}

/**
 * At most `COMPARED_MAX` letters and digits of the page after an anchor. `first` has only those of the first text node that
 * contains any, such as a heading. Both are empty if the page has no such anchor.
 */
function textAtAnchor(html: string, fragment: string): { readonly first: string; readonly text: string } {
  const found = { first: '', text: '' };
  let isFound = false;
  const scanner = new MarkupScanner(html);
  const has = (name: string): boolean => {
    const written = scanner.attribute(name);
    return written !== null && decodeHTMLAttribute(written) === fragment;
  };
  scanner.read({
    onStartTag: () => {
      const tag = scanner.tagName;
      isFound ||= has('id') || (tag === 'a' && has('name'));
      if (scanner.isHtml && RAW_TEXT.has(tag)) scanner.skipRawText();
    },
    onText: (start, end) => {
      if (!isFound) return;
      const letters = decodeHTML(html.slice(start, end)).replace(/[^\p{L}\p{N}]+/gu, '');
      found.first ||= letters;
      found.text = (found.text + letters).slice(0, COMPARED_MAX);
      if (found.text.length === COMPARED_MAX) scanner.skipAll();
    },
  });
  return found;
}
