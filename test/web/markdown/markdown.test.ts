import { decodeHTML } from 'entities';
import MarkdownIt from 'markdown-it';
import { describe, expect, it } from 'vitest';
import { type MarkdownInput, markdownOf } from '../../../src/web/markdown/index.ts';

const page = (body: string, options: Partial<MarkdownInput> & { head?: string } = {}) => {
  const { head = '', ...input } = options;
  const html = `<!doctype html><html><head><title>T</title>${head}</head><body><main>${body}</main></body></html>`;
  return markdownOf({ path: 'guide/start.html', address: '/guide/start.html', html, ...input });
};
/** Markdown without the heading of the test page. */
const written = (body: string, options: Parameters<typeof page>[1] = {}) =>
  page(`<h1>T</h1>${body}`, options)
    .markdown.replace(/^# T\n\n?/, '')
    .trimEnd();

describe('markdownOf(), text', () => {
  it.each<[string, string, string]>([
    ['marks', '<p>a <b>bold</b> <i>word</i> and <del>old</del></p>', 'a **bold** *word* and ~~old~~'],
    ['spaces inside marks', '<p>a<strong> bold </strong>word</p>', 'a **bold** word'],
    ['nested marks', '<p><strong>a<b>b</b></strong></p>', '**ab**'],
    ['adjacent marks', '<p><b>a</b><b>b</b></p>', '**ab**'],
    ['code', '<p>run <code>a  `b`</code></p>', 'run `` a `b` ``'],
    ['adjacent code', '<p><code>a</code><code>b</code></p>', '`ab`'],
    ['a line break', '<p>a<br>b</p>', 'a\\\nb'],
    ['an image', '<p><img src="x.png" alt="A  cat"></p>', '![A cat](/guide/x.png)'],
    ['a picture in the page itself', '<p><img src="data:image/png;base64,AA" alt="A cat"></p>', 'A cat'],
    ['a power', '<p>2<sup>8</sup></p>', '2<sup>8</sup>'],
    ['a formula', '<p><math><annotation encoding="application/x-tex">a_b</annotation></math></p>', '$a_b$'],
    ['invisible characters', '<p>a\u200bb\u00adc</p>', 'abc'],
    ['entities', '<p>&lt;b&gt; &amp;amp; &copy;</p>', '\\<b> \\&amp; ©'],
    ['a heading in a link to itself', '<h2><a href="#x">X</a></h2>', '## X'],
    ['words without an element', 'one<p>two</p>three', 'one\n\ntwo\n\nthree'],
    ['a block in an unknown element', '<x-tabs><p>a</p><p>b</p></x-tabs>', 'a\n\nb'],
    ['a card', '<a href="/x"><h3>Card</h3><p>text</p></a>', '[**Card**](/x)\n\ntext'],
    ['adjacent links', '<p><a href="/x">a</a><a href="/y">b</a></p>', '[a](/x) [b](/y)'],
  ])('converts inline markup to Markdown: %s', (_, html, markdown) => {
    expect(written(html)).toBe(markdown);
  });

  it.each<[string, string]>([
    ['stars', '<p>2 * 3 * 4 and *not*</p>'],
    ['underscores', '<p>_not_ snake_case</p>'],
    ['tags', '<p>a &lt;b&gt; c</p>'],
    ['a number sign first', '<p># no heading</p>'],
    ['a number and a point', '<p>1. no list</p>'],
    ['a plus first', '<p>+ no list</p>'],
    ['a dash line', '<p>---</p>'],
    ['brackets', '<p>[no](link) [^1]</p>'],
    ['ticks', '<p>`no code`</p>'],
    ['a quote sign', '<p>&gt; no quote</p>'],
    ['bars', '<p>| a | b |<br>| --- | --- |<br>| 1 | 2 |</p>'],
    ['tildes', '<p>~~no~~ ~~~</p>'],
    ['backslashes', '<p>C:\\*dir\\</p>'],
  ])('escapes %s, so that Markdown renders it as text again', (_, html) => {
    const back = new MarkdownIt({ html: false }).render(written(html));
    expect(words(back)).toBe(words(html));
    expect(back).toMatch(/^<p>/);
    expect(back.match(/<(?!br)\w+/g)).toEqual(['<p']);
  });
});

/** Text of a paragraph without markup. */
const words = (markup: string) =>
  decodeHTML(markup.replace(/<\/?p>|<br>/g, ' '))
    .replace(/\s+/g, ' ')
    .trim();

describe('markdownOf(), links', () => {
  const link = (href: string, options: Parameters<typeof page>[1] = {}) =>
    /\]\((.*)\)|<(.*)>/.exec(written(`<p><a href="${href}">x</a></p>`, options))?.[1];

  it.each<[string, string | undefined]>([
    ['../api/', '/api/'],
    ['next.html?a=1#b', '/guide/next.html?a=1#b'],
    ['#part', '/guide/start.html#part'],
    ['https://other.example/x', 'https://other.example/x'],
    ['mailto:a@b.example', 'mailto:a@b.example'],
    ['javascript:alert(1)', undefined],
    ['vbscript:x', undefined],
  ])('converts the link %s to %s', (href, address) => {
    expect(link(href)).toBe(address);
  });

  it('resolves links with the base path, <base> and the published origin', () => {
    expect(link('next', { address: '/docs/guide/start' })).toBe('/docs/guide/next');
    const head = '<link rel="canonical" href="https://docs.acme.example/guide/start">';
    expect(link('https://docs.acme.example/api', { head })).toBe('/api');
    expect(link('#part', { head })).toBe('/guide/start#part');
    expect(link('x', { head: '<base href="/other/">' })).toBe('/other/x');
  });
});

describe('markdownOf(), code', () => {
  it.each<[string, string, string]>([
    [
      'Prism',
      '<div class="language-js codeBlockContainer_x"><pre class="prism-code language-js"><code><span class="token-line">a<br></span><span class="token-line">b<br></span></code></pre></div>',
      '```js\na\nb\n```',
    ],
    [
      'Shiki of VitePress',
      '<div class="language-ts vp-adaptive-theme"><button class="copy"></button><span class="lang">ts</span><pre class="shiki"><code><span class="line">let a</span>\n<span class="line">let b</span></code></pre></div>',
      '```ts\nlet a\nlet b\n```',
    ],
    [
      'Expressive Code',
      '<div class="expressive-code"><figure class="frame has-title"><figcaption class="header"><span class="title">a.mjs</span></figcaption><pre data-language="js"><code><div class="ec-line"><div class="code">a</div></div><div class="ec-line"><div class="code">b</div></div></code></pre><div class="copy"><button>Copy</button></div></figure></div>',
      'a.mjs\n\n```js\na\nb\n```',
    ],
    [
      'Pygments of Sphinx',
      '<div class="highlight-python3 notranslate"><div class="highlight"><pre><span></span><span class="k">def</span> a():\n    pass\n</pre></div></div>',
      '```python3\ndef a():\n    pass\n```',
    ],
    [
      'Pygments with line numbers',
      '<div class="highlight-c"><table class="highlighttable"><tbody><tr><td class="linenos"><div class="linenodiv"><pre>1\n2</pre></div></td><td class="code"><div class="highlight"><pre>a\nb\n</pre></div></td></tr></tbody></table></div>',
      '```c\na\nb\n```',
    ],
    [
      'rehype-pretty-code of Next.js',
      '<figure data-rehype-pretty-code-figure=""><pre data-language="tsx"><code data-language="tsx" style="display:grid"><span data-line="">a</span>\n<span data-line="">b</span></code></pre></figure>',
      '```tsx\na\nb\n```',
    ],
    ['highlight.js', '<pre><code class="hljs language-yaml">a: 1</code></pre>', '```yaml\na: 1\n```'],
    ['no language', '<pre>a</pre>', '```\na\n```'],
    ['the default code block of Sphinx', '<div class="highlight-default"><pre>a</pre></div>', '```\na\n```'],
    ['fences inside', '<pre><code class="language-md">```js\na\n```</code></pre>', '````md\n```js\na\n```\n````'],
  ])('converts a code block to Markdown: %s', (_, html, markdown) => {
    expect(written(html)).toBe(markdown);
  });
});

describe('markdownOf(), blocks', () => {
  it.each<[string, string, string]>([
    ['a list within a list', '<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>', '- a\n  - b\n- c'],
    ['an ordered list that begins later', '<ol start="3"><li>a</li><li>b</li></ol>', '3. a\n4. b'],
    ['items with code', '<ol><li><p>a</p><pre>x</pre></li></ol>', '1. a\n\n   ```\n   x\n   ```'],
    [
      'tasks',
      '<ul><li><input type="checkbox" checked> a</li><li><input type="checkbox"> b</li></ul>',
      '- [x] a\n- [ ] b',
    ],
    [
      'a table',
      '<table><thead><tr><th>a</th><th style="text-align:right">b</th></tr></thead><tbody><tr><td>x | <code>y|z</code></td><td>1<br>2</td></tr></tbody></table>',
      '| a | b |\n| --- | --: |\n| x \\| `y\\|z` | 1<br>2 |',
    ],
    ['a table without a head', '<table><tr><td>a</td><td>b</td></tr></table>', '|  |  |\n| --- | --- |\n| a | b |'],
    [
      'cells over several columns',
      '<table><tr><th colspan="2">a</th></tr><tr><td>b</td><td>c</td></tr></table>',
      '| a |  |\n| --- | --- |\n| b | c |',
    ],
    [
      'code in a table cell below a heading',
      '<table><thead><tr><th>a</th><th>b</th></tr></thead><tr><td><pre>x\ny</pre></td><td>1</td></tr></table>',
      '| a | b |\n| --- | --- |\n| `x`<br>`y` | 1 |',
    ],
    [
      'blocks in a cell',
      '<table><tr><th>a</th></tr><tr><td><p>b</p><ul><li>c</li><li>d</li></ul></td></tr></table>',
      '| a |\n| --- |\n| b<br>• c<br>• d |',
    ],
    ['a quote', '<blockquote><p>a</p><p>b</p></blockquote>', '> a\n>\n> b'],
    [
      'a Docusaurus admonition',
      '<div class="theme-admonition admonition_x alert alert--info"><div class="admonitionHeading_y"><svg></svg>info</div><div class="admonitionContent_z"><p>a</p></div></div>',
      '> **info**\n>\n> a',
    ],
    [
      'a VitePress container',
      '<div class="tip custom-block"><p class="custom-block-title">TIP</p><p>a</p></div>',
      '> **TIP**\n>\n> a',
    ],
    [
      'a Starlight aside',
      '<aside class="starlight-aside" aria-label="Note"><p class="starlight-aside__title" aria-hidden="true">Note</p><div><p>a</p></div></aside>',
      '> **Note**\n>\n> a',
    ],
    [
      'a Sphinx admonition',
      '<div class="admonition note"><p class="admonition-title">Note</p><p>a</p></div>',
      '> **Note**\n>\n> a',
    ],
    [
      'definitions',
      '<dl><dt>a</dt><dd>b</dd><dt><code>c</code></dt><dd><p>d</p><p>e</p></dd></dl>',
      '- **a**\n\n  b\n\n- `c`\n\n  d\n\n  e',
    ],
    ['details', '<details><summary>More</summary><p>a</p></details>', '**More**\n\na'],
    [
      'tabs',
      '<div><ul role="tablist"><li role="tab">npm</li><li role="tab">yarn</li></ul><div><div role="tabpanel"><pre>a</pre></div><div role="tabpanel" hidden><pre>b</pre></div></div></div>',
      '**npm**\n\n```\na\n```\n\n**yarn**\n\n```\nb\n```',
    ],
    [
      'footnotes',
      '<p>a<sup><a href="#fn1" id="r1" data-footnote-ref>1</a></sup></p><section data-footnotes><ol><li id="fn1"><p>b <a href="#r1">↩</a></p></li></ol></section>',
      'a[^1]\n\n[^1]: b',
    ],
    [
      'Sphinx footnotes',
      '<p>a <a class="footnote-reference brackets" href="#id2" id="id1">1</a></p><aside class="footnote brackets" id="id2" role="note"><span class="label"><span>[</span><a role="doc-backlink" href="#id1">1</a><span>]</span></span><p>b</p></aside>',
      'a [^1]\n\n[^1]: b',
    ],
    ['a rule', '<p>a</p><hr><p>b</p>', 'a\n\n---\n\nb'],
  ])('converts block markup to Markdown: %s', (_, html, markdown) => {
    expect(written(html)).toBe(markdown);
  });

  it('starts with the heading of the page, whatever its position and level', () => {
    expect(page('<p>Guides</p><h1>Start</h1><p>a</p>').markdown).toBe('# Start\n\nGuides\n\na\n');
    expect(page('<h2>T</h2><p>a</p><h3>b</h3>').markdown).toBe('# T\n\na\n\n### b\n');
    expect(page('<p>a</p>')).toMatchObject({ title: 'T', markdown: '# T\n\na\n' });
  });

  it('removes navigation, footers, permalinks and buttons around the content', () => {
    const html =
      '<nav>menu</nav><p>a</p><a class="headerlink" href="#x">¶</a><button>Copy</button><footer>foot</footer>';
    expect(written(html)).toBe('a');
  });
});

describe('markdownOf(), hostile pages', () => {
  const repeated = (text: string, times: number) => text.repeat(times);

  it.each<[string, string]>([
    ['100,000 open elements', repeated('<div>', 100_000)],
    ['50,000 open quotes', `${repeated('<blockquote>', 50_000)}x`],
    ['20,000 open lists', `${repeated('<ul><li>', 20_000)}x`],
    ['20,000 marks', `${repeated('<b><i>', 20_000)}x`],
    ['200,000 words in spans', repeated('<span>a</span>', 200_000)],
    ['100,000 bold words', repeated('<b>a</b>', 100_000)],
    ['100,000 ticks', `<code>${repeated('`', 100_000)}</code>`],
    ['runs of backticks', `<code>${Array.from({ length: 800 }, (_, at) => '`'.repeat(at)).join('a')}</code>`],
    ['a table with a million columns', `<table><tr><td colspan="1000000">a</td></tr></table>`],
    ['a wide table', `<table><tr>${repeated('<td>a', 5_000)}</tr>${repeated('<tr><td>b', 5_000)}</table>`],
    ['100,000 footnotes', repeated('<a href="#f" data-footnote-ref>1</a><li id="f" class="footnote">', 50_000)],
    ['100,000 stars', `<p>${repeated('*_', 50_000)}</p>`],
    ['100,000 open brackets', `<p>${repeated('[', 100_000)}</p>`],
  ])('converts within the time limit a page with %s', { timeout: 120_000 }, (_, html) => {
    expect(page(html).markdown.length).toBeLessThan(20 * 1024 ** 2);
  });
});
