import { charsetInMarkup, charsetOfType, markedCharset } from '../charset.ts';
import { isUtf16, sourceText } from '../rewrite/source-text.ts';
import { type Edit, spliceBytes } from '../rewrite/write.ts';
import { ENGLISH, languageOf } from '../words/index.ts';
import { findPlaces } from './find-places.ts';
import type { PageAdditions } from './page-additions.ts';

/** The same object where nothing is added: in parts of pages, and in UTF-16. @param mediaType with its charset */
export function addToPage(bytes: Uint8Array, mediaType: string, { head, body }: PageAdditions): Uint8Array {
  const { units, charset } = sourceText(
    bytes,
    (text) => markedCharset(bytes) ?? charsetOfType(mediaType) ?? charsetInMarkup(text) ?? 'utf-8',
  );
  if (isUtf16(charset)) return bytes;
  const places = findPlaces(units, body.length > 0);
  if (places === null) return bytes;
  const edits: Edit[] = [];
  const add = (at: number | null, pieces: readonly string[]): void => {
    if (at !== null && pieces.length > 0) edits.push({ start: at, end: at, text: pieces.join('') });
  };
  const { tag } = languageOf(places.language) ?? ENGLISH;
  add(
    places.head,
    head.map((piece) => (typeof piece === 'string' ? piece : (piece[tag] ?? ''))),
  );
  add(places.body, body);
  return edits.length === 0 ? bytes : spliceBytes(bytes, edits, charset);
}
