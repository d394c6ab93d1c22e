/**
 * A file's text with one unit a byte (two bytes where it is UTF-16), so that a place in the text is a place in the file and
 * bytes that nobody decodes stay what they are. Markup, CSS, JavaScript and JSON are ASCII as far as their syntax goes; what
 * lies between is decoded by `decodeUnits`, and only where it is looked at.
 *
 * Units that are no bytes: characters that came out of a character reference or an escape, UTF-16 text, and, as lone low
 * surrogates, which no text has:
 * - `ESCAPED + byte`: an ASCII byte that is part of a character (Shift_JIS has `\\` there), hidden from the readers;
 * - `ESCAPED + code`: a character of 0x80 to 0xFF that came out of a character reference, and is not to be decoded again.
 */
export interface SourceText {
  readonly units: string;
  /** The encoding standard's name, in lower case. */
  readonly charset: string;
}

const ESCAPED = 0xdc00;

type Ranges = readonly (readonly [low: number, high: number])[];

/** Encodings whose characters may end in an ASCII byte, with the ranges of the bytes that such a character begins with. */
const LEAD_BYTES: ReadonlyMap<string, Ranges> = new Map<string, Ranges>([
  [
    'shift_jis',
    [
      [0x81, 0x9f],
      [0xe0, 0xfc],
    ],
  ],
  ...['gbk', 'gb18030', 'big5', 'euc-kr'].map((name) => [name, [[0x81, 0xfe]]] as const),
]);

const ESCAPE = 0x1b;

export function isUtf16(charset: string): boolean {
  return charset.startsWith('utf-16');
}

/**
 * Decodes a file, once for all who read it.
 *
 * @param charset finds the charset in a text of one unit a byte; one that nobody knows is read as UTF-8
 */
export function sourceText(bytes: Uint8Array, charset: (text: string) => string): SourceText {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const units = buffer.toString('latin1');
  const name = decoderOf(charset(units)).encoding;
  if (isUtf16(name)) return { units: utf16Units(buffer, name), charset: name };
  const leads = LEAD_BYTES.get(name);
  if (leads !== undefined) return { units: maskTrails(units, leads), charset: name };
  return { units: name === 'iso-2022-jp' ? maskShifted(units) : units, charset: name };
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset, { ignoreBOM: true });
  } catch {
    return new TextDecoder('utf-8', { ignoreBOM: true });
  }
}

/** Node's UTF-16 is little-endian and keeps lone surrogates, which a TextDecoder would replace. */
function utf16Units(buffer: Buffer, name: string): string {
  const even = buffer.subarray(0, buffer.length - (buffer.length % 2));
  return (name === 'utf-16be' ? Buffer.from(even).swap16() : even).toString('utf16le');
}

function isWithin(code: number, ranges: Ranges): boolean {
  return ranges.some(([low, high]) => code >= low && code <= high);
}

function maskTrails(units: string, leads: Ranges): string {
  let masked = '';
  let copied = 0;
  for (let at = 0; at + 1 < units.length; at++) {
    if (!isWithin(units.charCodeAt(at), leads)) continue;
    at++;
    const trail = units.charCodeAt(at);
    // Below 0x40 no character ends: the decoders read such a byte anew, as itself.
    if (trail < 0x40 || trail > 0x7e) continue;
    masked += units.slice(copied, at) + String.fromCharCode(ESCAPED + trail);
    copied = at + 1;
  }
  return masked + units.slice(copied);
}

/** ISO-2022-JP: everything between an escape to a two-byte set and the next escape is no ASCII. */
function maskShifted(units: string): string {
  let masked = '';
  let isShifted = false;
  for (let at = 0; at < units.length; at++) {
    const code = units.charCodeAt(at);
    if (code === ESCAPE) isShifted = units[at + 1] === '$';
    // The two units behind an escape belong to it.
    const belongs = code === ESCAPE || units.charCodeAt(at - 1) === ESCAPE || units.charCodeAt(at - 2) === ESCAPE;
    masked += isShifted && !belongs && code < 0x80 ? String.fromCharCode(ESCAPED + code) : (units[at] ?? '');
  }
  return masked;
}

/** A character reference's text as units, so that `decodeUnits` gives it back as it is. */
export function unitsOfReference(text: string): string {
  const code = text.charCodeAt(0);
  return text.length === 1 && code >= 0x80 && code <= 0xff ? String.fromCharCode(ESCAPED + code) : text;
}

const BEYOND_ASCII = /[\x80-\uffff]/;
const BEYOND_LATIN1 = /[\u0100-\uffff]/;

/** The text that units stand for. */
export function decodeUnits(units: string, charset: string): string {
  return BEYOND_ASCII.test(units) ? decodeRuns(units, charset, (bytes) => decoderOf(charset).decode(bytes)) : units;
}

/**
 * `decodeUnits` for an address. In a page of another charset than UTF-8, bytes in a query mean themselves (URL standard,
 * "query state"), so they are percent-encoded as they are; a path's are decoded.
 */
export function decodeUrl(units: string, charset: string): string {
  if (!BEYOND_ASCII.test(units)) return units;
  const query = charset === 'utf-8' || isUtf16(charset) ? -1 : units.indexOf('?');
  if (query === -1) return decodeUnits(units, charset);
  const hash = units.indexOf('#', query);
  const end = hash === -1 ? units.length : hash;
  const encoded = decodeRuns(units.slice(query, end), charset, (bytes) =>
    Array.from(bytes, (byte) => (byte < 0x80 ? String.fromCharCode(byte) : `%${byte.toString(16).toUpperCase()}`)).join(
      '',
    ),
  );
  return decodeUnits(units.slice(0, query), charset) + encoded + decodeUnits(units.slice(end), charset);
}

function decodeRuns(units: string, charset: string, decode: (bytes: Uint8Array) => string): string {
  const isBytes = !isUtf16(charset);
  let text = '';
  let bytes: number[] = [];
  const push = (characters: string): void => {
    text += decode(Uint8Array.from(bytes)) + characters;
    bytes = [];
  };
  for (let at = 0; at < units.length; at++) {
    const code = units.charCodeAt(at);
    const escaped = code - ESCAPED;
    if (isBytes && code <= 0xff) bytes.push(code);
    else if (isBytes && escaped >= 0 && escaped < 0x80) bytes.push(escaped);
    else if (escaped >= 0x80 && escaped <= 0xff) push(String.fromCharCode(escaped));
    else {
      const character = String.fromCodePoint(units.codePointAt(at) ?? 0);
      push(character);
      at += character.length - 1;
    }
  }
  push('');
  return text;
}

/** V8 copies slices of fewer characters; a longer one refers to the text that it is cut from, and keeps all of it alive. */
const COPIED_CHARS = 13;

/** Parts of a text that may be kept longer than the text, if together: they are cut from a copy of them all. */
export function ownStrings(parts: readonly string[]): string[] {
  const copy = ownString(parts.join(''));
  let start = 0;
  return parts.map((part) => {
    const own = copy.slice(start, start + part.length);
    start += part.length;
    return own;
  });
}

/** A part of a text that may be kept longer than the text. */
export function ownString(part: string): string {
  if (part.length < COPIED_CHARS) return part;
  const encoding = BEYOND_LATIN1.test(part) ? 'utf16le' : 'latin1';
  return Buffer.from(part, encoding).toString(encoding);
}
