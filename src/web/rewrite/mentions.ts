import { filesOfGenerators } from './generators/index.ts';
import type { ReferenceList } from './reference-list.ts';
import type { Region } from './region.ts';

/** Addresses in the data and the code of generators, whose shape is known. */
export function readMentions({ text }: Region, list: ReferenceList, place: 'script' | 'page script'): void {
  const source = { text, path: list.filePath ?? '', named: list.urls };
  for (const file of filesOfGenerators(place, source)) list.mention(file);
}

/** A whole string that begins like an address seen from the page, or is all that a call is given, and ends like data. */
const DATA =
  /(?:(?<=["'`])\.{1,2}\/|(?<=\(["'`]))[\w~%@+-][\w.~%@+/-]{0,200}\.(?:json|geojson|csv|tsv|ya?ml|cast|wasm)(?=["'`])/g;
/** A script that shows data is short; a longer one is the page itself once more, with all its examples. */
const DATA_SCRIPT_CHARS_MAX = 32 * 1024;

/** Data that a script in a page hands to whatever draws them: a chart, a map, a recording. */
export function readDataLiterals({ text }: Region, list: ReferenceList): void {
  if (text.length > DATA_SCRIPT_CHARS_MAX || text.includes('__next_f')) return;
  for (const [address] of text.matchAll(DATA)) list.mention(address);
}

/** A whole string that ends like a file that scripts load. */
const LITERAL =
  /(?<=["'`])\/[\w.~%@+-][\w.~%@+/-]{0,200}\.(?:json|m?js|css|wasm|png|jpe?g|gif|svg|webp|avif|ico|mp4|webm|mp3|woff2?)(?:\?[\w=&.%-]{1,60})?(?=\\*["'`])/g;
const LITERALS_MAX = 2_000;

/**
 * Addresses from the root of the site that are strings of a script: the search index that a component is given, the picture
 * that one draws. It may be that of an example, too: what is not there is missed by nobody.
 */
export function readLiterals({ text }: Region, list: ReferenceList): void {
  let count = 0;
  for (const [address] of text.matchAll(LITERAL)) {
    if (count >= LITERALS_MAX) return;
    list.mention(address);
    count += 1;
  }
}
