import { isIn } from '../rewrite/generators/index.ts';
import { endOfString } from '../rewrite/read-json.ts';
import { ESCAPES } from '../rewrite/read-script.ts';
import { unitsOfText } from '../rewrite/source-text.ts';
import type { Edit } from '../rewrite/write.ts';
import { type MountKind, rebase } from './base-path.ts';
import { leadsIntoSite, type MountedSite, type MountSource, rebaseMatches } from './edits.ts';

/**
 * The following patterns are for the scripts of Next.js 15 and 16 (app router). They match paths of its files, and calls of the functions
 * that add `basePath` to addresses.
 */

const FOLDER = /(?<=["'`])(?<url>\/(?:[\w.~-]+\/)*_next\/[^"'`\\\s]*)(?=\\?["'`])/dg;

/** Matches Next.js's calls with the base path as second argument, such as `addPathPrefix)(e,"")`. */
const PREFIX = /\b(?:addPathPrefix|pathHasPrefix)\)?\(\s*[\w$]+\s*,\s*"(?<base>[^"]*)"/dg;
const REMOVER = /"removeBasePath"/g;
/**
 * Matches a function that returns its argument, as `removeBasePath` does in a build without base path. docshelf makes it
 * remove the new base path.
 */
const IDENTITY = /function [\w$]+\(([\w$]+)\)\{(?<body>return \1)\}/dg;
const SLICE = /\.slice\((?<length>\d+)\)/dg;
const REMOVER_CHARS = 400;
/**
 * Matches code that builds the address of a page's data, `PAGE.txt`. Without a change, the start page's data would be outside
 * of the base path.
 */
const PAYLOAD_NAME = /(?<url>[\w$]+)\.pathname\+="index\.txt":\k<url>\.pathname\+=(?<name>"\.txt")/dg;

function* nextRuntime({ text, site }: MountSource): Generator<Edit> {
  const [from, to] = [site.from.slice(0, -1), site.to.slice(0, -1)];
  for (const { groups, indices } of text.matchAll(PREFIX)) {
    const [start, end] = indices?.groups?.base ?? [0, 0];
    if (groups?.base === from) yield { start, end, text: to };
  }
  for (const { groups, indices } of to === '' ? [] : text.matchAll(PAYLOAD_NAME)) {
    const [start, end] = indices?.groups?.name ?? [0, 0];
    yield { start, end, text: `${groups?.url}.pathname===${JSON.stringify(to)}?"/index.txt":".txt"` };
  }
  for (const { index } of text.matchAll(REMOVER)) {
    const first = Math.max(0, index - REMOVER_CHARS / 2);
    const near = text.slice(first, index + REMOVER_CHARS);
    const edit = from === '' ? removerOf(near, to.length) : slicerOf(near, from.length, to.length);
    if (edit !== null) yield { ...edit, start: edit.start + first, end: edit.end + first };
  }
}

function removerOf(near: string, length: number): Edit | null {
  const match = [...near.matchAll(IDENTITY)].at(0);
  const span = match?.indices?.groups?.body;
  if (match === undefined || span === undefined) return null;
  const name = match[1] ?? '';
  const text = `return ${name}=${name}.slice(${length}),${name}.startsWith("/")?${name}:"/"+${name}`;
  return { start: span[0], end: span[1], text };
}

function slicerOf(near: string, from: number, to: number): Edit | null {
  const match = [...near.matchAll(SLICE)].find(({ groups }) => groups?.length === String(from));
  const span = match?.indices?.groups?.length;
  return span === undefined ? null : { start: span[0], end: span[1], text: String(to) };
}

interface Payload {
  readonly text: string;
  /**
   * Position in the file of each UTF-16 code unit of `text`, and of the end of `text`. Null if positions in `text` and in the
   * file are equal.
   */
  readonly places: readonly number[] | null;
}

const nextPayload = ({ text, site }: MountSource): Edit[] => editsOfPayload({ text, places: null }, site);

const PUSH = 'self.__next_f.push([1,"';

function nextPagePayload({ text, site }: MountSource): Edit[] {
  let payload = '';
  const places: number[] = [];
  let at = text.indexOf(PUSH);
  for (; at !== -1; at = text.indexOf(PUSH, at)) {
    at += PUSH.length;
    while (at < text.length && text[at] !== '"') {
      const [units, length] = text[at] === '\\' ? unescaped(text, at) : [text[at] ?? '', 1];
      for (let unit = 0; unit < units.length; unit++) places.push(at);
      payload += units;
      at += length;
    }
  }
  places.push(text.length);
  return editsOfPayload({ text: payload, places }, site);
}

function unescaped(text: string, at: number): readonly [units: string, length: number] {
  const letter = text[at + 1] ?? '';
  if (letter !== 'u') return [ESCAPES[letter] ?? letter, 2];
  const code = Number.parseInt(text.slice(at + 2, at + 6), 16);
  return [unitsOfText(String.fromCharCode(code)), 6];
}

const ROW = /(?<id>[0-9a-f]*):(?:T(?<bytes>[0-9a-f]+),)?/y;

/**
 * Edits the rows of Next.js's page data, `<id>:<model>\n`. Skips rows `<id>:T<bytes>,<text>`, because they state their length
 * in bytes.
 */
function editsOfPayload({ text, places }: Payload, site: MountedSite): Edit[] {
  const edits: Edit[] = [];
  for (let at = 0; at < text.length; ) {
    ROW.lastIndex = at;
    const row = ROW.exec(text);
    if (row === null) break;
    at = ROW.lastIndex;
    const bytes = row.groups?.bytes;
    if (bytes !== undefined) {
      at += Number.parseInt(bytes, 16);
      continue;
    }
    const newline = text.indexOf('\n', at);
    const end = newline === -1 ? text.length : newline;
    for (const place of addressesOfModel(text, at, end, site)) {
      const last = place + site.from.length - 1;
      const [start, stop] = places === null ? [place, last] : [places[place] ?? 0, places[last] ?? 0];
      edits.push({ start, end: stop + 1, text: site.to });
    }
    at = end + 1;
  }
  return edits;
}

const URL_PROPS = new Set('href src srcSet poster action formAction data imageSrcSet xlinkHref'.split(' '));
const ELEMENT = /^[a-z]/;
const FILE = /\.\w{2,11}(?:[?#]|$)/;

interface Open {
  readonly isArray: boolean;
  index: number;
  isElement: boolean;
  tag: string;
  key: string;
}

const DEPTH_MAX = 2_000;

/** Finds the positions of addresses in a row of Next.js's page data. The row is JSON, except for a few letters at its start. */
function* addressesOfModel(text: string, start: number, end: number, site: MountedSite): Generator<number> {
  const open: Open[] = [];
  let awaitsKey = false;
  for (let at = start; at < end; at++) {
    const character = text[at];
    const top = open.at(-1);
    if (character === '[' || character === '{') {
      if (open.length === DEPTH_MAX) return;
      open.push({ isArray: character === '[', index: 0, isElement: false, tag: '', key: '' });
      awaitsKey = character === '{';
    } else if (character === ']' || character === '}') {
      open.pop();
      awaitsKey = false;
    } else if (character === ',' && top !== undefined) {
      top.index += 1;
      awaitsKey = !top.isArray;
    } else if (character === '"') {
      const close = endOfString(text, at + 1);
      const value = text.slice(at + 1, close);
      if (awaitsKey && top !== undefined) {
        top.key = value;
        awaitsKey = false;
      } else {
        if (top?.isArray && top.index === 0) top.isElement = value === '$';
        else if (top?.isElement && top.index === 1) top.tag = value;
        if (value.startsWith('/') && isAddress(value, open, site)) yield at + 1;
      }
      at = close;
    }
  }
}

function isAddress(value: string, open: readonly Open[], site: MountedSite): boolean {
  if (!value.startsWith(site.from) || rebase(value, site) === null) return false;
  if (value.startsWith(`${site.from}_next/`)) return true;
  const [props, element] = [open.at(-1), open.at(-2)];
  const isOfElement = element?.isElement === true && element.index === 3 && ELEMENT.test(element.tag);
  if (isOfElement && props !== undefined && URL_PROPS.has(props.key)) return true;
  return FILE.test(value) && leadsIntoSite(value, site);
}

type FindEdits = (source: MountSource) => Iterable<Edit>;

const allOf =
  (...patterns: readonly RegExp[]): FindEdits =>
  (source) =>
    patterns.flatMap((pattern) => [...rebaseMatches(pattern, source)]);

/** Edits only addresses of files and pages that the site has, because other texts that look like an address may be data. */
const existingOf =
  (pattern: RegExp): FindEdits =>
  (source) =>
    rebaseMatches(pattern, source, (url) => leadsIntoSite(url, source.site));

/** Matches webpack's public path, such as `n.p="/"`. */
const PUBLIC_PATH = /\b[\w$]+\.p\s*=\s*"(?<url>\/[^"\\]*)"/dg;

/** Match the addresses in routes, sidebars and page metadata of Docusaurus. At run time, Docusaurus adds `baseUrl` only to links. */
const ROUTE = /\bpath:"(?<url>\/[^"\\]*)",component:/dg;
const DATA =
  /(?<=[{,])\\?"?(?:baseUrl|permalink|href|path|allTagsPath|tagsPath|blogBasePath|authorsListPath)\\?"?:\s*\\?"(?<url>\/(?!\/)[^"\\]*)\\?"(?!,url:)/dg;

/** Matches Vite's function that adds `base` to the addresses of chunks and styles: ``function(e){return`/`+e}``. */
const PRELOAD =
  /\bfunction\(?[\w$\s]*\([\w$]+\)\s*\{\s*return\s*["'`](?<url>\/[\w./~-]*)["'`]\s*\+\s*[\w$]+\s*;?\s*\}/dg;

const SITE_DATA = '__VP_SITE_DATA__=';
const SITE_BASE = /\\?"base\\?":\\?"(?<url>\/[^"\\]*)\\?"/dg;
/** Length of the start of VitePress's site data to search for `base`. Language, title and description come before `base`. */
const NEAR_CHARS = 4_000;

/**
 * Changes only the first `base` of VitePress's site data. VitePress's themes add this `base` to the other addresses, and a
 * later `base` belongs to a sidebar.
 */
function* vitePressBase({ text, site }: MountSource): Generator<Edit> {
  const at = text.indexOf(SITE_DATA);
  const [first] = rebaseMatches(SITE_BASE, { text: text.slice(at, at + NEAR_CHARS), site });
  if (first !== undefined) yield { ...first, start: first.start + at, end: first.end + at };
}

/** Matches code that builds the address of a page's chunk: ``t=`/assets/${t}.${e}.js` ``. */
const PAGE_CHUNK = /(?<=["'`])(?<url>\/[\w./~-]*?assets\/)(?:\$\{[\w$]+\}|["'`]\s*\+)/dg;
/** Matches code that builds a page's name from the address after `base`: ``.slice(1).replace(/\//g,`_`)||`index` ``. */
const PAGE_NAME = /\.slice\((?<length>\d+)\)\s*\.replace\(\/\\\/\/g,\s*["'`]_["'`]\)\s*\|\|\s*["'`]index["'`]/dg;

function* vitePressRouter(source: MountSource): Generator<Edit> {
  yield* rebaseMatches(PAGE_CHUNK, source);
  const { from, to } = source.site;
  for (const { groups, indices } of source.text.matchAll(PAGE_NAME)) {
    const [start, end] = indices?.groups?.length ?? [0, 0];
    if (groups?.length === String(from.length)) yield { start, end, text: String(to.length) };
  }
}

/** Match addresses in VitePress's static HTML, and in links and pictures that Vue creates. */
const STATIC_HTML = /(?<=<[a-z][^<>]{0,400}\s(?:href|src|poster|data)=\\?["'])(?<url>\/(?!\/)[^"'<>\\\s]*)/dg;
const VUE_ELEMENT =
  /["'`](?:a|img|video|source|iframe)["'`],\s*\{[^{}]{0,400}?\b(?:href|src|poster):\s*["'`](?<url>\/(?!\/)[^"'`]*)["'`]/dg;

/** Matches addresses in the options of Starlight's search: ``baseUrl:`/`,bundlePath:`/`.replace(…)+`/pagefind/` ``. */
const PAGEFIND = /\b(?:baseUrl|bundlePath)["']?:\s*["'`](?<url>\/[\w./~-]*)["'`]/dg;

/** Matches an item of Starlight's language menu, which opens the address in `value`. */
const OPTION = /<option\b[^<>]*?\svalue=["']?(?<url>\/(?!\/)[^"'<>\s]*)/dg;

/** Matches a string literal with the address of a file. Skips quotes inside another string, such as the code sample `"'/a.png'"`. */
const LITERAL =
  /(?<!(?:\.(?:endsWith|startsWith|includes|indexOf|lastIndexOf|replace|replaceAll|split|match)\(|[=!]==?|["'`])\s*\\?["'`])(?<=(?<quote>\\?["'`]))(?<url>\/[\w.~%@+-][\w.~%@+/-]{0,200}\.\w{2,11}(?:[?#][\w=&.%-]{0,100})?)(?=\k<quote>)/dg;

const SINK =
  /(?:\b(?:fetch|importScripts|Worker|Audio|open|location\.(?:assign|replace))\s*\(|\.open\s*\(\s*["'](?:GET|HEAD)["']\s*,|\.(?:src|href)\s*=|\blocation\s*=)\s*["'`](?<url>\/(?![/\\*])[^"'`\s<>]{0,300})/dg;

const SINK_MARK = /\(\s*["'`]\/|=\s*["'`]\/|["']\s*,\s*["'`]\//;

function* scriptSpans(html: string): Generator<readonly [start: number, end: number]> {
  const opening = /<script\b[^<>]*>/gi;
  const closing = /<\/script/gi;
  for (let match = opening.exec(html); match !== null; match = opening.exec(html)) {
    closing.lastIndex = opening.lastIndex;
    const end = closing.exec(html)?.index;
    if (end === undefined) return;
    yield [opening.lastIndex, end];
    opening.lastIndex = end;
  }
}

export const inlineScripts = (html: string): string[] => Array.from(scriptSpans(html), (span) => html.slice(...span));

/** Edits only the scripts of a page, not the code that the page shows. */
function inScripts(edits: FindEdits): FindEdits {
  return function* (source) {
    for (const [start, end] of scriptSpans(source.text)) {
      for (const edit of edits({ ...source, text: source.text.slice(start, end) }))
        yield { ...edit, start: edit.start + start, end: edit.end + start };
    }
  };
}

interface MountRow {
  readonly generator: string;
  readonly in: readonly MountKind[];
  readonly mark: string | RegExp;
  readonly unless?: RegExp;
  /** True if no other edits are necessary: at run time, the generator's scripts add the base path to all other addresses. */
  readonly completes?: true;
  readonly edits: FindEdits;
}

const ROWS: readonly MountRow[] = [
  {
    generator: 'Next.js, app router',
    in: ['script'],
    mark: /addPathPrefix|pathHasPrefix|removeBasePath/,
    edits: nextRuntime,
  },
  { generator: 'Next.js', in: ['script'], mark: '/_next/', edits: allOf(FOLDER) },
  { generator: 'Next.js, app router', in: ['html'], mark: 'self.__next_f', completes: true, edits: nextPagePayload },
  { generator: 'Next.js, app router', in: ['payload'], mark: /^(?:[0-9a-f]+:|:HL\[)/, edits: nextPayload },
  { generator: 'Vite', in: ['script'], mark: 'preload', edits: allOf(PRELOAD) },
  { generator: 'VitePress', in: ['script', 'html'], mark: SITE_DATA, completes: true, edits: vitePressBase },
  { generator: 'VitePress', in: ['script'], mark: '__VP_HASH_MAP__[', edits: vitePressRouter },
  {
    generator: 'VitePress',
    in: ['script'],
    mark: /\b__pageData\b/,
    completes: true,
    edits: allOf(STATIC_HTML, VUE_ELEMENT),
  },
  { generator: 'Starlight', in: ['script'], mark: /\bbundlePath\b/, edits: allOf(PAGEFIND) },
  { generator: 'Starlight', in: ['html'], mark: '<starlight-lang-select', edits: existingOf(OPTION) },
  { generator: 'webpack, Rspack', in: ['script'], mark: /\.p\s*=\s*"\//, edits: allOf(PUBLIC_PATH) },
  {
    generator: 'Docusaurus',
    in: ['script'],
    mark: /webpackChunk\w*docusaurus|\bdocusaurus\b/,
    completes: true,
    edits: allOf(ROUTE, DATA),
  },
  // Do not edit string literals in the scripts of VitePress, because its themes add `base` to these literals.
  {
    generator: 'any',
    in: ['script'],
    mark: /["'`]\//,
    unless: /\b__pageData\b|__VP_SITE_DATA__/,
    edits: existingOf(LITERAL),
  },
  { generator: 'any', in: ['html'], mark: /<script/i, edits: inScripts(existingOf(LITERAL)) },
  { generator: 'any', in: ['script'], mark: SINK_MARK, edits: allOf(SINK) },
  { generator: 'any', in: ['html'], mark: SINK_MARK, edits: inScripts(allOf(SINK)) },
];

export function editsOfGenerators(kind: MountKind, source: MountSource): Edit[] {
  const { text } = source;
  return ROWS.filter((row) => row.in.includes(kind) && isIn(text, row.mark) && row.unless?.test(text) !== true).flatMap(
    (row) => [...row.edits(source)],
  );
}

export const isCovered = (text: string): boolean =>
  ROWS.some(({ completes, mark }) => completes === true && isIn(text, mark));
