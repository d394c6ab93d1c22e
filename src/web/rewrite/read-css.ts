import { tokenize, tokenTypes } from 'css-tree/tokenizer';
import { ident, string, url } from 'css-tree/utils';
import type { ReferenceList, Region } from './reference.ts';
import { decodeUnits, unitsOfText } from './source-text.ts';
import { CSS } from './write.ts';

const MAY_HOLD = /url\(|@import|image-set\(|src\(/i;
/** Matches an `i`, `l`, `r` or `u` that is escaped by its character code, as in `\75rl(`, which means `url(`. */
const ESCAPED_NAME = /\\0{0,4}(?:[46][9c]|[57][25])/i;

export const mayHoldUrls = (css: string): boolean => MAY_HOLD.test(css) || ESCAPED_NAME.test(css);

const URL_FUNCTIONS = new Set(['url', 'src', 'image-set', '-webkit-image-set']);

const NAMES = new Set(['@namespace', '@document', '@-moz-document', '@charset']);

/** Reads tokens (CSS Syntax 3) instead of a tree, because invalid CSS also has tokens. */
export function readCss(region: Region, list: ReferenceList): void {
  if (!mayHoldUrls(region.text)) return;
  const reading = new CssReading(region, list);
  tokenize(region.text, (type, start, end) => reading.onToken(type, start, end));
}

const decoded = (decode: (text: string) => string, units: string): string =>
  units.includes('\\') ? unitsOfText(decode(decodeUnits(units))) : decode(units);

class CssReading {
  readonly #region: Region;
  readonly #list: ReferenceList;
  readonly #functions: string[] = [];
  #rule = '';
  #escapedUrlStart: number | null = null;
  #isImporting = false;

  constructor(region: Region, list: ReferenceList) {
    this.#region = region;
    this.#list = list;
  }

  onToken(type: number, start: number, end: number): void {
    switch (type) {
      case tokenTypes.AtKeyword:
        this.#rule = this.#nameAt(start, end);
        this.#isImporting = this.#rule === '@import';
        break;
      case tokenTypes.Semicolon:
      case tokenTypes.LeftCurlyBracket:
      case tokenTypes.RightCurlyBracket:
        this.#rule = '';
        this.#isImporting = false;
        this.#functions.length = 0;
        this.#escapedUrlStart = null;
        break;
      case tokenTypes.Function:
        this.#onFunction(start, end);
        break;
      case tokenTypes.LeftParenthesis:
        this.#functions.push('(');
        break;
      case tokenTypes.RightParenthesis:
        this.#onRightParenthesis(start);
        break;
      case tokenTypes.Url:
        this.#onUrl(start, end);
        break;
      case tokenTypes.String:
        this.#onString(start, end);
        break;
    }
  }

  #nameAt(start: number, end: number): string {
    const name = this.#region.text.slice(start, end);
    return (name.includes('\\') ? ident.decode(name) : name).toLowerCase();
  }

  /** Remembers the start of an escaped `url(`, such as `u\72l(a.png)`, which the tokenizer reports as an ordinary function. */
  #onFunction(start: number, end: number): void {
    const name = this.#nameAt(start, end - 1);
    this.#functions.push(name);
    if (name === 'url' && !/^\s*["']/.test(this.#region.text.slice(end, end + 100))) this.#escapedUrlStart = end;
  }

  #onRightParenthesis(end: number): void {
    const start = this.#escapedUrlStart;
    if (start !== null && this.#functions.at(-1) === 'url') {
      this.#add(start, end, decoded(url.decode, `url(${this.#region.text.slice(start, end)})`));
      this.#escapedUrlStart = null;
    }
    this.#functions.pop();
  }

  #onUrl(start: number, end: number): void {
    const text = this.#region.text.slice(start, end);
    const close = text.endsWith(')') && !text.endsWith('\\)') ? end - 1 : end;
    this.#add(start + 'url('.length, close, decoded(url.decode, text));
  }

  #onString(start: number, end: number): void {
    const text = this.#region.text.slice(start, end);
    const isAddress =
      URL_FUNCTIONS.has(this.#functions.at(-1) ?? '') || (this.#isImporting && this.#functions.length === 0);
    if (!isAddress) return;
    const isClosed = text.length > 1 && text.at(-1) === text[0];
    this.#add(start + 1, isClosed ? end - 1 : end, decoded(string.decode, text));
  }

  #add(start: number, end: number, address: string): void {
    if (NAMES.has(this.#rule)) return;
    const kind = this.#isImporting ? 'style' : 'asset';
    this.#isImporting = false;
    this.#list.add(kind, this.#region, start, end, address, this.#region.writing | CSS);
  }
}
