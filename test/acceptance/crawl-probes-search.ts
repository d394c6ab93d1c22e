import type { OriginFile } from '../crawl/origin.ts';
import { known, type Probe } from './crawl-probe.ts';

const js = (body: string): OriginFile => ({ type: 'text/javascript', body });

/** A page whose generator's search asks for the marked file by an address that no markup has. */
const searched = (name: string, page: string, marked: string, more: Partial<Probe> = {}): Probe => ({
  name: `search of ${name}`,
  page,
  marked: `/search-of/${marked}`,
  steps: [known(`/search-of/${marked}`)],
  ...more,
});

/** The searches of static sites, which load their index once a reader searches. Pages are at `/probe/`, one folder deep. */
export const SEARCH_PROBES: readonly Probe[] = [
  searched(
    'mkdocs material',
    '<script id="__config" type="application/json">{"base": "../search-of/material", "search": "../search-of/worker.js"}</script>',
    'material/search/search_index.json',
    { files: { '/search-of/worker.js': js('1') } },
  ),
  searched(
    'mkdocs',
    '<script>var base_url = "../search-of/mkdocs", shortcuts = {};</script>',
    'mkdocs/search/worker.js',
  ),
  searched('mdbook', '<script>var path_to_root = "../search-of/mdbook/";</script>', 'mdbook/searchindex.json'),
  searched(
    'mdbook with a digest',
    '<script>const path_to_root = "../search-of/";window.path_to_searchindex_js = "searchindex-1a2b.js";</script>',
    'searchindex-1a2b.js',
  ),
  searched(
    'javadoc',
    '<script>const pathtoroot = "../search-of/api/";loadScripts(document, "script");</script>',
    'api/member-search-index.js',
  ),
  searched(
    'gitbook',
    '<script>gitbook.page.hasChanged({"page":{},"basePath":"../search-of/gitbook"});</script>',
    'gitbook/search_index.json',
  ),
  searched(
    'rustdoc',
    '<meta name="rustdoc-vars" data-root-path="../search-of/rust/" data-static-root-path="../search-of/static.files/" data-search-js="search-1a2b.js">',
    'static.files/search-1a2b.js',
  ),
  searched('doxygen', '<script src="/search-of/doxygen/searchdata.js"></script>', 'doxygen/classes_1.js', {
    files: {
      '/search-of/doxygen/searchdata.js': js(
        'var indexSectionsWithContent =\n{\n  0: "abc",\n  1: "xy"\n};\nvar indexSectionNames =\n{\n  0: "all",\n  1: "classes"\n};',
      ),
    },
  }),
  searched('docusaurus', '<script src="/search-of/site/assets/js/main.js"></script>', 'site/search-index.json', {
    files: { '/search-of/site/assets/js/main.js': js('const a="search-index{dir}.json?_=1a2b";') },
  }),
  searched('sphinx before 2', '<script>Search.loadIndex("../search-of/searchindex.js")</script>', 'searchindex.js'),
  searched('swagger ui', '<script src="/search-of/swagger/init.js"></script>', 'swagger/openapi.json', {
    files: { '/search-of/swagger/init.js': js('window.ui = SwaggerUIBundle({ url: "openapi.json" });') },
  }),
];
