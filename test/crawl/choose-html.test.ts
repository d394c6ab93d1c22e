import { describe, expect, it } from 'vitest';
import { chooseHtml, dropScripts } from '../../src/crawl/render/choose-html.ts';

const words = (count: number, stem = 'word') => Array.from({ length: count }, (_, at) => `${stem}${at}`).join(' ');
const rendered = (text: string, html = `<!DOCTYPE html><meta charset="utf-8"><p>${text}</p>`) => ({
  dom: { html, text, links: [] },
});

describe('chooseHtml() (original or rendered page for the export)', () => {
  it('keeps the original page if it contains the text of the rendered page, even if styles hide a part and scripts add a few words', () => {
    const original = `<nav hidden>${words(20, 'menu')}</nav><main>${words(200)}</main>`;
    expect(chooseHtml(original, rendered(`${words(200)} Copy Copied`), 'keep')).toEqual({ kind: 'original' });
  });

  it('keeps the original page if the rendered page has no visible text', () => {
    expect(chooseHtml('<p>some text</p>', rendered(''), 'keep')).toEqual({ kind: 'original' });
  });

  it('keeps the original page if the page was not rendered', () => {
    expect(chooseHtml('<div id="app"></div>', { dom: null }, 'keep')).toEqual({ kind: 'original' });
  });

  it('compares the words of the original and the rendered page regardless of case and Unicode form', () => {
    const original = '<p>Ein ﬁeld, CAFE\u0301 &amp; Übung &nbsp;mehr</p>';
    expect(chooseHtml(original, rendered('ein field café übung mehr'), 'keep').kind).toBe('original');
  });

  it('recognizes a word that an element splits, and two words that only styles separate', () => {
    const names = Array.from({ length: 40 }, (_, at) => [`get${at}`, `Value${at}`] as const);
    const broken = `<ul>${names.map(([a, b]) => `<li><code>${a}<wbr>${b}</code></li>`).join('')}</ul>`;
    const joined = names.map((name) => name.join('')).join('\n');
    expect(chooseHtml(broken, rendered(joined), 'keep').kind).toBe('original');
    const menu = `<nav>${names.map(([a, b]) => `<a>${a}</a><a>${b}</a>`).join('')}</nav>`;
    expect(chooseHtml(menu, rendered(names.flat().join('\n')), 'keep').kind).toBe('original');
    expect(chooseHtml(`<div>${names[0]?.join('</div>')}`, rendered('get0\nValue0'), 'keep').kind).toBe('original');
  });

  it('uses the rendered document if scripts write the page', () => {
    const shell = `<!doctype html><noscript>${words(50)}</noscript><div id="app"></div><script>"${words(50)}"</script>`;
    expect(chooseHtml(shell, rendered(words(50)), 'keep')).toEqual({
      kind: 'settled',
      html: `<!DOCTYPE html><meta charset="utf-8"><p>${words(50)}</p>`,
    });
  });

  it.each([
    ['a small part', 200, 20, 'original'],
    ['a menu of medium size', 200, 60, 'original'],
    ['a whole chapter of a long page', 2_000, 400, 'settled'],
    ['most of the page', 50, 50, 'settled'],
  ])('uses the rendered page only if scripts add a large part of the text: %s', (_, own, added, kind) => {
    const seen = `${words(own)} ${words(added, 'more')}`;
    expect(chooseHtml(`<p>${words(own)}</p>`, rendered(seen), 'keep').kind).toBe(kind);
  });

  it('counts each occurrence of a word that scripts add', () => {
    expect(chooseHtml('<p>again</p>', rendered('again '.repeat(10)), 'keep').kind).toBe('settled');
  });

  it('reads the text of declarative shadow roots in the original page', () => {
    const original = `<x-a><template shadowrootmode="open"><p>${words(30)}</p></template></x-a>`;
    expect(chooseHtml(original, rendered(words(30)), 'keep').kind).toBe('original');
  });

  it('removes scripts from the rendered document with the option scripts: drop', () => {
    const html = '<!DOCTYPE html><meta charset="utf-8"><p>text</p><script src="a.js"></script>';
    expect(chooseHtml('', rendered('text', html), 'drop')).toEqual({
      kind: 'settled',
      html: '<!DOCTYPE html><meta charset="utf-8"><p>text</p>',
    });
  });

  it('reads a document with 50,000 nested elements', () => {
    expect(chooseHtml('<div>'.repeat(50_000), rendered('text'), 'keep').kind).toBe('settled');
  });
});

describe('dropScripts() (removal of scripts from a page)', () => {
  it.each([
    [
      'scripts of every kind',
      'a<script>x</script>b<script type="module" src="m.js"></script>c<script type="importmap">{}</script>',
      'abc',
    ],
    ['a script in a template', '<template><p>a</p><script>x</script></template>', '<template><p>a</p></template>'],
    [
      'links that load scripts',
      '<link rel="modulepreload" href="a.js"><link rel="preload" as="script" href="b.js">a',
      'a',
    ],
    ['event handlers', '<p title="a" onclick="go()" class="b">a</p>', '<p title="a"  class="b">a</p>'],
  ])('removes %s', (_, html, without) => {
    expect(dropScripts(html)).toBe(without);
  });

  it.each([
    ['data', '<script type="application/ld+json">{"a":1}</script>'],
    ['styles and fonts', '<link rel="stylesheet" href="a.css"><link rel="preload" as="font" href="b.woff2">'],
    ['text that only looks like a script', '<p title="<script>">&lt;script&gt;</p><!-- <script>x</script> -->'],
    ['unusual formatting of the markup', '<!DOCTYPE html>\n<HTML><body  CLASS=a>\n<p>one<p>two\n'],
  ])('does not remove %s', (_, html) => {
    expect(dropScripts(html)).toBe(html);
  });
});
