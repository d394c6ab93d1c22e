/**
 * A file's text with one unit a byte (two bytes in UTF-16), so that a place in the text is a place in the file. The syntax
 * of markup, CSS, JavaScript and JSON is ASCII; what lies between is decoded by `decodeUnits`, where it is looked at.
 *
 * Units that are no bytes: characters of a character reference or an escape, UTF-16 text, and as lone low surrogates:
 * - `ESCAPED + byte`: an ASCII byte that is part of a character (Shift_JIS has `\\` there), hidden from the readers;
 * - `ESCAPED + code`: a character of 0x80 to 0xFF from a character reference, not to be decoded again.
 */
export interface SourceText {
  readonly units: string;
  readonly charset: string;
}

const ESCAPED = 0xdc00;

/** Units that begin a character which may end in an ASCII byte, by encoding. */
const LEAD_BYTES: ReadonlyMap<string, RegExp> = new Map([
  ['shift_jis', /[\x81-\x9f\xe0-\xfc]/],
  ...['gbk', 'gb18030', 'big5', 'euc-kr'].map((name) => [name, /[\x81-\xfe]/] as const),
]);

const ESCAPE = 0x1b;

export function isUtf16(charset: string): boolean {
  return charset.startsWith('utf-16');
}

/** @param charset finds the charset in a text of one unit a byte; an unknown one is read as UTF-8 */
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

function maskTrails(units: string, leads: RegExp): string {
  let masked = '';
  let copied = 0;
  for (let at = 0; at + 1 < units.length; at++) {
    if (!leads.test(units[at] ?? '')) continue;
    at++;
    const trail = units.charCodeAt(at);
    // No character ends below 0x40: the decoders read such a byte anew, as itself.
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

export function decodeUnits(units: string, charset: string): string {
  return BEYOND_ASCII.test(units) ? decodeRuns(units, charset, (bytes) => decoderOf(charset).decode(bytes)) : units;
}

/** `decodeUnits` for an address. A query's bytes are percent-encoded as they are, but in UTF-8 (URL standard, "query state"). */
export function decodeUrl(units: string, charset: string): string {
  if (!BEYOND_ASCII.test(units)) return units;
  const query = charset === 'utf-8' || isUtf16(charset) ? -1 : units.indexOf('?');
  if (query === -1) return decodeUnits(units, charset);
  const hash = units.indexOf('#', query);
  const end = hash === -1 ? units.length : hash;
  const encoded = decodeRuns(units.slice(query, end), charset, (bytes) => {
    const text = Buffer.from(bytes).toString('latin1');
    return text.replace(/[\x80-\xff]/g, (unit) => `%${unit.charCodeAt(0).toString(16).toUpperCase()}`);
  });
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

/** V8 copies slices of fewer characters; a longer one keeps the text alive that it is cut from. */
const COPIED_CHARS = 13;

/** Parts of a text that may be kept longer than the text: slices of one copy. */
export function ownStrings(parts: readonly string[]): string[] {
  const copy = ownString(parts.join(''));
  let start = 0;
  return parts.map((part) => {
    const own = copy.slice(start, start + part.length);
    start += part.length;
    return own;
  });
}

export function ownString(part: string): string {
  if (part.length < COPIED_CHARS) return part;
  const encoding = BEYOND_LATIN1.test(part) ? 'utf16le' : 'latin1';
  return Buffer.from(part, encoding).toString(encoding);
}
