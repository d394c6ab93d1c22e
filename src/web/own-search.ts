import { isPage } from '../domain/release.ts';

export interface BundledSearch {
  readonly kind: string;
  /** `hosted` means that the search needs an external service, and `no-index` that the bundle lacks the index file of the search. */
  readonly state: 'works' | 'hosted' | 'no-index';
  readonly needs: string;
  readonly boxes: string;
  readonly head: string;
}

/** Number of pages to search for a search box. A few pages suffice, because all pages of a site share their header. */
const PAGES_READ = 5;
/** Matches the name of each script and index file in `OWN_SEARCH_KINDS`, to quickly skip most other files. */
const NAMED_FOR_SEARCH = /search|pagefind|lunr|nextra/i;

/** Finds a bundle's built-in searches by the names of all files and the text of some pages. */
export class BundledSearchSurvey {
  readonly #step: number;
  readonly #pages = new Set<string>();
  readonly #found = new Set<RegExp>();
  #count = 0;

  constructor(pages: number) {
    this.#step = Math.max(1, Math.ceil(pages / PAGES_READ));
  }

  add(path: string): void {
    if (isPage(path)) {
      if (path === 'index.html' || this.#count % this.#step === 0) this.#pages.add(path);
      this.#count += 1;
    } else if (NAMED_FOR_SEARCH.test(path)) {
      for (const { script, index } of OWN_SEARCH_KINDS)
        for (const name of [script, index?.file]) if (name?.test(path)) this.#found.add(name);
    }
  }

  get pages(): readonly string[] {
    return [...this.#pages];
  }

  judge(texts: Iterable<string>): BundledSearch[] {
    const boxes = new Map<OwnSearchKind, Set<string>>();
    for (const text of texts) {
      const kind = OWN_SEARCH_KINDS.find((each) => this.#fits(each, text));
      if (kind === undefined) continue;
      const known = boxes.get(kind) ?? new Set([kind.boxes]);
      const named = kind.named?.exec(text)?.[1];
      boxes.set(kind, named === undefined ? known : known.add(named));
    }
    return Array.from(boxes, ([{ name, index, service, head = '' }, selectors]) => ({
      kind: name,
      state: index === undefined ? 'hosted' : this.#found.has(index.file) ? 'works' : 'no-index',
      needs: index?.name ?? service ?? '',
      boxes: [...selectors].join(),
      head,
    }));
  }

  #fits({ mark, unless, script }: OwnSearchKind, text: string): boolean {
    return mark.test(text) && unless?.test(text) !== true && (script === undefined || this.#found.has(script));
  }
}

export const failingSearches = (searches: readonly BundledSearch[]): BundledSearch[] =>
  searches.filter(({ state }) => state !== 'works');

interface OwnSearchKind {
  readonly name: string;
  readonly mark: RegExp;
  readonly unless?: RegExp;
  readonly script?: RegExp;
  /**
   * Index file of the search. The search works only if the bundle contains this file. Undefined if the search needs an external
   * service (`service`).
   */
  readonly index?: { readonly file: RegExp; readonly name: string };
  readonly service?: string;
  readonly boxes: string;
  /** Captures the selector of the search box from the script that creates the search. */
  readonly named?: RegExp;
  /** Markup to add to the page's head, so that the page does not connect to the external service before the first search. */
  readonly head?: string;
}

const VITEPRESS = /\bVPNavBarSearch\b/;
const VITEPRESS_BOXES = '.VPNavBarSearch button';

/**
 * Kinds of built-in search. A page has the first kind that matches it. The patterns have bounded repetitions, because pages
 * may be hostile.
 */
export const OWN_SEARCH_KINDS: readonly OwnSearchKind[] = [
  {
    name: 'VitePress, DocSearch',
    mark: VITEPRESS,
    script: /(?:^|\/)VPAlgoliaSearchBox\.[\w-]+\.js$/,
    service: '*.algolia.net',
    boxes: VITEPRESS_BOXES,
    // If the page has an element with the id `VPAlgoliaPreconnect`, VitePress's theme does not connect to Algolia in advance.
    head: '<link id="VPAlgoliaPreconnect">',
  },
  {
    name: 'VitePress, local search',
    mark: VITEPRESS,
    script: /(?:^|\/)VPLocalSearchBox\.[\w-]+\.js$/,
    index: { file: /(?:^|\/)@localSearchIndex[^/]+\.js$/, name: 'assets/chunks/@localSearchIndex….js' },
    boxes: VITEPRESS_BOXES,
  },
  {
    name: 'DocSearch',
    mark: /\bclass=["']?[^"'<>]{0,300}\bDocSearch-Button\b|<div [^<>]{0,300}\bid=["']?docsearch\b|<script [^<>]{0,300}(?:\bdocsearch(?:\.min)?\.js\b|@docsearch\/)|<link [^<>]{0,300}-dsn\.algolia\.net/i,
    unless: VITEPRESS,
    service: '*.algolia.net',
    boxes: '.DocSearch-Button,#docsearch',
    named: /\bdocsearch\(\s*\{[^<]{0,2000}?\b(?:container|inputSelector)["']?\s*:\s*["'`]([#.][\w-]+)["'`]/i,
  },
  {
    name: 'Algolia',
    mark: /<script [^<>]{0,300}\b(?:algoliasearch|instantsearch|autocomplete-js)\b/i,
    service: '*.algolia.net',
    boxes: '.ais-SearchBox,.aa-Autocomplete,.aa-DetachedSearchButton',
  },
  {
    name: 'Mintlify',
    mark: /<button [^<>]{0,2000}\bid=["']?search-bar-entry\b/i,
    service: 'leaves.mintlify.com',
    boxes: '#search-bar-entry,#search-bar-entry-mobile',
  },
  {
    name: 'Pagefind',
    mark: /<site-search\b|<pagefind-(?:searchbox|modal-trigger|input)\b|<script [^<>]{0,300}\bpagefind(?:-(?:modular-|component-)?ui)?\.js\b/i,
    index: { file: /(?:^|\/)pagefind-entry\.json$/, name: 'pagefind/pagefind-entry.json' },
    boxes: 'site-search button[data-open-modal],.pagefind-ui,pagefind-searchbox,pagefind-modal-trigger,pagefind-input',
    named: /\bPagefindUI\(\s*\{[^<]{0,2000}?\belement["']?\s*:\s*["'`]([#.][\w-]+)["'`]/,
  },
  {
    name: 'Nextra',
    mark: /\bclass=["']?[^"'<>]{0,300}\bnextra-search\b/,
    index: { file: /(?:^|\/)(?:pagefind-entry|nextra-data-[\w-]+)\.json$/, name: '_pagefind/pagefind-entry.json' },
    boxes: '.nextra-search',
  },
  {
    name: 'Docusaurus, local search',
    mark: /\bclass=["']?[^"'<>]{0,300}\b(?:navbar__search-input|dsla-search-wrapper)\b/,
    index: { file: /(?:^|\/)(?:search-index|search-doc|lunr-index)[\w-]*\.json$/, name: 'search-index.json' },
    boxes: '.navbar__search,.dsla-search-wrapper',
  },
  {
    name: 'Material for MkDocs',
    mark: /\bdata-md-component=["']?search\b/,
    index: { file: /(?:^|\/)search\/search_index\.js(?:on)?$/, name: 'search/search_index.json' },
    boxes: '.md-search,.md-header__button[for=__search]',
  },
  {
    name: 'lunr',
    mark: /<(?:input|script) [^<>]{0,500}\b(?:data-offline-search-index-json-src=|id=["']?(?:mkdocs-search-query|search-ui-script|search-input["']? class=["']?search-input)\b)/,
    index: { file: /(?:^|\/)(?:offline-)?search[_-](?:index|data)[\w.-]*\.js(?:on)?$/, name: 'search-index….json' },
    boxes: '[data-target$=search_modal],[data-bs-target$=search_modal],.td-search,#search-field,.search-input-wrap',
  },
  {
    name: 'Sphinx',
    mark: /<form [^<>]{0,300}\baction=["']?[^"'<>\s]{0,300}\bsearch\.html\b/i,
    index: { file: /(?:^|\/)(?:searchindex\.js|search\/search_index\.json)$/, name: 'searchindex.js' },
    boxes: 'form[action$="search.html"]',
  },
  {
    name: 'mdBook',
    mark: /<button [^<>]{0,2000}\bid=["']?(?:mdbook-)?search-toggle\b/i,
    index: { file: /(?:^|\/)searchindex(?:-\w+)?\.js(?:on)?$/, name: 'searchindex.js' },
    boxes: '#search-toggle,#mdbook-search-toggle',
  },
];
