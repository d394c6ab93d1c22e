import { describe, expect, test } from 'vitest';
import { readFirstPage } from '../../src/web/first-page.ts';
import { findLinks, htmlCharset, outlinePage } from '../../src/web/index.ts';
import { findReferences, referencesOf, type SourceType } from '../../src/web/rewrite/index.ts';
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

/** References lie inside of what was read, in order. */
function readReferences(type: SourceType) {
  return (bytes: Buffer): void => {
    let last = 0;
    for (const { start, end } of referencesOf(findReferences({ type, bytes, charset: null, path: '/a' }))) {
      expect(start).toBeGreaterThanOrEqual(0);
      expect(end).toBeGreaterThanOrEqual(start);
      last = Math.max(last, end);
    }
    // As UTF-16 code units, or bytes: never more than these.
    expect(last).toBeLessThanOrEqual(bytes.length);
  };
}

describe('a seeded variation is read', { timeout: 600_000 }, () => {
  test('of a page, for its references', () => fuzz(HTML, readReferences('html')));
  test('of an XML page, for its references', () => fuzz(HTML, readReferences('xml')));
  test('of a style sheet, for its references', () => fuzz(CSS, readReferences('css')));
  test('of a page, for its head, links and outline', () =>
    fuzz(HTML, (bytes) => {
      const text = bytes.toString('latin1');
      htmlCharset(bytes);
      readFirstPage(text);
      findLinks(text);
      outlinePage(text);
    }));
});
