import { describe, expect, it } from 'vitest';
import { extractPage } from '../../../src/search/extract/extract-page.ts';
import { sphinxVersion } from '../../../src/web/content/page-facts.ts';
import { extractBody } from './page.ts';

const meta = (name: string, content: string) => `<meta name="${name}" content="${content}">`;
const factsOf = (head: string, body = '<main><p>1</p></main>') => extractBody(body, head);

describe('extractPage() reads a page’s title', () => {
  it.each([
    ['its first heading of the first level', '<title>Other | Site</title>', '<h1>T</h1>', 'T'],
    ['og:title before the document’s', '<meta property="og:title" content="T"><title>T | Site</title>', '', 'T'],
    ['the document’s, without the site after a bar', '<title>T | Site</title>', '', 'T'],
    ['the document’s, without the site after a dash', '<title>T — Site 3.0 documentation</title>', '', 'T'],
    ['the document’s, a hyphen being part of it', '<title>Tutorial - Basics</title>', '', 'Tutorial - Basics'],
    [
      'without the named site after a hyphen',
      '<title>T - Site</title><meta property="og:site_name" content="Site">',
      '',
      'T',
    ],
    [
      'without the named site before a bar',
      '<title>Site | T</title><meta property="og:site_name" content="Site">',
      '',
      'T',
    ],
    ['the part of it that its heading repeats', '<title>Site - T - More</title>', '<h2>T</h2>', 'T'],
    ['its first heading, where nothing else is said', '', '<h2>T</h2>', 'T'],
    ['its address, where nothing is', '', '', '/a'],
  ])('%s', (_, head, heading, title) => {
    expect(factsOf(head, `<main>${heading}<p>1</p></main>`)?.title).toBe(title);
  });

  it.each([
    ['another than its heading', '<title>Installation guide | Site</title>', 'Installation guide'],
    ['what its heading says', '<title>T | Site</title>', undefined],
    ['what its heading says, among more', '<title>T | Guides | Site</title>', undefined],
    ['the site’s name, on its home page', '<title>Site</title><meta property="og:site_name" content="Site">', 'Site'],
    ['nothing', '', undefined],
  ])('tells the document’s title of its first section alone, where that is %s', (_, head, documentTitle) => {
    const page = factsOf(head, '<main><h1>T</h1><p>1</p><h2>U</h2><p>2</p></main>');
    expect(page?.sections.map((section) => section.documentTitle)).toEqual([documentTitle, undefined]);
  });

  it('sets apart what a heading’s style sets apart', () => {
    expect(
      factsOf('', '<main><h1><span class="name">Name</span><span class="claim">Claim</span></h1></main>')?.title,
    ).toBe('Name Claim');
    expect(
      factsOf('', '<main><h1><code><span class="k">a</span><span class="o">.b</span></code></h1></main>')?.title,
    ).toBe('a.b');
  });
});

describe('extractPage() reads a page’s version', () => {
  it.each([
    [meta('docsearch:version', '2.0'), '2.0'],
    [meta('docsearch:version', '2.0,latest'), '2.0'],
    [meta('docusaurus_version', '1.0'), '1.0'],
    [meta('docusaurus_tag', 'docs-default-1.4'), '1.4'],
    [meta('docusaurus_tag', 'default'), null],
    [meta('readthedocs-version-slug', 'stable'), 'stable'],
    ["<script>var DOCUMENTATION_OPTIONS = { URL_ROOT: './', VERSION: '3.1.2', LANGUAGE: 'en' };</script>", '3.1.2'],
    ['', null],
  ])('%s', (head, version) => {
    const page = factsOf(head);
    expect([page?.version, page?.sections[0]?.version]).toEqual([version, version]);
  });

  it('from elsewhere, where it says none itself', () => {
    const input = { path: 'a.html', url: '/a', version: '9', tags: ['b'] };
    expect(extractPage({ ...input, html: '<main>1</main>' })).toMatchObject({ version: '9', tags: ['b'] });
    expect(
      extractPage({ ...input, html: `${meta('docsearch:version', '2')}${meta('keywords', 'a')}<main>1</main>` }),
    ).toMatchObject({
      version: '2',
      tags: ['a', 'b'],
    });
  });

  it('sphinxVersion() reads the options file', () => {
    expect(sphinxVersion("const DOCUMENTATION_OPTIONS = {\n    VERSION: '7.2.6',\n};")).toBe('7.2.6');
    expect(sphinxVersion("const DOCUMENTATION_OPTIONS = { VERSION: '' }; var x = 'y'")).toBeNull();
    expect(sphinxVersion("VERSION: '1'")).toBeNull();
  });
});

describe('extractPage() reads language, tags, canonical and links', () => {
  it('keeps the language as it is written', () => {
    expect(extractPage({ path: 'a.html', url: '/a', html: '<html lang="pt-BR"><main>1</main>' })?.language).toBe(
      'pt-BR',
    );
    expect(extractPage({ path: 'a.html', url: '/a', html: '<html><main>1</main>' })?.language).toBeNull();
  });

  it('tags from keywords, article tags and facets, each once, not language and version', () => {
    const head = [
      meta('keywords', 'a, b,, a'),
      '<meta property="article:tag" content="c,d">',
      meta('docsearch:category', 'e'),
      meta('docsearch:language', 'en'),
      meta('docsearch:version', '1'),
    ].join('');
    expect(factsOf(head)?.tags).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('the canonical’s path, else that of og:url', () => {
    expect(factsOf('<link rel="canonical" href="https://docs.example.com/en/a%20b">')?.canonical).toBe('/en/a b');
    expect(factsOf('<meta property="og:url" content="https://docs.example.com/x">')?.canonical).toBe('/x');
    expect(factsOf('')?.canonical).toBeNull();
  });

  it('links of the content to pages of the site', () => {
    const head = '<link rel="canonical" href="https://docs.example.com/a">';
    const hrefs = [
      'b',
      '/c#d',
      'https://docs.example.com/e?f',
      'https://other.example/g',
      '#h',
      'mailto:x@y',
      '/a',
      'b',
    ];
    const body = `<nav><a href="/nav">n</a></nav><main>${hrefs.map((href) => `<a href="${href}">l</a>`).join(' ')}</main>`;
    expect(factsOf(head, body)?.links).toEqual(['/b', '/c', '/e']);
  });
});

describe('extractPage() leaves pages out', () => {
  const page = (path: string, html: string) => extractPage({ path, url: `/${path}`, html });
  const content = '<main><h1>T</h1><p>1</p></main>';
  const chapters = '<main><h1>A</h1><p>1</p><h1>B</h1><p>2</p></main>';

  it.each([
    ['that ask not to be found', 'a.html', meta('robots', 'noindex, nofollow') + content],
    ['that ask for nothing at all', 'a.html', meta('robots', 'none') + content],
    ['of errors', '404.html', content],
    ['of errors in a folder', 'de/404/index.html', content],
    ['that redirect', 'a.html', `<meta http-equiv="refresh" content="0; url=/b">${content}`],
    ['for printing', 'print.html', content],
    ['for printing, of a book below the root', 'book/print.html', chapters],
    [
      'of an index by letter',
      'genindex.html',
      '<div role="main"><h1>Index</h1><div class="genindex-jumpbox">A</div></div>',
    ],
    [
      'of Sphinx’s search',
      'search.html',
      '<div role="main"><h1>Search</h1><p>Words</p><div id="search-results"> </div></div>',
    ],
    ['of Sphinx’s sources', '_modules/a.html', `<script src="../_static/documentation_options.js"></script>${content}`],
    ['that list posts', 'blog/index.html', `<html class="blog-wrapper blog-list-page">${content}`],
    ['without content', 'a.html', '<div id="app"></div><footer>x</footer>'],
    ['that are empty', 'a.html', ''],
  ])('%s', (_, path, html) => {
    expect(page(path, html)).toBeNull();
  });

  it.each([
    ['a page about printing', 'functions/print.html', content],
    ['a page about search', 'guide/search.html', content],
    ['a page that reloads itself', 'a.html', `<meta http-equiv="refresh" content="30">${content}`],
    ['a folder named _modules of another generator', '_modules/a.html', content],
    ['a page about indexes', 'a.html', `${content}<pre>genindex-jumpbox</pre>`],
  ])('but not %s', (_, path, html) => {
    expect(page(path, html)?.title).toBe('T');
  });

  it('reads XHTML’s empty elements as such', () => {
    expect(page('a.xhtml', '<main><h1><a id="x"/>T</h1><p>1</p></main>')?.sections[0]).toMatchObject({
      path: '/a.xhtml#x',
      text: '1',
    });
  });
});
