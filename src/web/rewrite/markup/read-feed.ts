import type { ReferenceList } from '../reference-list.ts';
import type { Region } from '../region.ts';
import { decodedRegion } from './mapped-text.ts';
import { END, INSTRUCTION, MarkupScanner, START_TAG } from './scanner.ts';
import { readInstruction } from './xml-stylesheet.ts';

/** The tiles of a site, which a `meta` names. */
const TILES = 'browserconfig';

/**
 * Reads XML that is no page: of a feed the style sheet that shows it to readers; its addresses are absolute, and for those
 * who take it elsewhere. Of the tiles of a site, their pictures.
 */
export function readFeed(region: Region, list: ReferenceList): void {
  const scanner = new MarkupScanner(region.text, true);
  let isTiles = false;
  for (let token = scanner.next(); token !== END; token = scanner.next()) {
    if (token === INSTRUCTION) readInstruction(region, scanner.contentStart, scanner.contentEnd, list);
    if (token !== START_TAG) continue;
    isTiles ||= scanner.tagName === TILES;
    // Instructions about the whole stand before its root.
    if (!isTiles) return;
    const index = scanner.indexOfAttribute('src');
    if (index === -1) continue;
    const value = decodedRegion(region, scanner.valueStart(index), scanner.valueEnd(index), true, 0);
    list.add('asset', value, 0, value.text.length, value.text);
  }
}
