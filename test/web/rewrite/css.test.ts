import { parse, walk } from 'css-tree';
import { describe, expect, it } from 'vitest';
import { found, rewritten } from './helpers.ts';

const PROBES: readonly (readonly [name: string, css: string, found: readonly string[], rewritten: string])[] = [
  [
    'url() in all its forms',
    `a{b:url(c.png);d:URL( "e" );f:url('g')}`,
    ['asset c.png', 'asset e', 'asset g'],
    `a{b:url(N);d:URL( "N" );f:url('N')}`,
  ],
  ['url() with escapes', 'a{b:url(c\\(d\\)\\20 e.png)}', ['asset c(d) e.png'], 'a{b:url(N)}'],
  ['strings with escapes', 'a{b:url("c\\"d\\\ne\\66 .png")}', ['asset c"def.png'], 'a{b:url("N")}'],
  [
    'names with escapes',
    'a{b:u\\72l(c.png);d:\\75\\72\\6c( "e" );f:\\55rl( g\\20h )}',
    ['asset c.png', 'asset e', 'asset g h'],
    'a{b:u\\72l(N);d:\\75\\72\\6c( "N" );f:\\55rl( N )}',
  ],
  [
    '@import with escapes',
    '@\\69mport "a";@im\\70ort url(b)',
    ['style a', 'style b'],
    '@\\69mport "N";@im\\70ort url(N)',
  ],
  ['white space in url()', 'a{b:url(\n c.png\t)}', ['asset c.png'], 'a{b:url(\n N\t)}'],
  [
    '@import in all its forms',
    '@charset "x";@import "a";@IMPORT url(b) layer(c) supports(d: "e") screen;@import url("f");',
    ['style a', 'style b', 'style f'],
    '@charset "x";@import "N";@IMPORT url(N) layer(c) supports(d: "e") screen;@import url("N");',
  ],
  [
    'image-set() with types',
    'a{b:image-set("c" 1x type("image/avif"), url(d) 2x);e:-webkit-image-set(url("f") 1x)}',
    ['asset c', 'asset d', 'asset f'],
    'a{b:image-set("N" 1x type("image/avif"), url(N) 2x);e:-webkit-image-set(url("N") 1x)}',
  ],
  [
    'fonts',
    '@font-face{font-family:"x";src:local("y"),url(a.woff2?#iefix)format("woff2")tech(variations)}',
    ['asset a.woff2?#iefix'],
    '@font-face{font-family:"x";src:local("y"),url(N)format("woff2")tech(variations)}',
  ],
  ['custom properties', ':root{--a:url(b);--c:"d"}', ['asset b'], ':root{--a:url(N);--c:"d"}'],
  [
    'namespaces, left unchanged',
    '@namespace svg url(http://a);@namespace "b";a{b:url(c)}',
    ['asset c'],
    '@namespace svg url(http://a);@namespace "b";a{b:url(N)}',
  ],
  ['comments and strings, left unchanged', '/*url(a)*/b{content:"url(c)"}', [], '/*url(a)*/b{content:"url(c)"}'],
  [
    'addresses that are not files, left unchanged',
    'a{b:url(#c);d:url(data:,e);f:url()}',
    [],
    'a{b:url(#c);d:url(data:,e);f:url()}',
  ],
  [
    'conditions around rules',
    '@supports (a:b){@media print{c{d:url(e)}}}',
    ['asset e'],
    '@supports (a:b){@media print{c{d:url(N)}}}',
  ],
  ['unclosed functions', 'a{b:url(c', ['asset c'], 'a{b:url(N'],
  ['a string that is not closed', '@import "a', ['style a'], '@import "N'],
  ['a faulty url() and what follows', `a{b:url(c"d);e:url(f)}`, ['asset f'], `a{b:url(c"d);e:url(N)}`],
];

describe('findReferences() and rewriteFile() in CSS', () => {
  it.each(PROBES)('return the expected references and text for %s', (_, css, references, after) => {
    expect(found('css', css)).toEqual(references);
    expect(rewritten('css', css, 'N')).toBe(after);
  });

  it('find every url() that css-tree finds, at the same position', () => {
    const css = PROBES.map(([, text]) => text)
      .filter((text) => /[};]$/.test(text))
      .join('\n');
    const inTree: string[] = [];
    walk(parse(css, { parseCustomProperty: true }), (node) => {
      if (node.type === 'Url') inTree.push(node.value);
    });
    const ours = found('css', css).map((reference) => reference.slice(reference.indexOf(' ') + 1));
    const names = ['http://a', '', '#c', 'data:,e'];
    expect(inTree.length).toBeGreaterThan(10);
    expect(inTree.filter((url) => !names.includes(url) && !ours.includes(url))).toEqual([]);
  });

  it('write no characters that would end a url()', () => {
    expect(rewritten('css', 'a{b:url(c);d:url("e")}', `f g)"'\\é`)).toBe(
      'a{b:url(f%20g%29%22%27%5C%C3%A9);d:url("f%20g%29%22%27%5C%C3%A9")}',
    );
  });
});
