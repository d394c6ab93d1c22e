import { parse, walk } from 'css-tree';
import { describe, expect, it } from 'vitest';
import { found, probeOf, rewritten } from './helpers.ts';

const PROBES: readonly (readonly [name: string, marked: string])[] = [
  ['url() in all its forms', `a{b:url(«asset c.png»);d:URL( "«asset e»" );f:url('«asset g»')}`],
  ['url() with escapes', 'a{b:url(«asset c(d) e.png¦c\\(d\\)\\20 e.png»)}'],
  ['strings with escapes', 'a{b:url("«asset c"def.png¦c\\"d\\\ne\\66 .png»")}'],
  ['names with escapes', 'a{b:u\\72l(«asset c.png»);d:\\75\\72\\6c( "«asset e»" );f:\\55rl( «asset g h¦g\\20h» )}'],
  ['@import with escapes', '@\\69mport "«style a»";@im\\70ort url(«style b»)'],
  ['white space in url()', 'a{b:url(\n «asset c.png»\t)}'],
  [
    '@import in all its forms',
    '@charset "x";@import "«style a»";@IMPORT url(«style b») layer(c) supports(d: "e") screen;@import url("«style f»");',
  ],
  [
    'image-set() with types',
    'a{b:image-set("«asset c»" 1x type("image/avif"), url(«asset d») 2x);e:-webkit-image-set(url("«asset f»") 1x)}',
  ],
  ['fonts', '@font-face{font-family:"x";src:local("y"),url(«asset a.woff2?#iefix»)format("woff2")tech(variations)}'],
  ['custom properties', ':root{--a:url(«asset b»);--c:"d"}'],
  ['namespaces, left unchanged', '@namespace svg url(http://a);@namespace "b";a{b:url(«asset c»)}'],
  ['comments and strings, left unchanged', '/*url(a)*/b{content:"url(c)"}'],
  ['addresses that are not files, left unchanged', 'a{b:url(#c);d:url(data:,e);f:url()}'],
  ['conditions around rules', '@supports (a:b){@media print{c{d:url(«asset e»)}}}'],
  ['unclosed functions', 'a{b:url(«asset c»'],
  ['a string that is not closed', '@import "«style a»'],
  ['a faulty url() and what follows', 'a{b:url(c"d);e:url(«asset f»)}'],
];

describe('findReferences() and rewriteFile() in CSS', () => {
  it.each(PROBES)('find and replace the references, and leave other text unchanged: %s', (_, marked) => {
    const { text, references, after } = probeOf(marked);
    expect(found('css', text)).toEqual(references);
    expect(rewritten('css', text, 'N')).toBe(after);
  });

  it('find every url() that css-tree finds, at the same position', () => {
    const css = PROBES.map(([, marked]) => probeOf(marked).text)
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
