import type { Reference } from './references.ts';
import { findReferences, type SourceFile } from './rewrite/find-references.ts';
import { mayHoldUrls } from './rewrite/read-css.ts';
import { referencesOf } from './rewrite/reference.ts';
import { CSS } from './rewrite/write.ts';

/** Nothing, a part of the page itself (`url(#gradient)`), or what the address itself holds. */
const NAMES_NO_FILE = /^(?:$|#|data:)/i;

/**
 * What styles load: the addresses of a style sheet, or of a page's `style` elements and attributes and of what has the syntax
 * of styles in SVG. In the order of the file; as written, escapes decoded.
 */
export function styleReferences(file: SourceFile): Reference[] {
  // ASCII in every encoding but UTF-16, whose style sheets are rare and read all the same.
  const text = Buffer.from(file.bytes.buffer, file.bytes.byteOffset, file.bytes.byteLength).toString('latin1');
  if (!mayHoldUrls(text) && !text.includes('\0')) return [];
  const references: Reference[] = [];
  for (const { kind, url, writing } of referencesOf(findReferences(file))) {
    if ((writing & CSS) === 0 || NAMES_NO_FILE.test(url)) continue;
    references.push({ kind: 'asset', tag: 'style', attribute: kind === 'style' ? '@import' : 'url', url });
  }
  return references;
}
