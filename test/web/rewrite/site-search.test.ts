import { describe, expect, it } from 'vitest';
import { found } from './helpers.ts';

const mentioned = (html: string): string[] => found('html', html).map((each) => each.replace('mention ', ''));

describe('findReferences() for the search of a site generator', () => {
  it.each<[name: string, html: string, files: readonly string[]]>([
    [
      'Material for MkDocs',
      '<script id="__config" type="application/json">{"base": "../..", "features": [], "search": "../../w.js"}</script>',
      ['../../w.js', '../../search/search_index.json'],
    ],
    [
      'MkDocs',
      '<script>var base_url = ".";</script>',
      ['./search/worker.js', './search/lunr.js', './search/search_index.json'],
    ],
    ['mdBook', '<script>var path_to_root = "../";</script>', ['../searchindex.js', '../searchindex.json']],
    [
      'mdBook, at its root, with a digest in the name',
      `<script>const path_to_root = "";window.path_to_searchindex_js = "searchindex-1f.js";</script>`,
      ['searchindex-1f.js', 'searchindex.json'],
    ],
    [
      'Javadoc',
      '<script>var pathtoroot = "../../";</script>',
      ['module', 'package', 'type', 'member', 'tag'].map((name) => `../../${name}-search-index.js`),
    ],
    ['HonKit', '<script>gitbook.page.hasChanged({"basePath":"..","book":{}});</script>', ['../search_index.json']],
    [
      'rustdoc',
      '<meta name="rustdoc-vars" data-root-path="../" data-static-root-path="../s/" data-resource-suffix="-x" data-search-js="search-1.js" data-settings-js="settings-2.js">',
      ['../s/search-1.js', '../s/settings-2.js', '../search-index-x.js', '../search.index/root-x.js'],
    ],
  ])('returns the files of %s', (_, html, files) => {
    expect(mentioned(html)).toEqual(files);
  });

  it.each([
    '<script>var base_url = location.origin;</script>',
    '<script>var base_url = "https://x.test/api";</script>',
    '<script type="application/json">{"base": 1, "search": "a.js"}</script>',
    '<script type="application/json">{"base": "..", "search": </script>',
    '<script>const path_to_root = "<%= root %>";</script>',
    '<meta name="rustdoc-vars" data-root-path="../">',
    '<meta name="generator" content="rustdoc">',
  ])('returns no files for %s', (html) => {
    expect(mentioned(html)).toEqual([]);
  });
});

describe('findReferences() in scripts of Doxygen', () => {
  it('returns the parts of the search index, by section and letter', () => {
    const script =
      'var indexSectionsWithContent =\n{\n  0: "ab\\"",\n  10: "x"\n};\nvar indexSectionNames =\n{\n  0: "all",\n  10: "files"\n};';
    expect(found('script', script)).toEqual(
      ['all_0', 'all_1', 'all_2', 'files_0'].flatMap((part) => [`mention ${part}.js`, `mention ${part}.html`]),
    );
  });

  it('returns the script files that contain parts of the navigation tree', () => {
    const script =
      'var NAVTREE =\n[\n  [ "L \\"x\\"", "index.html", [\n    [ "Files", "files.html", "files_dup" ],\n    [ "A", "a.html", null ] ] ]\n];\nvar NAVTREEINDEX =\n[\n"a.html",\n"b.html"\n];';
    expect(found('script', script)).toEqual([
      'mention navtreeindex0.js',
      'mention navtreeindex1.js',
      'mention files_dup.js',
    ]);
    const branch = 'var files_dup =\n[\n    [ "src", "dir_a.html", "dir_a" ],\n    [ "b.h", "b.html", null ]\n];';
    expect(found('script', branch)).toEqual(['mention dir_a.js']);
  });

  it('limits the number of returned files', () => {
    const script = `var indexSectionsWithContent = { 0: "${'a'.repeat(100_000)}" }; var indexSectionNames = { 0: "all" };`;
    expect(found('script', script)).toHaveLength(5_000);
  });

  it('returns no files for scripts that only resemble scripts of Doxygen', () => {
    expect(found('script', 'var indexSectionsWithContent; var indexSectionNames = { 0: "../x" };')).toEqual([]);
    expect(found('script', 'const a = [[ "b", "c", "d" ]];')).toEqual([]);
  });
});

describe('findReferences() for the local search of Docusaurus', () => {
  it('returns the index in the base path of the build', () => {
    expect(found('script', 'const i="search-index{dir}.json?_=1a"')).toEqual(['mention search-index.json']);
  });
});
