import { isIn } from '../rewrite/generators/index.ts';
import type { Edit } from '../rewrite/write.ts';
import { leadsIntoSite, type MountSource, rebaseMatches } from './edits.ts';
import { nextFolders, nextPagePayload, nextPayload, nextRuntime } from './next.ts';

export type GeneratorPlace = 'page' | 'script' | 'payload' | 'data' | 'other';

interface MountRow {
  readonly generator: string;
  readonly in: readonly GeneratorPlace[];
  readonly mark: string | RegExp;
  readonly unless?: RegExp;
  /** True if the generator's scripts complete the remaining addresses. */
  readonly completes?: true;
  edits(source: MountSource): Iterable<Edit>;
}

const SINK_MARK = /\(\s*["'`]\/|=\s*["'`]\/|["']\s*,\s*["'`]\//;

const ROWS: readonly MountRow[] = [
  {
    generator: 'Next.js, app router',
    in: ['script'],
    mark: /addPathPrefix|pathHasPrefix|removeBasePath/,
    edits: nextRuntime,
  },
  { generator: 'Next.js', in: ['script'], mark: '/_next/', edits: nextFolders },
  { generator: 'Next.js, app router', in: ['page'], mark: 'self.__next_f', completes: true, edits: nextPagePayload },
  { generator: 'Next.js, app router', in: ['payload'], mark: /^(?:[0-9a-f]+:|:HL\[)/, edits: nextPayload },
  { generator: 'Vite', in: ['script'], mark: 'preload', edits: (source) => rebaseMatches(PRELOAD, source) },
  { generator: 'VitePress', in: ['script', 'page'], mark: '__VP_SITE_DATA__=', completes: true, edits: vitePressBase },
  { generator: 'VitePress', in: ['script'], mark: '__VP_HASH_MAP__[', edits: vitePressRouter },
  { generator: 'VitePress', in: ['script'], mark: /\b__pageData\b/, completes: true, edits: vitePressPage },
  {
    generator: 'Starlight',
    in: ['script'],
    mark: /\bbundlePath\b/,
    edits: (source) => rebaseMatches(PAGEFIND, source),
  },
  {
    generator: 'Starlight',
    in: ['page'],
    mark: '<starlight-lang-select',
    edits: (source) => rebaseMatches(OPTION, source, (url) => leadsIntoSite(url, source.site)),
  },
  {
    generator: 'webpack, Rspack',
    in: ['script'],
    mark: /\.p\s*=\s*"\//,
    edits: (source) => rebaseMatches(PUBLIC_PATH, source),
  },
  {
    generator: 'Docusaurus',
    in: ['script'],
    mark: /webpackChunk\w*docusaurus|\bdocusaurus\b/,
    completes: true,
    edits: docusaurusData,
  },
  // VitePress passes these to its themes, which add `base`.
  { generator: 'any', in: ['script'], mark: /["'`]\//, unless: /\b__pageData\b|__VP_SITE_DATA__/, edits: fileLiterals },
  { generator: 'any', in: ['page'], mark: /<script/i, edits: inScripts(fileLiterals) },
  { generator: 'any', in: ['script'], mark: SINK_MARK, edits: sinks },
  { generator: 'any', in: ['page'], mark: SINK_MARK, edits: inScripts(sinks) },
];

export function editsOfGenerators(place: GeneratorPlace, source: MountSource): Edit[] {
  const { text } = source;
  return ROWS.filter(
    (row) => row.in.includes(place) && isIn(text, row.mark) && row.unless?.test(text) !== true,
  ).flatMap((row) => [...row.edits(source)]);
}

export function isCovered(text: string): boolean {
  return ROWS.some(({ completes, mark }) => completes === true && isIn(text, mark));
}

/** Webpack's public path, `n.p="/"`. */
const PUBLIC_PATH = /\b[\w$]+\.p\s*=\s*"(?<url>\/[^"\\]*)"/dg;

/** Docusaurus adds `baseUrl` to links at run time, but not to routes, sidebars and page metadata. */
const ROUTE = /\bpath:"(?<url>\/[^"\\]*)",component:/dg;
const DATA =
  /(?<=[{,])\\?"?(?:baseUrl|permalink|href|path|allTagsPath|tagsPath|blogBasePath|authorsListPath)\\?"?:\s*\\?"(?<url>\/(?!\/)[^"\\]*)\\?"(?!,url:)/dg;

function* docusaurusData(source: MountSource): Generator<Edit> {
  yield* rebaseMatches(ROUTE, source);
  yield* rebaseMatches(DATA, source);
}

/** Vite resolves chunks and styles below its `base`: ``function(e){return`/`+e}``. */
const PRELOAD =
  /\bfunction\(?[\w$\s]*\([\w$]+\)\s*\{\s*return\s*["'`](?<url>\/[\w./~-]*)["'`]\s*\+\s*[\w$]+\s*;?\s*\}/dg;

const SITE_DATA = '__VP_SITE_DATA__=';
const SITE_BASE = /\\?"base\\?":\\?"(?<url>\/[^"\\]*)\\?"/dg;
/** Characters for language, title and description before it. */
const NEAR_CHARS = 4_000;

/** VitePress' themes add `base` to all site data, which stays. Sidebars carry it themselves. */
function* vitePressBase({ text, site }: MountSource): Generator<Edit> {
  const at = text.indexOf(SITE_DATA);
  const [first] = rebaseMatches(SITE_BASE, { text: text.slice(at, at + NEAR_CHARS), site });
  if (first !== undefined) yield { ...first, start: first.start + at, end: first.end + at };
}

/** The chunk of a page: ``t=`/assets/${t}.${e}.js` ``. */
const PAGE_CHUNK = /(?<=["'`])(?<url>\/[\w./~-]*?assets\/)(?:\$\{[\w$]+\}|["'`]\s*\+)/dg;
/** The page's name, from the address after `base`: ``.slice(1).replace(/\//g,`_`)||`index` ``. */
const PAGE_NAME = /\.slice\((?<length>\d+)\)\s*\.replace\(\/\\\/\/g,\s*["'`]_["'`]\)\s*\|\|\s*["'`]index["'`]/dg;

function* vitePressRouter(source: MountSource): Generator<Edit> {
  yield* rebaseMatches(PAGE_CHUNK, source);
  const { from, to } = source.site;
  for (const { groups, indices } of source.text.matchAll(PAGE_NAME)) {
    const [start, end] = indices?.groups?.length ?? [0, 0];
    if (groups?.length === String(from.length)) yield { start, end, text: String(to.length) };
  }
}

/** Addresses in static HTML, and in links and pictures that Vue creates. */
const STATIC_HTML = /(?<=<[a-z][^<>]{0,400}\s(?:href|src|poster|data)=\\?["'])(?<url>\/(?!\/)[^"'<>\\\s]*)/dg;
const VUE_ELEMENT =
  /["'`](?:a|img|video|source|iframe)["'`],\s*\{[^{}]{0,400}?\b(?:href|src|poster):\s*["'`](?<url>\/(?!\/)[^"'`]*)["'`]/dg;

function* vitePressPage(source: MountSource): Generator<Edit> {
  yield* rebaseMatches(STATIC_HTML, source);
  yield* rebaseMatches(VUE_ELEMENT, source);
}

/** Starlight's search: ``baseUrl:`/`,bundlePath:`/`.replace(…)+`/pagefind/` ``. */
const PAGEFIND = /\b(?:baseUrl|bundlePath)["']?:\s*["'`](?<url>\/[\w./~-]*)["'`]/dg;

/** Starlight's language menu opens the option's value. */
const OPTION = /<option\b[^<>]*?\svalue=["']?(?<url>\/(?!\/)[^"'<>\s]*)/dg;

const LITERAL =
  /(?<!(?:\.(?:endsWith|startsWith|includes|indexOf|lastIndexOf|replace|replaceAll|split|match)\(|[=!]==?)\s*\\?["'`])(?<=(?<quote>\\?["'`]))(?<url>\/[\w.~%@+-][\w.~%@+/-]{0,200}\.\w{2,11}(?:[?#][\w=&.%-]{0,100})?)(?=\k<quote>)/dg;

function fileLiterals(source: MountSource): Iterable<Edit> {
  return rebaseMatches(LITERAL, source, (url) => leadsIntoSite(url, source.site));
}

const SINK =
  /(?:\b(?:fetch|importScripts|Worker|Audio|open|location\.(?:assign|replace))\s*\(|\.open\s*\(\s*["'](?:GET|HEAD)["']\s*,|\.(?:src|href)\s*=|\blocation\s*=)\s*["'`](?<url>\/(?![/\\*])[^"'`\s<>]{0,300})/dg;

function sinks(source: MountSource): Iterable<Edit> {
  return rebaseMatches(SINK, source);
}

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

/** Leaves out the code that a page shows. */
function inScripts(edits: (source: MountSource) => Iterable<Edit>) {
  return function* (source: MountSource): Generator<Edit> {
    for (const [start, end] of scriptSpans(source.text)) {
      for (const edit of edits({ ...source, text: source.text.slice(start, end) })) {
        yield { ...edit, start: edit.start + start, end: edit.end + start };
      }
    }
  };
}
