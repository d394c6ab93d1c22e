import { type FoundReference, type FoundReferences, referencesOf } from './reference.ts';
import { isUtf16 } from './source-text.ts';

/** What a replacement needs where it is written; the low bits count the layers in which `&` must be `&amp;`. */
export const AMP_LAYERS = 0b1111;
/** An attribute without quotes: an empty text needs some. */
export const UNQUOTED = 1 << 4;
/** In CSS, where parentheses would end an address. */
export const CSS = 1 << 5;
/** In a list, where commas may divide. */
export const LIST = 1 << 6;
/** A module specifier, which is bare unless it begins with a dot or a slash. */
export const SPECIFIER = 1 << 7;
/** No address: digests. */
export const LITERAL = 1 << 8;

export interface Edit {
  /** In bytes (of a text: in its units). */
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** What no address may hold in any syntax that one is written into; `%` stays, being written on purpose. */
const UNSAFE = /[^\w!#$%&()*+,./:;=?@~[\]-]/gu;
const PARENTHESES_AND_BRACKETS = /[()[\]]/g;

function percentEncode(text: string): string {
  return Array.from(Buffer.from(text, 'utf8'), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(
    '',
  );
}

/** An address as it is written at a reference: ASCII that ends neither the string, the attribute nor the list around it. */
export function writtenUrl(url: string, writing: number): string {
  let text = url;
  if ((writing & LITERAL) === 0) {
    text = text.replace(UNSAFE, percentEncode);
    if ((writing & CSS) !== 0) text = text.replace(PARENTHESES_AND_BRACKETS, percentEncode);
    if ((writing & LIST) !== 0) text = text.replaceAll(',', '%2C');
    if ((writing & SPECIFIER) !== 0 && !/^(?:\.{0,2}\/|[a-z][a-z0-9+.-]*:)/i.test(text)) text = `./${text}`;
  }
  const layers = writing & AMP_LAYERS;
  // The quotes belong to the innermost attribute, and are written in those around it.
  return text === '' && (writing & UNQUOTED) !== 0 ? escaped('""', layers - 1) : escaped(text, layers);
}

function escaped(text: string, layers: number): string {
  let written = text;
  for (let layer = 0; layer < layers; layer++) written = written.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  return written;
}

/** The text with the edits made, which must not overlap; nothing else changes. */
export function splice(text: string, edits: readonly Edit[]): string {
  let spliced = '';
  let copied = 0;
  for (const edit of inOrder(edits)) {
    spliced += text.slice(copied, edit.start) + edit.text;
    copied = edit.end;
  }
  return spliced + text.slice(copied);
}

/** `splice` for a file. The edits' text is ASCII; in UTF-16 it is written as that. */
export function spliceBytes(bytes: Uint8Array, edits: readonly Edit[], charset: string): Uint8Array {
  const parts: Uint8Array[] = [];
  let copied = 0;
  for (const edit of inOrder(edits)) {
    parts.push(bytes.subarray(copied, edit.start), encode(edit.text, charset));
    copied = edit.end;
  }
  parts.push(bytes.subarray(copied));
  return Buffer.concat(parts);
}

function encode(text: string, charset: string): Buffer {
  if (!isUtf16(charset)) return Buffer.from(text, 'latin1');
  const encoded = Buffer.from(text, 'utf16le');
  return charset === 'utf-16be' ? encoded.swap16() : encoded;
}

function inOrder(edits: readonly Edit[]): readonly Edit[] {
  const isOrdered = edits.every(({ start }, at) => at === 0 || start >= (edits[at - 1]?.end ?? 0));
  return isOrdered ? edits : edits.toSorted((a, b) => a.start - b.start);
}

/** What a reference becomes: an address (or a digest, for `integrity`), percent-encoded or not, or null to leave it. */
export type Replace = (reference: FoundReference) => string | null;

/**
 * The file with its references replaced; every other byte is as it was. It reads nothing anew, so what was found may have
 * been kept anywhere in between.
 */
export function rewriteFile(
  bytes: Uint8Array,
  found: FoundReferences,
  replace: Replace,
): { readonly bytes: Uint8Array; readonly changed: number } {
  const edits: Edit[] = [];
  for (const reference of referencesOf(found)) {
    if (reference.kind === 'mention') continue;
    const url = replace(reference);
    if (url === null) continue;
    edits.push({ start: reference.start, end: reference.end, text: writtenUrl(url, reference.writing) });
  }
  return edits.length === 0
    ? { bytes, changed: 0 }
    : { bytes: spliceBytes(bytes, edits, found.charset), changed: edits.length };
}
