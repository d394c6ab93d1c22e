import { describe, expect, it } from 'vitest';
import { extractPage } from '../../../src/search/extract/extract-page.ts';
import { sphinxVersion } from '../../../src/web/content/page-facts.ts';
import { extractBody } from './page.ts';

const meta = (name: string, content: string) => `<meta name="${name}" content="${content}">`;
const factsOf = (head: string, body = '<main><p>1</p></main>') => extractBody(body, head);

describe('extractPage(), reading the title of a page', () => {
  it.each([
    ['the first heading of level 1', '<title>Other | Site</title>', '<h1>T</h1>', 'T'],
    [
      'og:title rather than the document title',
      '<meta property="og:title" content="T"><title>T | Site</title>',
      '',
      'T',
    ],
    ['the document title without the site name after a bar', '<title>T | Site</title>', '', 'T'],
    ['the document title without the site name after a dash', '<title>T — Site 3.0 documentation</title>', '', 'T'],
    ['the whole document title if it contains a hyphen', '<title>Tutorial - Basics</title>', '', 'Tutorial - Basics'],
    [
      'the document title without og:site_name after a hyphen',
      '<title>T - Site</title><meta property="og:site_name" content="Site">',
      '',
      'T',
    ],
    [
      'the document title without og:site_name before a bar',
      '<title>Site | T</title><meta property="og:site_name" content="Site">',
      '',
      'T',
    ],
    ['the part of the document title that the heading repeats', '<title>Site - T - More</title>', '<h2>T</h2>', 'T'],
    ['the first heading of any level if the page has no other title', '', '<h2>T</h2>', 'T'],
    ['the page address if the page has neither title nor heading', '', '', '/a'],
  ])('uses as the title %s', (_, head, heading, title) => {
    expect(factsOf(head, `<main>${heading}<p>1</p></main>`)?.title).toBe(title);
  });

  it('uses the heading of the page, not a linked heading above it that contains the name of the site', () => {
    const links = ['b', 'c', 'd', 'e', 'f'].map((name) => `<a href="/${name}">${name}</a>`).join(' ');
    const body = `<div><div id="hd"><h1><a href="/">Site 3.2</a></h1>${links}</div><div id="bd"><h1>T</h1><p>1</p></div></div>`;
    const page = factsOf('<title>T — Site 3.2</title>', body);
    expect([page?.title, page?.sections.map(({ text }) => text)]).toEqual(['T', ['1']]);
  });

  it('uses the title block of Doxygen, whose sections have headings of level 1', () => {
    const title = '<div class="title">T<div class="ingroups"><a href="/b">Group</a></div></div>';
    const body = `<div class="header"><div class="headertitle">${title}</div></div><div class="contents"><h1>U</h1><p>1</p></div>`;
    const page = factsOf('<title>Site: T</title>', `<div>${body}</div>`);
    expect([page?.title, page?.sections.at(-1)?.headings]).toEqual(['T', ['U']]);
  });

  it.each([
    ['different from the heading', '<title>Installation guide | Site</title>', 'Installation guide'],
    ['equal to the heading', '<title>T | Site</title>', undefined],
    ['the heading among other parts', '<title>T | Guides | Site</title>', undefined],
    ['the site name', '<title>Site</title><meta property="og:site_name" content="Site">', 'Site'],
    ['missing', '', undefined],
  ])(
    'stores the document title on the first section if this title differs from the heading: %s',
    (_, head, documentTitle) => {
      const page = factsOf(head, '<main><h1>T</h1><p>1</p><h2>U</h2><p>2</p></main>');
      expect(page?.sections.map((section) => section.documentTitle)).toEqual([documentTitle, undefined]);
    },
  );

  it('separates the words of a heading if only styles separate their elements', () => {
    expect(
      factsOf('', '<main><h1><span class="name">Name</span><span class="claim">Claim</span></h1></main>')?.title,
    ).toBe('Name Claim');
    expect(
      factsOf('', '<main><h1><code><span class="k">a</span><span class="o">.b</span></code></h1></main>')?.title,
    ).toBe('a.b');
  });
});

describe('extractPage(), reading the version of a page', () => {
  it.each([
    [meta('docsearch:version', '2.0'), '2.0'],
    [meta('docsearch:version', '2.0,latest'), '2.0'],
    [meta('docusaurus_version', '1.0'), '1.0'],
    [meta('docusaurus_tag', 'docs-default-1.4'), '1.4'],
    [meta('docusaurus_tag', 'default'), null],
    [meta('readthedocs-version-slug', 'stable'), 'stable'],
    ["<script>var DOCUMENTATION_OPTIONS = { URL_ROOT: './', VERSION: '3.1.2', LANGUAGE: 'en' };</script>", '3.1.2'],
    ['', null],
  ])('reads the version from %s', (head, version) => {
    const page = factsOf(head);
    expect([page?.version, page?.sections[0]?.version]).toEqual([version, version]);
  });

  it('uses the version of the site if the page states none', () => {
    const input = { path: 'a.html', url: '/a', version: '9' };
    expect(extractPage({ ...input, html: '<main>1</main>' })).toMatchObject({ version: '9', tags: [] });
    expect(
      extractPage({ ...input, html: `${meta('docsearch:version', '2')}${meta('keywords', 'a')}<main>1</main>` }),
    ).toMatchObject({
      version: '2',
      tags: ['a'],
    });
  });

  it('reads the version from the DOCUMENTATION_OPTIONS of a Sphinx script (sphinxVersion())', () => {
    expect(sphinxVersion("const DOCUMENTATION_OPTIONS = {\n    VERSION: '7.2.6',\n};")).toBe('7.2.6');
    expect(sphinxVersion("const DOCUMENTATION_OPTIONS = { VERSION: '' }; var x = 'y'")).toBeNull();
    expect(sphinxVersion("VERSION: '1'")).toBeNull();
  });
});

describe('extractPage(), reading language, tags, canonical and links', () => {
  it('returns the language tag of the page unchanged, or null if the page has none', () => {
    expect(extractPage({ path: 'a.html', url: '/a', html: '<html lang="pt-BR"><main>1</main>' })?.language).toBe(
      'pt-BR',
    );
    expect(extractPage({ path: 'a.html', url: '/a', html: '<html><main>1</main>' })?.language).toBeNull();
  });

  it.each([
    '<html><body lang="pt-BR"><main>1</main>',
    '<html><body><div id="app" lang="pt-BR"><main>1</main></div>',
    '<html><meta http-equiv="content-language" content="pt-BR"><main>1</main>',
    '<html lang="pt-BR"><body lang="en"><main>1</main>',
  ])('reads the language from %s', (html) => {
    expect(extractPage({ path: 'a.html', url: '/a', html })?.language).toBe('pt-BR');
  });

  it('collects tags from keywords, article tags and facets once each, without language and version', () => {
    const head = [
      meta('keywords', 'a, b,, a'),
      '<meta property="article:tag" content="c,d">',
      meta('docsearch:category', 'e'),
      meta('docsearch:language', 'en'),
      meta('docsearch:version', '1'),
      meta('docsearch:docusaurus_tag', 'docs-default-1'),
    ].join('');
    expect(factsOf(head)?.tags).toEqual(['a', 'b', 'c', 'd', 'e']);
  });

  it('reads the path of the canonical link, or the path of og:url if the page has no canonical link', () => {
    expect(factsOf('<link rel="canonical" href="https://docs.example.com/en/a%20b">')?.canonical).toBe('/en/a b');
    expect(factsOf('<meta property="og:url" content="https://docs.example.com/x">')?.canonical).toBe('/x');
    expect(factsOf('')?.canonical).toBeNull();
  });

  it('collects the links from the content to other pages of the site', () => {
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

describe('extractPage(), excluding pages from the search', () => {
  const page = (path: string, html: string) => extractPage({ path, url: `/${path}`, html });
  const content = '<main><h1>T</h1><p>1</p></main>';
  const chapters = '<main><h1>A</h1><p>1</p><h1>B</h1><p>2</p></main>';

  it.each([
    ['with robots noindex', 'a.html', meta('robots', 'noindex, nofollow') + content],
    ['with robots none', 'a.html', meta('robots', 'none') + content],
    ['named 404', '404.html', content],
    ['named 404 in a folder', 'de/404/index.html', content],
    ['that redirect', 'a.html', `<meta http-equiv="refresh" content="0; url=/b">${content}`],
    ['for printing', 'print.html', content],
    ['for printing of a book in a subfolder', 'book/print.html', chapters],
    [
      'with an index by letter',
      'genindex.html',
      '<div role="main"><h1>Index</h1><div class="genindex-jumpbox">A</div></div>',
    ],
    [
      'with the search of Sphinx',
      'search.html',
      '<div role="main"><h1>Search</h1><p>Words</p><div id="search-results"> </div></div>',
    ],
    [
      'with sources in Sphinx',
      '_modules/a.html',
      `<script src="../_static/documentation_options.js"></script>${content}`,
    ],
    ['that list posts', 'blog/index.html', `<html class="blog-wrapper blog-list-page">${content}`],
    ['without content', 'a.html', '<div id="app"></div><footer>x</footer>'],
    ['that are empty', 'a.html', ''],
  ])('excludes pages %s', (_, path, html) => {
    expect(page(path, html)).toBeNull();
  });

  it.each([
    ['a page about printing', 'functions/print.html', content],
    ['a page about search', 'guide/search.html', content],
    ['a page that reloads itself', 'a.html', `<meta http-equiv="refresh" content="30">${content}`],
    ['a folder named _modules of another generator', '_modules/a.html', content],
    ['a page about indexes', 'a.html', `${content}<pre>genindex-jumpbox</pre>`],
  ])('does not exclude %s', (_, path, html) => {
    expect(page(path, html)?.title).toBe('T');
  });

  it('treats self-closing XHTML elements as empty elements', () => {
    expect(page('a.xhtml', '<main><h1><a id="x"/>T</h1><p>1</p></main>')?.sections[0]).toMatchObject({
      path: '/a.xhtml#x',
      text: '1',
    });
  });
});
