import { Tokenizer } from 'parse5';
import { unitsOfReference } from './source-text.ts';

/** Where a character reference stands: that decides which of those without a semicolon count, and which names there are. */
export type ReferenceRule = 'attribute' | 'text' | 'xml';

export interface Decoded {
  readonly text: string;
  /** Place of each unit of `text`, and of its end, in the text that was decoded. */
  readonly places: readonly number[];
}

const AMPERSAND = 0x26;

/** The names that XML has, and nearly all that pages use. The rest are parse5's. */
const COMMON: ReadonlyMap<string, string> = new Map([
  ['&amp;', '&'],
  ['&lt;', '<'],
  ['&gt;', '>'],
  ['&quot;', '"'],
  ['&apos;', "'"],
]);

function ignore(): void {}

function tokenizerDecode(piece: string, rule: ReferenceRule): string {
  let text = '';
  const take = (token: { chars: string }): void => {
    text += token.chars;
  };
  const tokenizer = new Tokenizer(
    {},
    {
      onStartTag: ({ attrs }) => {
        text = attrs[0]?.value ?? '';
      },
      onCharacter: take,
      onWhitespaceCharacter: take,
      onNullCharacter: take,
      onEndTag: ignore,
      onComment: ignore,
      onDoctype: ignore,
      onEof: ignore,
    },
  );
  tokenizer.write(rule === 'attribute' ? `<a b="${piece}">` : piece, true);
  return text;
}

const isAlphanumeric = (code: number): boolean =>
  (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
const isDigit = (code: number): boolean => code >= 0x30 && code <= 0x39;
const isHexDigit = (code: number): boolean => isDigit(code) || ((code | 32) >= 0x61 && (code | 32) <= 0x66);

/** Where what may be a character reference at `start` ends. */
function endOfReference(text: string, start: number, end: number): number {
  let at = start + 1;
  let belongs = isAlphanumeric;
  if (text[at] === '#') {
    at++;
    belongs = isDigit;
    if (text[at] === 'x' || text[at] === 'X') {
      at++;
      belongs = isHexDigit;
    }
  }
  while (at < end && belongs(text.charCodeAt(at))) at++;
  return at < end && text[at] === ';' ? at + 1 : at;
}

function decodePiece(piece: string, next: string, rule: ReferenceRule): string {
  const common = COMMON.get(piece);
  if (common !== undefined) return common;
  if (piece.length === 1) return piece;
  if (rule === 'xml' && !(piece.endsWith(';') && piece[1] === '#')) return piece;
  // `&copy=` in an attribute is no reference: the character behind it decides with it.
  const decoded =
    rule === 'attribute' && next === '='
      ? tokenizerDecode(`${piece}=`, rule).slice(0, -1)
      : tokenizerDecode(piece, rule);
  return decoded === piece ? piece : decoded;
}

/**
 * Undoes the character references of a part of a text.
 *
 * @returns null where there is none, so that the text stands as it is.
 */
export function decodeReferences(text: string, start: number, end: number, rule: ReferenceRule): Decoded | null {
  if (nextAmpersand(text, start, end) === end) return null;
  let decoded = '';
  const places: number[] = [];
  const copy = (from: number, to: number): void => {
    decoded += text.slice(from, to);
    for (let at = from; at < to; at++) places.push(at);
  };
  let at = start;
  while (at < end) {
    if (text.charCodeAt(at) !== AMPERSAND) {
      const to = nextAmpersand(text, at, end);
      copy(at, to);
      at = to;
      continue;
    }
    const pieceEnd = endOfReference(text, at, end);
    const piece = text.slice(at, pieceEnd);
    const meaning = decodePiece(piece, pieceEnd < end ? (text[pieceEnd] ?? '') : '', rule);
    if (meaning === piece) copy(at, pieceEnd);
    else {
      // In text `&notit;` is `¬it;`: what stands behind the reference itself is in its place.
      const rest = commonEnd(piece, meaning);
      const units = unitsOfReference(meaning.slice(0, meaning.length - rest));
      decoded += units;
      for (let unit = 0; unit < units.length; unit++) places.push(at);
      copy(pieceEnd - rest, pieceEnd);
    }
    at = pieceEnd;
  }
  places.push(end);
  return { text: decoded, places };
}

/** Looked for up to `end` only: a text without any would else be read to its end for every attribute. */
function nextAmpersand(text: string, start: number, end: number): number {
  let at = start;
  while (at < end && text.charCodeAt(at) !== AMPERSAND) at++;
  return at;
}

function commonEnd(piece: string, meaning: string): number {
  let length = 0;
  while (length < meaning.length - 1 && piece.at(-1 - length) === meaning.at(-1 - length)) length++;
  return length;
}
