import { doxygenFiles } from './doxygen-files.ts';
import type { ReferenceList } from './reference-list.ts';
import type { Region } from './region.ts';
import { vitePressChunks } from './vitepress-chunks.ts';
import { webpackChunks } from './webpack-chunks.ts';

/**
 * Addresses in the data and the code of frameworks, where the shape of the data is known: parts of a site that its scripts
 * load when a reader goes on, and that no markup names. They are there to be fetched; nothing is written, because such
 * data count their own bytes, and because what they name is resolved by the framework, from the root of the site.
 */
export function readMentions(region: Region, list: ReferenceList): void {
  const { text } = region;
  if (text.includes('__next_f')) mentionNextChunks(text, nextRoot(text, list), list);
  else if (text.includes('__BUILD_MANIFEST')) mentionNextChunks(text, BUILD_MANIFEST_TO_ROOT, list);
  if (text.includes('__vite__mapDeps')) mentionViteDependencies(text, list);
  if (ROUTE_TABLES.some((name) => text.includes(name))) mentionRoutes(text, list);
  // One file of the site may name all pages; where each page does, that would be too much of it.
  for (const file of vitePressChunks(text, list.filePath?.endsWith('.js') === true)) list.mention(file);
  mentionWebpackChunks(text, list);
  for (const file of doxygenFiles(text)) list.mention(file);
  // The index of Docusaurus' local search, one for each part of a site; the first is that of all.
  if (text.includes('search-index{dir}.json')) list.mention(besideAssets('search-index.json', list));
}

const NEXT_STATIC = '/_next/static/';
const NEXT_CHUNKS = 'static/chunks/';
/** `/_next/static/<build>/_buildManifest.js` names files below `/_next/`. */
const BUILD_MANIFEST_TO_ROOT = '../../';
/** What ends an address in script text, escaped quotes among it. */
const DELIMITERS = new Set('"\'`\\ \t\n\r,()<>{};|');
const HAS_EXTENSION = /\.[a-z0-9]+(?:\?[\w=&.%-]*)?$/i;

/** Each address that a known part stands in. */
function* addressesWith(text: string, part: string): Generator<string> {
  let end = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, end)) {
    let start = at;
    while (start > end && !DELIMITERS.has(text[start - 1] ?? '')) start--;
    end = at + part.length;
    while (end < text.length && !DELIMITERS.has(text[end] ?? '')) end++;
    const address = text.slice(start, end);
    if (HAS_EXTENSION.test(address)) yield address;
  }
}

/** A page names its first chunks in its head. */
const HEAD_URLS_MAX = 100;

/** Where Next.js keeps its files, with the site's base path or the host of its assets before it, as the page has them. */
function nextRoot(text: string, list: ReferenceList): string {
  const named = list.urls.slice(0, HEAD_URLS_MAX).find((url) => url.includes(NEXT_STATIC));
  const known = named ?? addressesWith(text, NEXT_STATIC).next().value;
  const at = known?.indexOf(NEXT_STATIC) ?? -1;
  return known === undefined || at === -1 ? '/_next/' : `${known.slice(0, at)}/_next/`;
}

function mentionNextChunks(text: string, root: string, list: ReferenceList): void {
  for (const address of addressesWith(text, NEXT_STATIC)) list.mention(address);
  for (const address of addressesWith(text, NEXT_CHUNKS)) {
    if (address.startsWith(NEXT_CHUNKS)) list.mention(root + address);
  }
}

/** Vite's list of what a lazily loaded module needs, from the folder that the site was built for, which is above this file's. */
function mentionViteDependencies(text: string, list: ReferenceList): void {
  const mark = 'm.f=';
  const start = text.indexOf(mark, text.indexOf('__vite__mapDeps')) + mark.length;
  const end = text.indexOf(']', start) + 1;
  if (start < mark.length || end === 0) return;
  for (const dependency of stringsOf(text.slice(start, end))) {
    list.mention(
      dependency.startsWith('.') || dependency.startsWith('/') ? dependency : fromBuildRoot(dependency, list),
    );
  }
}

function mentionWebpackChunks(text: string, list: ReferenceList): void {
  const { publicPath, names } = webpackChunks(text);
  for (const name of names) list.mention(publicPath === '' ? fromBuildRoot(name, list) : (publicPath ?? './') + name);
}

function fromBuildRoot(dependency: string, list: ReferenceList): string {
  const folder = `/${dependency.slice(0, dependency.indexOf('/') + 1)}`;
  const own = list.filePath ?? '';
  const at = folder === '/' ? -1 : own.lastIndexOf(folder);
  return at === -1 ? `/${dependency}` : own.slice(0, at + 1) + dependency;
}

/** A file in the folder that the site was built for, where this one is in its `assets/js/`. */
function besideAssets(name: string, { filePath }: ReferenceList): string {
  const own = filePath ?? '';
  return own.slice(0, own.lastIndexOf('/assets/js/') + 1) + name;
}

function stringsOf(json: string): string[] {
  try {
    const parsed: unknown = JSON.parse(json);
    return Array.isArray(parsed) ? parsed.filter((entry) => typeof entry === 'string') : [];
  } catch {
    return [];
  }
}

/** Gatsby's and Remix's tables of what each route loads, by addresses from the root. */
const ROUTE_TABLES = ['___chunkMapping', '__remixManifest', '__reactRouterManifest'];
const ROUTE_FILE = /\.(?:js|css)$/;

function mentionRoutes(text: string, list: ReferenceList): void {
  for (const part of ['.js', '.css']) {
    for (const address of addressesWith(text, part)) {
      if (address.startsWith('/') && ROUTE_FILE.test(address)) list.mention(address);
    }
  }
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
