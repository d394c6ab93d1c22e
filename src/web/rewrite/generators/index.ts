import { addressesWith, folderOf, type GeneratorSource, indexedStemOf, stemOf } from './addresses.ts';
import { buildManifestChunks, chunksInPayload, payloadFiles, segmentFiles } from './next.ts';
import {
  belowRoot,
  branchFiles,
  materialFiles,
  pagefindFilesOfEntry,
  pagefindFilesOfMeta,
  rustdocFiles,
  searchParts,
  treeParts,
} from './search.ts';
import { viteDependencies, vitePressFiles, webpackFiles } from './webpack.ts';

/** Chunks, payloads and search indexes that generators' scripts load. The crawl requests them and never rewrites them. */

type GeneratorPlace = 'script' | 'page script' | 'meta' | 'page' | 'file';

interface Generator {
  readonly name: string;
  readonly in: GeneratorPlace;
  readonly mark: string | RegExp;
  readonly files: (source: GeneratorSource) => Iterable<string>;
}

/** One row per shape of a generator's output. Texts of other shapes name no files. */
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
  // The index covers the whole site, and its script is in `assets/js/`.
  {
    name: "Docusaurus' local search",
    in: 'script',
    mark: 'search-index{dir}.json',
    files: ({ path }) => [`${path.slice(0, path.lastIndexOf('/assets/js/') + 1)}search-index.json`],
  },

  { name: 'Material for MkDocs', in: 'page script', mark: '"search"', files: materialFiles },
  {
    name: 'MkDocs with its own themes',
    in: 'page script',
    mark: 'base_url',
    files: belowRoot(/\bbase_url\s*=\s*["']([^"'\\]*)["']/, () =>
      ['worker.js', 'lunr.js', 'search_index.json'].map((file) => `search/${file}`),
    ),
  },
  {
    // From 0.5 on, the name has a digest and the page contains it.
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
    name: 'HonKit, and GitBook as it once was',
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

/** Files that no page names, relative to the site's folder. The second belongs to Nextra. */
export const UNNAMED_FILES: readonly string[] = ['pagefind/pagefind-entry.json', '_pagefind/pagefind-entry.json'];

/** Occurs in every mark of a page, and in few pages. */
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
