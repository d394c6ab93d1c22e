import type { Reference } from './references.ts';
import { findReferences, type ReferringFile, textOf } from './rewrite/find-references.ts';
import { mayHoldUrls } from './rewrite/read-css.ts';
import { referencesOf } from './rewrite/reference.ts';
import { CSS } from './rewrite/write.ts';

const NAMES_NO_FILE = /^(?:$|#|data:)/i;

/** Of a sheet, a page, SVG's attributes: in order, escapes decoded. */
export function styleReferences(file: ReferringFile): Reference[] {
  const text = textOf(file);
  if (!mayHoldUrls(text.units)) return [];
  const references: Reference[] = [];
  for (const { kind, url, writing } of referencesOf(findReferences(file, text))) {
    if ((writing & CSS) === 0 || NAMES_NO_FILE.test(url)) continue;
    references.push({ kind: 'asset', tag: 'style', attribute: kind === 'style' ? '@import' : 'url', url });
  }
  return references;
}
