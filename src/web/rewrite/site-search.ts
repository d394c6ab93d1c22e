/**
 * Files of a static site's own search: the scripts of its generator put their addresses together while they run, mostly once a
 * reader searches, so that neither markup nor a browser that opens the page names them. Each is known by what its
 * generator writes into the pages. What is not there is missed by nobody.
 */
interface Shape {
  /** Stands in the scripts of such a page. */
  readonly mark: string;
  /** Addresses as the page sees them. */
  readonly filesOf: (script: string) => readonly string[];
}

/** A way to the root of the site, as pages write it down: `../..`, `./`, `/docs/`, or nothing. */
const ROOT = /^(?:[.]{0,2}\/)*[\w./-]{0,100}$/;

const SHAPES: readonly Shape[] = [
  { mark: '"search"', filesOf: materialFiles },
  {
    // MkDocs with its own themes.
    mark: 'base_url',
    filesOf: belowRoot(/\bbase_url\s*=\s*["']([^"'\\]*)["']/, () =>
      ['worker.js', 'lunr.js', 'search_index.json'].map((name) => `search/${name}`),
    ),
  },
  {
    // mdBook; from 0.5 on the name has a digest, and the page says it.
    mark: 'path_to_root',
    filesOf: belowRoot(/\bpath_to_root\s*=\s*["']([^"'\\]*)["']/, (script) => [
      /\bpath_to_searchindex_js\s*=\s*["']([\w.-]+)["']/.exec(script)?.[1] ?? 'searchindex.js',
      'searchindex.json',
    ]),
  },
  {
    // Javadoc, from JDK 9 on.
    mark: 'pathtoroot',
    filesOf: belowRoot(/\bpathtoroot\s*=\s*["']([^"'\\]*)["']/, () =>
      ['module', 'package', 'type', 'member', 'tag'].map((name) => `${name}-search-index.js`),
    ),
  },
  {
    // HonKit, and GitBook as it once was.
    mark: 'gitbook.page.hasChanged',
    filesOf: belowRoot(/"basePath":"([^"\\]*)"/, () => ['search_index.json']),
  },
];

/** Such a script sets a few things; a longer one is the page once more. */
const SCRIPT_CHARS_MAX = 32 * 1024;

/** What the search of the site that a script in a page belongs to asks for. */
export function siteSearchFiles(script: string): string[] {
  if (script.length > SCRIPT_CHARS_MAX) return [];
  return SHAPES.flatMap(({ mark, filesOf }) => (script.includes(mark) ? filesOf(script) : []));
}

/** Rustdoc's, which a `meta` of its pages names by attributes. @param value of such an attribute, or null */
export function rustdocFiles(value: (attribute: string) => string | null): string[] {
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

function belowRoot(root: RegExp, namesOf: (script: string) => readonly string[]): Shape['filesOf'] {
  return (script) => {
    const way = root.exec(script)?.[1];
    if (way === undefined || !ROOT.test(way)) return [];
    const folder = way === '' || way.endsWith('/') ? way : `${way}/`;
    return namesOf(script).map((name) => folder + name);
  };
}

/** Material for MkDocs: settings in JSON, with the address of the search's worker and the way to the root. */
function materialFiles(script: string): readonly string[] {
  if (!script.includes('"base"')) return [];
  try {
    const { base, search } = JSON.parse(script) as { readonly base?: unknown; readonly search?: unknown };
    if (typeof base !== 'string' || typeof search !== 'string' || !ROOT.test(base)) return [];
    return [search, `${base}/search/search_index.json`];
  } catch {
    return [];
  }
}
