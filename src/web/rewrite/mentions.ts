import { filesOfGenerators } from './generators/index.ts';
import type { ReferenceList } from './reference-list.ts';
import type { Region } from './region.ts';

export function readMentions({ text }: Region, list: ReferenceList, place: 'script' | 'page script'): void {
  const source = { text, path: list.filePath ?? '', named: list.urls };
  for (const file of filesOfGenerators(place, source)) list.mention(file);
}

/** A whole string that begins like an address, or is all that a call is given, and ends like data. */
const DATA =
  /(?:(?<=["'`])\.{1,2}\/|(?<=\(["'`]))[\w~%@+-][\w.~%@+/-]{0,200}\.(?:json|geojson|csv|tsv|ya?ml|cast|wasm)(?=["'`])/g;
/** A longer script is the page itself once more, with all its examples. */
const DATA_SCRIPT_CHARS_MAX = 32 * 1024;

export function readDataLiterals({ text }: Region, list: ReferenceList): void {
  if (text.length > DATA_SCRIPT_CHARS_MAX || text.includes('__next_f')) return;
  for (const [address] of text.matchAll(DATA)) list.mention(address);
}

const LITERAL =
  /(?<=["'`])\/[\w.~%@+-][\w.~%@+/-]{0,200}\.(?:json|m?js|css|wasm|png|jpe?g|gif|svg|webp|avif|ico|mp4|webm|mp3|woff2?)(?:\?[\w=&.%-]{1,60})?(?=\\*["'`])/g;
const LITERALS_MAX = 2_000;

/** Addresses from the root: a search index, a picture. Nobody misses an example's. */
export function readLiterals({ text }: Region, list: ReferenceList): void {
  for (const [address] of text.matchAll(LITERAL).take(LITERALS_MAX)) list.mention(address);
}
