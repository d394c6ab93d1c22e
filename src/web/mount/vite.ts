import type { Edit } from '../rewrite/write.ts';
import { leadsIntoSite, type MountSource, rebaseMatches } from './edits.ts';

/** Vite makes addresses of chunks and styles below its `base`: ``function(e){return`/`+e}``. */
const PRELOAD =
  /\bfunction\(?[\w$\s]*\([\w$]+\)\s*\{\s*return\s*["'`](?<url>\/[\w./~-]*)["'`]\s*\+\s*[\w$]+\s*;?\s*\}/dg;

export function viteBase(source: MountSource): Iterable<Edit> {
  return rebaseMatches(PRELOAD, source);
}

const SITE_DATA = '__VP_SITE_DATA__=';
const SITE_BASE = /\\?"base\\?":\\?"(?<url>\/[^"\\]*)\\?"/dg;
/** Language, title and description come before it. */
const NEAR_CHARS = 4_000;

/**
 * VitePress' site data. Its themes add `base` to all that they are given, which stays; sidebars have some of their own,
 * behind the site's.
 */
export function* vitePressBase({ text, site }: MountSource): Generator<Edit> {
  const at = text.indexOf(SITE_DATA);
  const [first] = rebaseMatches(SITE_BASE, { text: text.slice(at, at + NEAR_CHARS), site });
  if (first !== undefined) yield { ...first, start: first.start + at, end: first.end + at };
}

/** The chunk of a page: ``t=`/assets/${t}.${e}.js` ``. */
const PAGE_CHUNK = /(?<=["'`])(?<url>\/[\w./~-]*?assets\/)(?:\$\{[\w$]+\}|["'`]\s*\+)/dg;
/** The page's name, from the address behind `base`: ``.slice(1).replace(/\//g,`_`)||`index` ``. */
const PAGE_NAME = /\.slice\((?<length>\d+)\)\s*\.replace\(\/\\\/\/g,\s*["'`]_["'`]\)\s*\|\|\s*["'`]index["'`]/dg;

export function* vitePressRouter(source: MountSource): Generator<Edit> {
  yield* rebaseMatches(PAGE_CHUNK, source);
  const { from, to } = source.site;
  for (const { groups, indices } of source.text.matchAll(PAGE_NAME)) {
    const [start, end] = indices?.groups?.length ?? [0, 0];
    if (groups?.length === String(from.length)) yield { start, end, text: String(to.length) };
  }
}

/** Of a page's script: addresses in its static HTML, and of links and pictures that Vue makes. */
const STATIC_HTML = /(?<=<[a-z][^<>]{0,400}\s(?:href|src|poster|data)=\\?["'])(?<url>\/(?!\/)[^"'<>\\\s]*)/dg;
const MADE =
  /["'`](?:a|img|video|source|iframe)["'`],\s*\{[^{}]{0,400}?\b(?:href|src|poster):\s*["'`](?<url>\/(?!\/)[^"'`]*)["'`]/dg;

export function* vitePressPage(source: MountSource): Generator<Edit> {
  yield* rebaseMatches(STATIC_HTML, source);
  yield* rebaseMatches(MADE, source);
}

/** Starlight's search: ``baseUrl:`/`,bundlePath:`/`.replace(…)+`/pagefind/` ``. */
const PAGEFIND = /\b(?:baseUrl|bundlePath)["']?:\s*["'`](?<url>\/[\w./~-]*)["'`]/dg;

export function pagefindOptions(source: MountSource): Iterable<Edit> {
  return rebaseMatches(PAGEFIND, source);
}

/** Starlight's choice of languages goes to the option's value. */
const OPTION = /<option\b[^<>]*?\svalue=["']?(?<url>\/(?!\/)[^"'<>\s]*)/dg;

export function starlightLanguages(source: MountSource): Iterable<Edit> {
  return rebaseMatches(OPTION, source, (url) => leadsIntoSite(url, source.site));
}
