import { jsonOf, membersOf } from '../../../domain/shape.ts';
import { addressesWith, folderOf, type GeneratorSource, indexedStemOf, stemOf } from './addresses.ts';
import { viteDependencies, vitePressFiles, webpackFiles } from './webpack.ts';

const NEXT_STATIC = '/_next/static/';
const NEXT_CHUNKS = 'static/chunks/';
/**
 * Relative path from the folder of `/_next/static/<build>/_buildManifest.js` to `/_next/`, because the names in this file are
 * relative to `/_next/`.
 */
const BUILD_MANIFEST_TO_ROOT = '../../';
const HEAD_URLS_MAX = 100;

function rootOf({ text, named }: GeneratorSource): string {
  const known =
    named.slice(0, HEAD_URLS_MAX).find(({ url }) => url.includes(NEXT_STATIC))?.url ??
    addressesWith(text, NEXT_STATIC).next().value;
  const at = known?.indexOf(NEXT_STATIC) ?? -1;
  return known === undefined || at === -1 ? '/_next/' : `${known.slice(0, at)}/_next/`;
}

const chunksInPayload = (source: GeneratorSource): string[] => chunksIn(source.text, rootOf(source));

const buildManifestChunks = ({ text }: GeneratorSource): string[] =>
  text.includes('__next_f') ? [] : chunksIn(text, BUILD_MANIFEST_TO_ROOT);

function chunksIn(text: string, root: string): string[] {
  const below = [...addressesWith(text, NEXT_CHUNKS)].filter((address) => address.startsWith(NEXT_CHUNKS));
  return [...addressesWith(text, NEXT_STATIC), ...below.map((address) => root + address)];
}

function payloadFiles({ path }: GeneratorSource): string[] {
  const whole = path.endsWith('/') ? `${path}index.txt` : `${stemOf(path)}.txt`;
  return [whole, ...['_tree', '_full', '_head', '_index'].map((name) => `${folderOf(path)}__next.${name}.txt`)];
}

const TREE_BYTES_MAX = 256 * 1024;

function segmentFiles({ text }: GeneratorSource): string[] {
  if (text.length > TREE_BYTES_MAX) return [];
  return segmentsOf(Buffer.from(text, 'latin1').toString('utf8')).map((name) => `./__next.${encodeURI(name)}.txt`);
}

const NODES_MAX = 500;
const PLAIN = /^[\w@-]+$/;

/**
 * Names of the files into which Next.js 16 splits the data of a page, one per route segment, such as `!KGVuKQ.$c$slug.__PAGE__`.
 * @param tree lines `<id>:<JSON>`, in which `"$Q<id>"` refers to another line
 */
export function segmentsOf(tree: string): string[] {
  const rows = new Map<string, unknown>();
  for (const line of tree.split('\n')) {
    const [, id, json] = /^([0-9a-f]+):([[{].*)$/.exec(line) ?? [];
    if (id === undefined || json === undefined) continue;
    const row = jsonOf(json);
    if (row === undefined) return [];
    rows.set(id, row);
  }
  const root = (rows.get('0') as { t?: { t?: unknown } } | undefined)?.t?.t;
  const names: string[] = [];
  walk(root, '', rows, names);
  return names;
}

function walk(node: unknown, above: string, rows: ReadonlyMap<string, unknown>, names: string[]): void {
  const children = (node as { c?: unknown } | null | undefined)?.c;
  const id = typeof children === 'string' ? /^\$Q([0-9a-f]+)$/.exec(children)?.[1] : undefined;
  const entries = id === undefined ? undefined : rows.get(id);
  if (!Array.isArray(entries)) return;
  for (const [slot, child] of entries as [unknown, { s?: unknown }][]) {
    if (names.length >= NODES_MAX) return;
    const name = nameOf(child?.s);
    if (name === null) continue;
    const own = slot === 'children' ? name : `@${String(slot)}.${name}`;
    const path = above === '' ? own : `${above}.${own}`;
    names.push(path);
    walk(child, path, rows, names);
  }
}

function nameOf(segment: unknown): string | null {
  if (typeof segment === 'string') return encode(segment);
  const { n, t } = (segment ?? {}) as { n?: unknown; t?: unknown };
  return typeof n === 'string' && typeof t === 'string' ? `$${t}$${encode(n)}` : null;
}

const encode = (text: string): string =>
  PLAIN.test(text) ? text : `!${Buffer.from(text, 'utf8').toString('base64url')}`;

/** Files of Pagefind 1.5 and 1.6. `pagefind-entry.json` lists a `.pf_meta` file per language, which lists index and fragments. */

const MARK = 'pagefind_dcd';
const NAME = /^[\w-]{1,100}$/;
const DEPTH_MAX = 16;

const OWN_FILES =
  'pagefind.js pagefind-worker.js wasm.unknown.pagefind pagefind-highlight.js pagefind-ui.js pagefind-ui.css'.split(
    ' ',
  );

export function pagefindFilesOfEntry({ text: entry }: Pick<GeneratorSource, 'text'>): string[] {
  const { languages: listed } = membersOf<{ languages: unknown }>(entry);
  if (typeof listed !== 'object' || listed === null) return [];
  const languages = Object.values(listed as Record<string, { hash?: unknown; wasm?: unknown } | null>);
  const metas = languages.flatMap((language) => named(language?.hash).map((hash) => `pagefind.${hash}.pf_meta`));
  const programs = languages.flatMap((language) => named(language?.wasm).map((wasm) => `wasm.${wasm}.pagefind`));
  return [...OWN_FILES, ...metas, ...programs];
}

/**
 * Files that Pagefind's `.pf_meta` file lists, relative to its folder.
 * @param source decompressed file: the text `pagefind_dcd`, then CBOR
 */
export function pagefindFilesOfMeta({ text: meta }: Pick<GeneratorSource, 'text'>): string[] {
  if (!meta.startsWith(MARK)) return [];
  try {
    const [, pages, chunks, filters] = readCbor(Buffer.from(meta, 'latin1'), MARK.length) as unknown[];
    return [
      ...rowsOf(pages).flatMap(([hash]) => named(hash).map((name) => `fragment/${name}.pf_fragment`)),
      ...rowsOf(chunks).flatMap((row) => named(row.at(-1)).map((name) => `index/${name}.pf_index`)),
      ...rowsOf(filters).flatMap((row) => named(row.at(-1)).map((name) => `filter/${name}.pf_filter`)),
    ];
  } catch {
    return [];
  }
}

const rowsOf = (value: unknown): unknown[][] =>
  Array.isArray(value) ? value.filter((row): row is unknown[] => Array.isArray(row)) : [];

const named = (value: unknown): string[] => (typeof value === 'string' && NAME.test(value) ? [value] : []);

/** Reads the types of CBOR (RFC 8949) that Pagefind's index uses: integers, strings, arrays, floats and simple values. */
function readCbor(bytes: Buffer, start: number): unknown {
  let at = start;
  const readCount = (info: number): number => {
    if (info < 24) return info;
    if (info > 26) throw new RangeError('a large number');
    const size = 2 ** (info - 24);
    at += size;
    return bytes.readUIntBE(at - size, size);
  };
  const read = (depth: number): unknown => {
    if (depth > DEPTH_MAX) throw new RangeError('too deep');
    const head = bytes.readUInt8(at++);
    const [major, info] = [head >> 5, head & 31];
    if (major === 7) {
      at += info < 24 ? 0 : 2 ** (info - 24);
      return null;
    }
    const isOpen = info === 31;
    const count = isOpen ? Number.POSITIVE_INFINITY : readCount(info);
    if (major === 0) return count;
    if (major === 1) return -1 - count;
    if ((major === 2 || major === 3) && !isOpen) {
      at += count;
      return bytes.toString('utf8', at - count, at);
    }
    if (major !== 4) throw new RangeError('another type');
    const items: unknown[] = [];
    while (items.length < count) {
      if (isOpen && bytes.readUInt8(at) === 0xff) {
        at += 1;
        break;
      }
      items.push(read(depth + 1));
    }
    return items;
  };
  return read(0);
}

const SECTIONS = /\bindexSectionsWithContent\s*=\s*\{([^}]*)\}/;
const SECTION_NAMES = /\bindexSectionNames\s*=\s*\{([^}]*)\}/;
const ENTRY = /(\d+)\s*:\s*"((?:[^"\\]|\\.)*)"/g;
const NAVIGATION = /\bNAVTREEINDEX\s*=\s*\[([^\]]*)\]/;
const BRANCH = /\[\s*(?:"(?:[^"\\]|\\.)*"|null)\s*,\s*(?:"[^"]*"|null)\s*,\s*"([\w.-]+)"\s*\]/g;
const SECTION_NAME = /^\w+$/;
const FILES_MAX = 5_000;

/** Files of Doxygen's search index, which is split by section and letter. `searchdata.js` lists the letters of each section. */
function searchParts({ text: script }: GeneratorSource): string[] {
  const names = new Map(entriesIn(script, SECTION_NAMES));
  const files = entriesIn(script, SECTIONS).flatMap(([section, letters]) => {
    const name = names.get(section) ?? '';
    if (!SECTION_NAME.test(name)) return [];
    const parts = Array.from({ length: Math.min(letters.length, FILES_MAX) }, (_, at) => `${name}_${at.toString(16)}`);
    // Before Doxygen 1.9.2, the script of a search section is loaded by an HTML file with the same name, so add both files.
    return parts.flatMap((part) => [`${part}.js`, `${part}.html`]);
  });
  return files.slice(0, FILES_MAX);
}

function entriesIn(script: string, table: RegExp): (readonly [key: string, value: string])[] {
  const rows = table.exec(script)?.[1] ?? '';
  return Array.from(rows.matchAll(ENTRY), ([, key = '', value = '']) => [key, value.replace(/\\(.)/g, '$1')] as const);
}

function treeParts(source: GeneratorSource): string[] {
  const count = NAVIGATION.exec(source.text)?.[1]?.match(/"[^"]*"/g)?.length ?? 0;
  const parts = Array.from({ length: Math.min(count, FILES_MAX) }, (_, at) => `navtreeindex${at}.js`);
  return [...parts, ...branchFiles(source)].slice(0, FILES_MAX);
}

const branchFiles = ({ text }: GeneratorSource): string[] =>
  Array.from(text.matchAll(BRANCH), ([, name]) => `${name}.js`).slice(0, FILES_MAX);

const ROOT = /^(?:[.]{0,2}\/)*[\w./-]{0,100}$/;

function rustdocFiles({ attribute: value = () => null }: GeneratorSource): string[] {
  const [root, fixed] = [value('data-root-path'), value('data-static-root-path')];
  if (root === null || fixed === null) return [];
  const named = ['data-search-js', 'data-settings-js', 'data-stringdex-js'].flatMap((name) => value(name) ?? []);
  const suffix = value('data-resource-suffix') ?? '';
  return [
    ...named.map((name) => fixed + name),
    `${root}search-index${suffix}.js`,
    `${root}search.index/root${suffix}.js`,
  ];
}

function belowRoot(root: RegExp, namesOf: (script: string) => readonly string[]) {
  return ({ text: script }: GeneratorSource): readonly string[] => {
    const way = root.exec(script)?.[1];
    if (way === undefined || !ROOT.test(way)) return [];
    const folder = way === '' || way.endsWith('/') ? way : `${way}/`;
    return namesOf(script).map((name) => folder + name);
  };
}

function materialFiles({ text: script }: GeneratorSource): readonly string[] {
  if (!script.includes('"base"')) return [];
  const { base, search } = membersOf<{ base: unknown; search: unknown }>(script);
  if (typeof base !== 'string' || typeof search !== 'string' || !ROOT.test(base)) return [];
  return [search, `${base}/search/search_index.json`];
}

type GeneratorPlace = 'script' | 'page script' | 'meta' | 'page' | 'file';

interface Generator {
  readonly name: string;
  readonly in: GeneratorPlace;
  readonly mark: string | RegExp;
  readonly files: (source: GeneratorSource) => Iterable<string>;
}

/**
 * Rules to find files that pages load although no markup contains their addresses. Each row is one generator's output format. The
 * crawl never rewrites these addresses.
 */
const GENERATORS: readonly Generator[] = [
  { name: 'Next.js, app router', in: 'script', mark: '__next_f', files: chunksInPayload },
  { name: 'Next.js, pages router', in: 'script', mark: '__BUILD_MANIFEST', files: buildManifestChunks },
  { name: 'Vite', in: 'script', mark: '__vite__mapDeps', files: viteDependencies },
  { name: 'Gatsby', in: 'script', mark: '___chunkMapping', files: routeFiles },
  { name: 'Remix', in: 'script', mark: '__remixManifest', files: routeFiles },
  { name: 'React Router', in: 'script', mark: '__reactRouterManifest', files: routeFiles },
  { name: 'VitePress', in: 'script', mark: '__VP_HASH_MAP__', files: vitePressFiles },
  { name: 'webpack, Rspack', in: 'script', mark: /\.(?:u|k|miniCssF)\s*=|\.p\s*\+/, files: webpackFiles },
  { name: 'Doxygen, search', in: 'script', mark: 'indexSectionsWithContent', files: searchParts },
  { name: 'Doxygen, tree', in: 'script', mark: 'NAVTREEINDEX', files: treeParts },
  { name: 'Doxygen, branch', in: 'script', mark: /^\s*var \w+ =\s*\[\s*\[/, files: branchFiles },
  // Docusaurus' script is in `assets/js/`, and its search index in the folder that contains `assets`.
  {
    name: "Docusaurus' local search",
    in: 'script',
    mark: 'search-index{dir}.json',
    files: ({ path }) => [`${path.slice(0, path.lastIndexOf('/assets/js/') + 1)}search-index.json`],
  },

  { name: 'Material for MkDocs', in: 'page script', mark: '"search"', files: materialFiles },
  {
    name: 'MkDocs with a built-in theme',
    in: 'page script',
    mark: 'base_url',
    files: belowRoot(/\bbase_url\s*=\s*["']([^"'\\]*)["']/, () =>
      ['worker.js', 'lunr.js', 'search_index.json'].map((file) => `search/${file}`),
    ),
  },
  {
    // From mdBook 0.5 on, the file name of the search index contains a digest, and the page contains this file name.
    name: 'mdBook',
    in: 'page script',
    mark: 'path_to_root',
    files: belowRoot(/\bpath_to_root\s*=\s*["']([^"'\\]*)["']/, (script) => [
      /\bpath_to_searchindex_js\s*=\s*["']([\w.-]+)["']/.exec(script)?.[1] ?? 'searchindex.js',
      'searchindex.json',
    ]),
  },
  {
    name: 'Javadoc, from JDK 9 on',
    in: 'page script',
    mark: 'pathtoroot',
    files: belowRoot(/\bpathtoroot\s*=\s*["']([^"'\\]*)["']/, () =>
      ['module', 'package', 'type', 'member', 'tag'].map((file) => `${file}-search-index.js`),
    ),
  },
  {
    name: 'HonKit and legacy GitBook',
    in: 'page script',
    mark: 'gitbook.page.hasChanged',
    files: belowRoot(/"basePath":"([^"\\]*)"/, () => ['search_index.json']),
  },
  { name: 'rustdoc', in: 'meta', mark: /^rustdoc-vars$/, files: rustdocFiles },

  { name: 'Next.js, app router', in: 'page', mark: 'self.__next_f', files: payloadFiles },
  {
    name: 'Next.js, pages router',
    in: 'page',
    mark: '__NEXT_DATA__',
    files: ({ text, path }) => {
      const buildId = /"buildId":"([\w-]{1,64})"/.exec(text)?.[1];
      return buildId === undefined ? [] : [`/_next/data/${buildId}${indexedStemOf(path)}.json`];
    },
  },
  { name: 'Nuxt', in: 'page', mark: '__NUXT', files: ({ path }) => [`${folderOf(path)}_payload.json`] },
  { name: 'SvelteKit', in: 'page', mark: '__sveltekit_', files: ({ path }) => [`${folderOf(path)}__data.json`] },
  {
    name: 'React Router and Remix with single fetch',
    in: 'page',
    mark: '__reactRouterContext',
    files: ({ path }) => [stemOf(path) === '/' ? '/_root.data' : `${stemOf(path)}.data`],
  },
  {
    name: 'Gatsby',
    in: 'page',
    mark: '___gatsby',
    files: ({ path }) => ['/page-data/app-data.json', `/page-data${indexedStemOf(path)}/page-data.json`],
  },

  { name: 'Next.js, from 16 on', in: 'file', mark: /\/__next\._tree\.txt$/, files: segmentFiles },
  { name: 'Pagefind', in: 'file', mark: /\/pagefind-entry\.json$/, files: pagefindFilesOfEntry },
  { name: 'Pagefind', in: 'file', mark: /\/pagefind\.[\w-]+\.pf_meta$/, files: pagefindFilesOfMeta },
];

/** Search index files to request although no page contains their addresses. The second is from Nextra. */
export const UNNAMED_FILES: readonly string[] = ['pagefind/pagefind-entry.json', '_pagefind/pagefind-entry.json'];

/** Part of the `mark` of each rule for pages. docshelf quickly skips pages that do not contain this text. */
const IN_PAGE_MARKS = '__';
const PAGE_SCRIPT_CHARS_MAX = 32 * 1024;

export function filesOfGenerators(place: GeneratorPlace, source: GeneratorSource): string[] {
  const { text, path } = source;
  if (place === 'page' && !text.includes(IN_PAGE_MARKS)) return [];
  if (place === 'page script' && text.length > PAGE_SCRIPT_CHARS_MAX) return [];
  const searched = place === 'file' ? path : text;
  const rows = GENERATORS.filter((row) => row.in === place && isIn(searched, row.mark));
  return rows.flatMap((row) => [...row.files(source)]);
}

export const isGeneratorFile = (path: string): boolean =>
  GENERATORS.some((row) => row.in === 'file' && isIn(path, row.mark));

export const isIn = (text: string, mark: string | RegExp): boolean =>
  typeof mark === 'string' ? text.includes(mark) : mark.test(text);

const ROUTE_FILE = /^\/.*\.(?:js|css)$/;

function routeFiles({ text }: GeneratorSource): string[] {
  return ['.js', '.css'].flatMap((part) => [...addressesWith(text, part)].filter((each) => ROUTE_FILE.test(each)));
}
