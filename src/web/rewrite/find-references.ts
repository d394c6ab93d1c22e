import type { Reference } from '../references.ts';
import { filesOfGenerators } from './generators/index.ts';
import { DocumentFacts, readDocument, readFeed } from './markup/read-document.ts';
import { mayHoldUrls, readCss } from './read-css.ts';
import { readManifest } from './read-json.ts';
import { readFileScript, readScript } from './read-script.ts';
import { type FoundReferences, ReferenceList, Region } from './reference.ts';
import { type SourceType, unitsOf } from './source-text.ts';
import { CSS } from './write.ts';

export interface ReferringFile {
  readonly type: SourceType;
  readonly bytes: Uint8Array;
  /**
   * Path at which the file is served, if known. Needed to resolve addresses in Vite's modules, which are relative to a parent
   * folder of the file.
   */
  readonly path?: string;
}

/** Finds the addresses in a file. If the file is invalid, finds only some of its addresses, but throws no error. */
export function findReferences(file: ReferringFile, units = unitsOf(file.bytes)): FoundReferences {
  const list = new ReferenceList(file.path ?? null);
  const page = new DocumentFacts();
  const region = new Region(units);
  let payloads: readonly string[] = [];
  switch (file.type) {
    case 'html':
    case 'xml':
      readDocument(region, list, page, file.type === 'xml');
      if (file.type === 'html' && file.path !== undefined)
        payloads = filesOfGenerators('page', { text: units, path: file.path, named: [] });
      break;
    case 'feed':
      readFeed(region, list);
      break;
    case 'css':
      readCss(new Region(units, CSS), list);
      break;
    case 'script':
      readScript(region, list);
      readFileScript(region, list);
      break;
    case 'manifest':
      readManifest(region, list);
      break;
  }
  const { base, importMaps, robots } = page;
  return { references: list.references, base, importMaps, robots, payloads };
}

const NAMES_NO_FILE = /^(?:$|#|data:)/i;

export function styleReferences(file: ReferringFile): Reference[] {
  const units = unitsOf(file.bytes);
  if (!mayHoldUrls(units)) return [];
  const references: Reference[] = [];
  for (const { kind, url, writing } of findReferences(file, units).references) {
    if ((writing & CSS) === 0 || NAMES_NO_FILE.test(url)) continue;
    references.push({ kind: 'asset', tag: 'style', attribute: kind === 'style' ? '@import' : 'url', url });
  }
  return references;
}
