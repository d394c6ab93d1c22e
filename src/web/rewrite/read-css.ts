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

const decoded = (decode: (text: string) => string, units: string): string =>
  units.includes('\\') ? unitsOfText(decode(decodeUnits(units))) : decode(units);

/** Adds the addresses in CSS. Reads tokens (CSS Syntax 3) instead of a syntax tree, because invalid CSS also has tokens. */
export function readCss(region: Region, list: ReferenceList): void {
  const { text } = region;
  if (!mayHoldUrls(text)) return;
  const functions: string[] = [];
  let rule = '';
  let escapedUrlStart: number | null = null;
  let isImporting = false;
  const nameAt = (start: number, end: number): string => {
    const name = text.slice(start, end);
    return (name.includes('\\') ? ident.decode(name) : name).toLowerCase();
  };
  const add = (start: number, end: number, address: string): void => {
    if (NAMES.has(rule)) return;
    list.add(isImporting ? 'style' : 'asset', region, start, end, address, region.writing | CSS);
    isImporting = false;
  };
  tokenize(text, (type, start, end) => {
    switch (type) {
      case tokenTypes.AtKeyword:
        rule = nameAt(start, end);
        isImporting = rule === '@import';
        break;
      case tokenTypes.Semicolon:
      case tokenTypes.LeftCurlyBracket:
      case tokenTypes.RightCurlyBracket:
        rule = '';
        isImporting = false;
        functions.length = 0;
        escapedUrlStart = null;
        break;
      case tokenTypes.Function: {
        const name = nameAt(start, end - 1);
        functions.push(name);
        // Find an escaped `url(`, such as `u\72l(a.png)`, here, because the tokenizer reports it as an ordinary function.
        if (name === 'url' && !/^\s*["']/.test(text.slice(end, end + 100))) escapedUrlStart = end;
        break;
      }
      case tokenTypes.LeftParenthesis:
        functions.push('(');
        break;
      case tokenTypes.RightParenthesis:
        if (escapedUrlStart !== null && functions.at(-1) === 'url') {
          add(escapedUrlStart, start, decoded(url.decode, `url(${text.slice(escapedUrlStart, start)})`));
          escapedUrlStart = null;
        }
        functions.pop();
        break;
      case tokenTypes.Url: {
        const written = text.slice(start, end);
        const isClosed = written.endsWith(')') && !written.endsWith('\\)');
        add(start + 'url('.length, isClosed ? end - 1 : end, decoded(url.decode, written));
        break;
      }
      case tokenTypes.String: {
        const isAddress = URL_FUNCTIONS.has(functions.at(-1) ?? '') || (isImporting && functions.length === 0);
        if (!isAddress) break;
        const written = text.slice(start, end);
        const isClosed = written.length > 1 && written.at(-1) === written[0];
        add(start + 1, isClosed ? end - 1 : end, decoded(string.decode, written));
        break;
      }
    }
  });
}
