import type { FoundReference, FoundReferences } from './reference.ts';

/** Mask of the bits that count how often `&` must be escaped as `&amp;`, such as twice for an attribute inside `srcdoc`. */
export const AMP_LAYERS = 0b1111;
/** Flag for an attribute without quotes, which needs quotes if its new value is empty. */
export const UNQUOTED = 1 << 4;
/** Flag for an address in CSS, where a parenthesis can end the address. */
export const CSS = 1 << 5;
/** Flag for an address in a list such as `srcset`, where a comma can end the address. */
export const LIST = 1 << 6;
/** Flag for a module specifier, which must begin with a dot or a slash. */
export const SPECIFIER = 1 << 7;
/** Flag for a digest. Do not percent-encode its characters, because it is not an address. */
export const LITERAL = 1 << 8;

export type Edit = { readonly start: number; readonly end: number; readonly text: string };

/**
 * Characters to percent-encode, because they can end an address in HTML, CSS or a script. Omits `%`, because the address may
 * already be encoded.
 */
const UNSAFE = /[^\w!#$%&()*+,./:;=?@~[\]-]/gu;
const PLAIN = /^[\w!#$%*+./:=?@~-]+$/;
const PARENTHESES_AND_BRACKETS = /[()[\]]/g;

export function writtenUrl(url: string, writing: number): string {
  if ((writing & SPECIFIER) === 0 && PLAIN.test(url)) return url;
  let text = url;
  if ((writing & LITERAL) === 0) {
    text = text.replace(UNSAFE, percentEncode);
    if ((writing & CSS) !== 0) text = text.replace(PARENTHESES_AND_BRACKETS, percentEncode);
    if ((writing & LIST) !== 0) text = text.replaceAll(',', '%2C');
    if ((writing & SPECIFIER) !== 0 && !/^(?:\.{0,2}\/|[a-z][a-z0-9+.-]*:)/i.test(text)) text = `./${text}`;
  }
  const layers = writing & AMP_LAYERS;
  const needsQuotes = text === '' && (writing & UNQUOTED) !== 0;
  let written = needsQuotes ? '""' : text;
  for (let layer = needsQuotes ? 1 : 0; layer < layers; layer++)
    written = written.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return written;
}

export function spliceBytes(bytes: Uint8Array, edits: readonly Edit[]): Uint8Array {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let size = bytes.length;
  for (const { start, end, text } of edits) size += text.length - (end - start);
  // Use a separate buffer, because a message with a slice of Node's shared pool would copy the whole pool.
  const spliced = Buffer.allocUnsafeSlow(size);
  let copied = 0;
  let at = 0;
  for (const { start, end, text } of edits.toSorted((a, b) => a.start - b.start)) {
    at += source.copy(spliced, at, copied, start);
    // For short ASCII text, a loop is faster than Buffer's encoder.
    for (let index = 0; index < text.length; index++) spliced[at++] = text.charCodeAt(index);
    copied = end;
  }
  source.copy(spliced, at, copied);
  return spliced;
}

type Replace = (reference: FoundReference) => string | null;

export function rewriteFile(bytes: Uint8Array, { references }: FoundReferences, replace: Replace) {
  const edits: Edit[] = [];
  for (const reference of references) {
    const { kind } = reference;
    const url = kind === 'mention' || kind === 'mounted' ? null : replace(reference);
    if (url === null) continue;
    edits.push({ start: reference.start, end: reference.end, text: writtenUrl(url, reference.writing) });
  }
  return edits.length === 0 ? { bytes, changed: 0 } : { bytes: spliceBytes(bytes, edits), changed: edits.length };
}

/**
 * Characters of a path to percent-encode. Includes the apostrophe, parentheses and `;`: RFC 3986 allows them, but HTML and CSS
 * can give them another meaning.
 */
const ENCODED = /[^\w!$*+,=@~.:&-]/gu;

function percentEncode(text: string): string {
  return Array.from(Buffer.from(text, 'utf8'), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(
    '',
  );
}

export const encodePath = (path: string): string =>
  path.replace(ENCODED, (character) => (character === '/' ? character : percentEncode(character)));

/**
 * Relative URL from one file or folder to another. The path of a folder is empty or ends with a slash.
 * @param suffix query and fragment of the URL, such as `?a#b`
 */
export function relativeUrl(fromPath: string, toPath: string, suffix = ''): string {
  if (fromPath === toPath && suffix.startsWith('#')) return suffix;
  const shared = endOfSharedFolders(fromPath, toPath);
  let up = '';
  for (let at = fromPath.indexOf('/', shared); at !== -1; at = fromPath.indexOf('/', at + 1)) up += '../';
  const down = encodePath(toPath.slice(shared));
  if (up === '' && down === '') return `./${suffix}`;
  // Without `./`, browsers would read `a:b` as an address with a scheme, and `//` as the start of a host.
  const isMistakable = up === '' && (down.startsWith('/') || (down.split('/', 1)[0] ?? '').includes(':'));
  return `${isMistakable ? './' : ''}${up}${down}${suffix}`;
}

function endOfSharedFolders(fromPath: string, toPath: string): number {
  let end = 0;
  for (let at = 0; at < fromPath.length && fromPath.charCodeAt(at) === toPath.charCodeAt(at); at++) {
    if (fromPath[at] === '/') end = at + 1;
  }
  return end;
}
