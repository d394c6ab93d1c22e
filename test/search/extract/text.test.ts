import { describe, expect, it } from 'vitest';
import { sectionsOf, textOf } from './page.ts';

describe('extractPage(), writing the text as a browser shows it', () => {
  it('collapses white space and separates blocks with a blank line', () => {
    expect(textOf('<p>a\n   <b>b</b>c <i>d</i></p><div>e</div>')).toBe('a bc d\n\ne');
  });

  it('writes lists item by item, including nested lists', () => {
    expect(textOf('<ul><li>a<li><p>b</p><ul><li>c</ul></ul><p>d')).toBe('- a\n- b\n- c\n\nd');
  });

  it('writes no bullet for an empty item', () => {
    expect(textOf('<ul><li></li></ul><p>a</p>')).toBe('a');
  });

  it('writes tables row by row, with separated cells', () => {
    expect(textOf('<table><thead><tr><th>a<th>b</thead><tr><td><p>1</p><p>2</p><td>3</table>')).toBe('a · b\n1 2 · 3');
  });

  it('writes no separator for a cell without text at the start of a table row', () => {
    expect(textOf('<table><tr><td><img alt="[Tip]"></td><th>Tip</th><td>a</td></tr></table>')).toBe('Tip · a');
  });

  it('keeps the line breaks in a table row that has only one cell', () => {
    expect(textOf('<table><tr><td><p>f(x) → y</p><p>Returns y.</p><pre>f(1)\n  f(2)</pre></td></tr></table>')).toBe(
      'f(x) → y\nReturns y.\nf(1)\n  f(2)',
    );
  });

  it('omits the table of contents of Doxygen, including its heading', () => {
    expect(textOf('<div class="toc"><h3>Contents</h3><ul><li><a href="#a">A</a></li></ul></div><p>b</p>')).toBe('b');
  });

  it('keeps paragraphs and headings of a page whose content element has the class of a table of contents', () => {
    expect(sectionsOf('<main class="toc"><h1>A</h1><p>b</p><h2 id="c">C</h2><p>d</p></main>')).toEqual([
      { path: '/a', headings: 'A', text: 'b' },
      { path: '/a#c', headings: 'A > C', text: 'd' },
    ]);
  });

  it('keeps the content of closed details elements and of hidden tabs', () => {
    expect(textOf('<details><summary>a</summary><p>b</p></details>')).toBe('a\n\nb');
    expect(
      textOf(
        '<ul role="tablist"><li>x</li><li>y</li></ul><div role="tabpanel">a</div><div role="tabpanel" hidden>b</div>',
      ),
    ).toBe('x y\n\na\n\nb');
  });

  it('separates the labels of adjacent tabs and buttons', () => {
    expect(textOf('<label>npm</label><input><label>yarn</label>')).toBe('npm yarn');
    expect(textOf('<a href="/x">Start</a><a href="/y">More</a>')).toBe('Start More');
  });

  it('keeps terms with their definitions', () => {
    expect(textOf('<dl><dt>a</dt><dt>b</dt><dd><p>c</p><p>d</p></dd><dt>e</dt><dd>f</dd></dl>')).toBe(
      'a\nb\nc\n\nd\n\ne\nf',
    );
  });

  it('joins words that a soft hyphen or a zero-width space splits', () => {
    expect(textOf('<p>con\u00adfig\u200bure</p>')).toBe('configure');
  });
});

describe('extractPage(), keeping code', () => {
  it('keeps line breaks and indentation of code', () => {
    expect(textOf('<p>a</p><pre><code>\nif x:\n  y()\n</code></pre><p>b</p>')).toBe('a\n\nif x:\n  y()\n\nb');
  });

  it.each([
    ['a span and a new line', '<span class="line">a</span>\n<span class="line"></span>\n<span class="line">  b</span>'],
    [
      'a block with a break',
      '<div class="token-line">a<br></div><div class="token-line"><br></div><div class="token-line">  b<br></div>',
    ],
    [
      'a block',
      '<div class="ec-line"><div class="code">a</div></div><div class="ec-line"><div class="code">\n</div></div><div class="ec-line"><div class="code">  b</div></div>',
    ],
  ])('keeps the lines of highlighters that write each line as %s', (_, code) => {
    expect(textOf(`<pre><code>${code}</code></pre>`)).toBe('a\n\n  b');
  });

  it.each([
    ['in the code', '<pre><span class="linenos">1</span>a\n<span class="linenos">2</span>b</pre>'],
    [
      'in a column',
      '<table class="highlighttable"><tr><td class="linenos"><pre>1\n2</pre></td><td class="code"><div><pre>a\nb</pre></div></td></tr></table>',
    ],
    ['next to the code', '<div><pre>a\nb</pre><div class="line-numbers-wrapper">1<br>2</div></div>'],
  ])('removes line numbers %s', (_, code) => {
    expect(textOf(code)).toBe('a\nb');
  });
});

describe('extractPage(), removing everything that is not content', () => {
  it.each([
    ['scripts', '<script>x()</script>'],
    ['styles', '<style>x{}</style>'],
    ['templates', '<template><p>x</p></template>'],
    ['noscript', '<noscript>x</noscript>'],
    ['pictures', '<svg><title>x</title></svg>'],
    ['hidden elements', '<div hidden>x</div>'],
    ['elements that styles hide', '<div style="display: none">x</div>'],
    ['elements that screen readers skip', '<span aria-hidden="true">x</span>'],
    ['elements for screen readers only', '<span class="sr-only">x</span>'],
    ['navigation', '<nav>x</nav>'],
    ['navigation by role', '<div role="navigation">x</div>'],
    ['breadcrumbs', '<ul class="breadcrumbs"><li>x</li></ul>'],
    ['the list of contents', '<div class="table-of-contents"><a href="#a">x</a></div>'],
    ['the footer', '<footer>x</footer>'],
    ['pagers', '<a rel="next" href="/b">x</a>'],
    ['edit links', '<a href="https://github.com/a/b/edit/main/x.md">x</a>'],
    ['copy buttons', '<button>x</button>'],
    ['a menu next to the text', `<aside><ul>${'<li><a href="/x">xxxx</a></li>'.repeat(6)}</ul></aside>`],
  ])('removes %s', (_, clutter) => {
    expect(textOf(`<p>a</p>${clutter}<p>b</p>`)).toBe('a\n\nb');
  });

  it('removes permalinks of headings, inside and next to the heading', () => {
    const heading =
      '<h1 id="t">T<a class="headerlink" href="#t">¶</a><a href="#t">#</a></h1><a class="sl-anchor-link" href="#t">Section T</a>';
    expect(sectionsOf(`<main>${heading}<p>1</p></main>`)).toEqual([{ path: '/a#t', headings: 'T', text: '1' }]);
  });

  it('removes the date and authors next to a title', () => {
    expect(
      sectionsOf(
        '<main><article><header><h1>T</h1><div><time>May 1</time> by X</div></header><p>1</p></article></main>',
      ),
    ).toEqual([{ path: '/a', headings: 'T', text: '1' }]);
  });

  it('keeps notes, quotations and the names of quoted people', () => {
    expect(textOf('<aside><p>a</p></aside><blockquote><p>b</p><footer>c</footer></blockquote>')).toBe('a\n\nb\n\nc');
  });

  it('keeps code samples that contain framework markup', () => {
    expect(textOf('<pre>&lt;script>self.__next_f.push([1])&lt;/script></pre>')).toBe(
      '<script>self.__next_f.push([1])</script>',
    );
  });
});
