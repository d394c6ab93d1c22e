import { describe, expect, test } from 'vitest';
import { extractPage } from '../../src/search/extract/extract-page.ts';
import { cutPassages } from '../../src/search/extract/passages.ts';
import { readFirstPage } from '../../src/web/first-page.ts';
import { markdownOf } from '../../src/web/markdown/index.ts';
import { htmlCharset } from '../../src/web/media-type.ts';
import { integrityTargets, mountFile } from '../../src/web/mount/index.ts';
import { findLinks, outlinePage } from '../../src/web/references.ts';
import { findReferences } from '../../src/web/rewrite/find-references.ts';
import type { SourceType } from '../../src/web/rewrite/source-text.ts';
import { readSiteRules } from '../../src/web/rules/index.ts';
import { fuzz } from '../helpers/fuzz.ts';

const HTML = [
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0; url=a.html">
<title>Home &amp; more</title><base href="/docs/"><link rel="stylesheet" href="a.css?x=1"><style>@import "b.css"; a { background: url(c.png) }</style>
<script type="importmap">{"imports":{"a":"./a.js"}}</script><script type="module">import "./m.js"; fetch('x.json')</script></head>
<body style="background:url('d.png')"><a href="../b.html#c">b</a><img srcset="a.png 1x, b.png 2x" src=c.png><svg><use href="#i"/><![CDATA[<a href=x>]]></svg>
<!-- <a href="no"> --><textarea><a href="no"></textarea><template><a href=t></template><plaintext><a href=no>`,
  '<table><tr><td><a href="a"><b>x</a></b></table><noscript><img src=n></noscript><math><mi xlink:href="m"></math>',
].map((text) => Buffer.from(text));

const CSS = [
  `@charset "utf-8"; @import url("a.css") screen; @font-face { src: url(a.woff2) format("woff2"), local(x) }
.a:not(.b)::after { content: "\\201C"; background: image-set("a.png" 1x, url( 'b.png' ) 2x) } /* url(no) */ @media (min-width: 1px) { a { cursor: url(\\63 .cur) } }`,
].map((text) => Buffer.from(text));

/** Other content of a documentation page: headings, code, tables, notes, tabs, footnotes. */
const CONTENT = `<!doctype html><html lang="de-x"><head><title>Start – Manual</title><meta name="robots" content="all"><link rel="canonical" href="/docs/start"></head>
<body><nav><a href="/docs/">Home</a></nav><main><h1 id="start">Start<a href="#start" class="headerlink">¶</a></h1><p>Turn the <em>lantern</em> on.<sup><a href="#fn1" id="r1">1</a></sup>
<div class="admonition warning"><p class="admonition-title">Note</p><p>Hot.</p></div><h2>Code</h2><div class="highlight-sh"><pre><code class="language-sh">$ a | b &lt; c</code></pre></div>
<table><thead><tr><th>A<th>B</thead><tr><td colspan=2>x | y</table><ol start=3><li>one<ul><li>two</ul></ol><dl><dt id=t>term<dd>text</dl>
<div role="tablist"><button role=tab aria-controls=p1>A</button></div><div role=tabpanel id=p1>a</div><section class=footnotes><ol><li id=fn1>Oil. <a href="#r1">↩</a></ol></section></main>`;
const PAGES = [...HTML, Buffer.from(CONTENT)];

const REDIRECTS = `# moved
/old/* /new/:splat 301!
/a/:b/c  /d/:b?x=:b 200
/news  https://example.test/ 302 Language=de Country=ch
/x id=:id /y/:id 308
`;
const HEADERS = `/*
  X-Frame-Options: DENY
  Cache-Control: public, max-age=60
/a/:b/*
  ! Content-Security-Policy
  Link: </a.css>; rel=preload
https://docs.example.test/*
  Set-Cookie: no
`;

/** Mounts a text of a site that was built for another base path. */
function mounted(path: string, type: string) {
  const site = { from: '/docs/', to: '/manual/v1/', has: (file: string) => file.length % 2 === 0 };
  return (bytes: Buffer): void => {
    const file = { path, bytes, type };
    const targets = integrityTargets(file);
    const written = mountFile(file, site, (url) => (targets.some((each) => each.url === url) ? 'sha256-x' : null));
    expect(written.length).toBeLessThanOrEqual(bytes.length * 10);
  };
}

/** Checks that the position of each reference is inside of the text. */
function readReferences(type: SourceType) {
  return (bytes: Buffer): void => {
    let last = 0;
    for (const { start, end } of findReferences({ type, bytes, path: '/a' }).references) {
      expect(start).toBeGreaterThanOrEqual(0);
      expect(end).toBeGreaterThanOrEqual(start);
      last = Math.max(last, end);
    }
    // Maximum position, in UTF-16 code units or bytes.
    expect(last).toBeLessThanOrEqual(bytes.length);
  };
}

describe('functions that read untrusted site files', { timeout: 600_000 }, () => {
  test('return valid positions of references for a page with seeded random changes', () =>
    fuzz(HTML, readReferences('html')));
  test('return valid positions of references for an XML page with seeded random changes', () =>
    fuzz(HTML, readReferences('xml')));
  test('return valid positions of references for a style sheet with seeded random changes', () =>
    fuzz(CSS, readReferences('css')));
  test('read head, links and outline of a page with seeded random changes without an error', () =>
    fuzz(HTML, (bytes) => {
      const text = bytes.toString('latin1');
      htmlCharset(bytes);
      readFirstPage(text);
      findLinks(text);
      outlinePage(text);
    }));

  test('return valid positions of search passages for a page with seeded random changes', () =>
    fuzz(PAGES, (bytes) => {
      const page = extractPage({ path: 'start.html', html: bytes.toString(), url: '/start' });
      for (const { text } of page?.sections ?? []) {
        for (const { start, end } of cutPassages(text, (part) => part.length / 4)) {
          expect(start).toBeLessThanOrEqual(end);
          expect(end).toBeLessThanOrEqual(text.length);
        }
      }
    }));

  test('convert a page with seeded random changes to Markdown of limited size', () =>
    fuzz(PAGES, (bytes) => {
      const { markdown } = markdownOf({ path: 'start.html', html: bytes.toString(), address: '/docs/start' });
      // Each character may be escaped, and each level of a list or quote adds to its lines.
      expect(markdown.length).toBeLessThanOrEqual(1_000 + bytes.length * 20);
    }));

  test('do not fail on a page with seeded random changes when they rewrite it for another base path', () =>
    fuzz(PAGES, mounted('start.html', 'text/html; charset=utf-8')));
  test('do not fail on a style sheet with seeded random changes when they rewrite it for another base path', () =>
    fuzz(CSS, mounted('a.css', 'text/css')));
  test('do not fail on a script with seeded random changes when they rewrite it for another base path', () =>
    fuzz(
      [Buffer.from('import("/docs/a.js"); const p="/docs/"; __webpack_require__.p="/docs/"; fetch(`/docs/a.json`)')],
      mounted('assets/app.js', 'text/javascript'),
    ));
  test('do not fail on a sitemap with seeded random changes when they rewrite it for another base path', () =>
    fuzz(
      [Buffer.from('<?xml version="1.0"?><urlset><url><loc>https://a.test/docs/b</loc></url></urlset>')],
      mounted('sitemap.xml', 'application/xml'),
    ));

  test('return no redirect to another host and no overlong value for _redirects and _headers with seeded random changes', () =>
    fuzz([Buffer.from(REDIRECTS), Buffer.from(HEADERS)], (bytes) => {
      const rules = readSiteRules(
        new Map([
          ['_redirects', bytes],
          ['_headers', bytes],
        ]),
      );
      expect(rules.faultCount).toBeGreaterThanOrEqual(rules.faults.length);
      for (const path of ['/', '/old/a/b', '/a/b/c', '/a/b/%2e%2e']) {
        for (const { rule, captures } of [...rules.redirects.forced(path), ...rules.redirects.others(path)]) {
          expect(rule.target.pathOf(captures)?.length ?? 0).toBeLessThanOrEqual(8192);
          const location = rule.target.location(captures, '?a=b', (at) => at);
          expect(location?.length ?? 0).toBeLessThanOrEqual(8192);
          if (rule.target.origin === null && location !== null) {
            expect(URL.parse(location, 'https://site.test')?.origin).toBe('https://site.test');
          }
        }
        for (const [, address = ''] of (rules.headers.headersFor(path).set.get('Link') ?? '').matchAll(/<([^>]*)/g)) {
          expect(URL.parse(address, 'https://site.test')?.origin).toBe('https://site.test');
        }
        expect(rules.headers.headersFor(path)).toBeDefined();
      }
    }));
});
