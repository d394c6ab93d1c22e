import { CHARSET_HEAD_BYTES, charsetInCss, charsetInMarkup, encodingOf, markedCharset } from '../media-type.ts';

/** `xml` is SVG and XHTML, `feed` all other XML, `manifest` a web app manifest. */
export type SourceType = 'html' | 'xml' | 'feed' | 'css' | 'script' | 'manifest';

const SOURCE_TYPES: readonly (readonly [RegExp, SourceType])[] = [
  [/^text\/html$/, 'html'],
  [/^(?:application\/xhtml|image\/svg)\+xml$/, 'xml'],
  [/^(?:application|text)\/xml$|^application\/(?:rss|atom)\+xml$/, 'feed'],
  [/^text\/css$/, 'css'],
  [/^(?:application|text)\/(?:java|ecma)script$|^application\/x-javascript$/, 'script'],
  [/^application\/manifest\+json$/, 'manifest'],
];

export function sourceTypeOf(mediaType: string): SourceType | null {
  const end = mediaType.indexOf(';');
  const type = (end === -1 ? mediaType : mediaType.slice(0, end)).trim().toLowerCase();
  return SOURCE_TYPES.find(([pattern]) => pattern.test(type))?.[1] ?? null;
}

/**
 * Converts a file to UTF-8 with a byte order mark. Returns UTF-8 files unchanged.
 * @param charset charset in the `Content-Type` header; null uses the charset that the file declares, else UTF-8
 */
export function utf8Bytes(bytes: Uint8Array, type: SourceType, charset: string | null): Uint8Array {
  const encoding = encodingOf(markedCharset(bytes) ?? charset ?? charsetIn(bytes, type) ?? 'utf-8') ?? 'utf-8';
  if (encoding === 'utf-8') return bytes;
  const units = unitsOf(bytes);
  const isWide = encoding.startsWith('utf-16');
  const isMarkup = type === 'html' || type === 'xml';
  const text = new TextDecoder(encoding).decode(
    isWide || !isMarkup ? bytes : Buffer.from(withEncodedQueries(units), 'latin1'),
  );
  if (text === units && !BEYOND_ASCII.test(text)) return bytes;
  const declared = (whole: string, start: string, label: string): string =>
    encodingOf(label) === encoding ? `${start}utf-8` : whole;
  return Buffer.from(`\ufeff${text.replace(DECLARED, declared)}`);
}

function charsetIn(bytes: Uint8Array, type: SourceType): string | null {
  const head = unitsOf(bytes.subarray(0, CHARSET_HEAD_BYTES));
  if (type === 'html' || type === 'xml') return charsetInMarkup(head);
  return type === 'css' ? charsetInCss(head) : null;
}

/** Matches comments, raw text elements and other tags, so that docshelf changes addresses only inside tags. */
const MARKUP =
  /<!--[\s\S]*?(?:-->|$)|(<(script|style|textarea|title|xmp|iframe|noembed|noframes)\b[^<>]*>)[\s\S]*?(?=<\/\2|$)|<[a-z][^<>]*>/gi;
const ADDRESSES_WITH_QUERY =
  /\s(?:href|src|action|formaction|data|poster|background)\s*=\s*(?:"[^"<>?#]*\?[^"<>#]*|'[^'<>?#]*\?[^'<>#]*|[^\s"'<>?#]*\?[^\s"'<>#]*)/gi;

function withEncodedQueries(units: string): string {
  return units.replace(MARKUP, (part, opening: string | undefined) => {
    if (part.startsWith('<!--')) return part;
    return opening === undefined ? encodedTag(part) : encodedTag(opening) + part.slice(opening.length);
  });
}

function encodedTag(tag: string): string {
  return tag.replace(ADDRESSES_WITH_QUERY, (attribute) => {
    const query = attribute.indexOf('?');
    const encoded = attribute
      .slice(query)
      .replace(/[\x80-\xff]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`);
    return attribute.slice(0, query) + encoded;
  });
}

/** Matches charset declarations in a file. docshelf changes them to UTF-8, because strict XML readers reject a wrong charset. */
const DECLARED =
  /(<meta[\s/][^<>]{0,500}?charset\s*=\s*["']?|^<\?xml[^<>]{0,100}?\sencoding\s*=\s*["']|^@charset ")([\w.:-]+)/gi;

/** Text with one UTF-16 code unit per byte (Latin-1), so that positions in text and file are equal. Decode with `decodeUnits`. */
export const unitsOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');

const BEYOND_ASCII = /[\x80-\uffff]/;
const BEYOND_LATIN1 = /[\u0100-\uffff]/;

export const decodeUnits = (units: string): string =>
  BEYOND_ASCII.test(units) ? Buffer.from(units, 'latin1').toString('utf8') : units;

export const unitsOfText = (text: string): string =>
  BEYOND_ASCII.test(text) ? Buffer.from(text).toString('latin1') : text;

/** Copies a slice, which otherwise keeps the whole text in memory. */
export function detachString(part: string): string {
  const encoding = BEYOND_LATIN1.test(part) ? 'utf16le' : 'latin1';
  return Buffer.from(part, encoding).toString(encoding);
}
