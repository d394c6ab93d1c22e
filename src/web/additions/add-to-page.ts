import { charsetOfType } from '../media-type.ts';
import { RAW_TEXT } from '../rewrite/markup/elements.ts';
import { type MarkupReader, MarkupScanner } from '../rewrite/markup/scanner.ts';
import { unitsOf, utf8Bytes } from '../rewrite/source-text.ts';
import { type Edit, spliceBytes } from '../rewrite/write.ts';
import { ENGLISH, languageOf } from '../words/index.ts';
import type { PageAdditions } from './page-additions.ts';

/**
 * Adds docshelf's markup to a page, which becomes UTF-8. Returns `bytes` unchanged if the file is only a part of a page, or if
 * no place for markup is found.
 */
export function addToPage(bytes: Uint8Array, mediaType: string, { head, body }: PageAdditions): Uint8Array {
  const page = utf8Bytes(bytes, 'html', charsetOfType(mediaType));
  const places = new PlaceFinder(unitsOf(page), body.length > 0).places();
  if (places === null) return bytes;
  const edits: Edit[] = [];
  const { tag } = languageOf(places.language) ?? ENGLISH;
  const add = (at: number | null, pieces: PageAdditions['head']): void => {
    const text = pieces.map((piece) => (typeof piece === 'string' ? piece : (piece[tag] ?? ''))).join('');
    if (at !== null && pieces.length > 0) edits.push({ start: at, end: at, text });
  };
  add(places.head, head);
  add(places.body, body);
  return edits.length === 0 ? bytes : spliceBytes(page, edits);
}

/** Tags that may be in the head, so their start tags do not end the head (HTML standard, 13.2.6.4.3 and 13.2.6.4.4). */
const IN_HEAD = new Set(
  'html head title base basefont bgsound link meta style script noscript noframes template'.split(' '),
);
const ENDS_HEAD = new Set(['head', 'body', 'html', 'br']);
/** Tags that only a whole page has. A file without these tags and without a doctype is a part of a page, which a script loads. */
const OF_PAGES = new Set('html head title meta body frameset'.split(' '));
const NO_SPACE = /[^\t\n\f\r ]/;
const BYTE_ORDER_MARK = '\xef\xbb\xbf';

class PlaceFinder implements MarkupReader {
  readonly #text: string;
  readonly #wantsBody: boolean;
  readonly #scanner: MarkupScanner;
  #language = '';
  #isPage = false;
  #hasFrames = false;
  #isUnclosed = false;
  #templates = 0;
  #templateStart = 0;
  /** Start of the last complete tag or doctype. A `<` after this tag begins an unfinished tag or comment. */
  #tagStart = -1;
  #head: number | null = null;
  #bodyEnd: number | null = null;
  #htmlEnd: number | null = null;

  constructor(text: string, wantsBody: boolean) {
    this.#text = text;
    this.#wantsBody = wantsBody;
    this.#scanner = new MarkupScanner(text);
  }

  /**
   * Finds the places for markup. Null for a file that is only a part of a page. `body` is the end of `<body>`, or null for a
   * frameset, template or unclosed element.
   */
  places() {
    this.#scanner.read(this);
    const isInTemplate = this.#templates > 0;
    const head = this.#head ?? (isInTemplate ? this.#templateStart : this.#safeEnd);
    if (!this.#isPage || head === null) return null;
    const body = this.#hasFrames ? null : (this.#bodyEnd ?? this.#htmlEnd ?? (isInTemplate ? null : this.#safeEnd));
    return { language: this.#language, head, body };
  }

  onDoctype(start: number): void {
    this.#isPage = true;
    this.#tagStart = start;
  }

  onText(start: number, end: number): void {
    if (this.#head !== null || this.#templates > 0) return;
    const isMarked = start === 0 && this.#text.startsWith(BYTE_ORDER_MARK);
    const from = isMarked ? BYTE_ORDER_MARK.length : start;
    const at = this.#text.slice(from, end).search(NO_SPACE);
    if (at !== -1) this.#endHead(from + at);
  }

  onStartTag(): void {
    const scanner = this.#scanner;
    const tag = scanner.tagName;
    this.#tagStart = scanner.tagStart;
    const { isHtml } = scanner;
    if (OF_PAGES.has(tag)) this.#isPage = true;
    if (tag === 'html' && isHtml && this.#templates === 0) this.#language ||= scanner.attribute('lang') ?? '';
    if (this.#templates === 0 && !IN_HEAD.has(tag)) {
      if (this.#endHead(scanner.tagStart)) return;
      if (tag === 'frameset') this.#hasFrames = true;
    }
    if (!isHtml) return;
    if (tag === 'template') {
      if (this.#templates === 0) this.#templateStart = scanner.tagStart;
      this.#templates++;
    } else if (tag === 'plaintext') this.#leaveOpen();
    else if (RAW_TEXT.has(tag) && scanner.skipRawText() === this.#text.length) {
      this.#head ??= scanner.tagStart;
      this.#leaveOpen();
    }
  }

  onEndTag(): void {
    const { tagName: tag, tagStart } = this.#scanner;
    this.#tagStart = tagStart;
    if (!this.#scanner.isHtml) return;
    if (tag === 'template' && this.#templates > 0) this.#templates--;
    else if (this.#templates === 0 && ENDS_HEAD.has(tag)) {
      if (this.#endHead(tagStart)) return;
      // `</body>` does not end an open SVG element, so add docshelf's markup before the SVG element.
      const at = this.#scanner.isForeign ? this.#scanner.foreignStart : tagStart;
      if (tag === 'body') this.#bodyEnd = at;
      else if (tag === 'html') this.#htmlEnd = at;
    }
  }

  #endHead(at: number): boolean {
    if (this.#head !== null) return false;
    this.#head = at;
    if (this.#wantsBody && this.#isPage) return false;
    this.#scanner.skipAll();
    return true;
  }

  #leaveOpen(): void {
    this.#isUnclosed = true;
    this.#scanner.skipAll();
  }

  /** End of the file. Null if the file ends inside an unfinished comment, tag or element. */
  get #safeEnd(): number | null {
    const isSafe = !this.#isUnclosed && !this.#text.includes('<', this.#tagStart + 1);
    return isSafe ? this.#text.length : null;
  }
}
