import type { ReferenceList } from '../reference-list.ts';
import type { Region } from '../region.ts';
import { decodedRegion } from './mapped-text.ts';
import { MarkupScanner } from './scanner.ts';

/** A feed's style sheet alone, as its addresses are absolute on purpose; pictures of a site's tiles (`browserconfig`). */
export function readFeed(region: Region, list: ReferenceList): void {
  const scanner = new MarkupScanner(region.text, true);
  let isTiles = false;
  scanner.read({
    onInstruction: (start, end) => readInstruction(region, start, end, list),
    onStartTag: () => {
      isTiles ||= scanner.tagName === 'browserconfig';
      // Instructions about the whole stand before its root.
      if (isTiles) addAttribute('src', 'asset', scanner, region, list);
      else scanner.skipAll();
    },
  });
}

/** Reads the inside of `<?xml-stylesheet href="…"?>` (Associating Style Sheets with XML documents 1.0). */
export function readInstruction(region: Region, start: number, end: number, list: ReferenceList): void {
  if (!region.text.startsWith('xml-stylesheet', start)) return;
  const scanner = new MarkupScanner(`<${region.text.slice(start, end)}>`, true);
  // The place before it holds its question mark.
  const inside = region.slice(start - 1, end);
  scanner.read({
    onStartTag: () => {
      const type = scanner.indexOfAttribute('type');
      const isXsl = type !== -1 && !/css/i.test(scanner.text.slice(scanner.valueStart(type), scanner.valueEnd(type)));
      addAttribute('href', isXsl ? 'asset' : 'style', scanner, inside, list);
      scanner.skipAll();
    },
  });
}

function addAttribute(
  name: string,
  kind: 'asset' | 'style',
  scanner: MarkupScanner,
  region: Region,
  list: ReferenceList,
) {
  const index = scanner.indexOfAttribute(name);
  if (index === -1) return;
  const value = decodedRegion(region, scanner.valueStart(index), scanner.valueEnd(index), true, 0);
  list.add(kind, value, 0, value.text.length, value.text);
}
