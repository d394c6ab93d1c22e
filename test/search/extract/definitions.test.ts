import { describe, expect, it } from 'vitest';
import { extractBody, sectionsOf } from './page.ts';

const page = (content: string): { path: string; headings: string; text: string }[] =>
  sectionsOf(`<main><h1 id="top">Top</h1><p>Intro.</p>${content}</main>`).slice(1);

describe('extractPage(), cutting definitions into sections', () => {
  it('reads name, anchor and description of Sphinx objects, including nested objects', () => {
    const method =
      '<dl class="py method"><dt class="sig sig-object py" id="pkg.Client.fetch"><span class="sig-name descname"><span class="pre">fetch</span></span><span class="sig-paren">(</span><em>url</em><span class="sig-paren">)</span><a class="headerlink" href="#pkg.Client.fetch">¶</a></dt><dd><p>Brings rows.</p><dl class="field-list"><dt class="field-odd">Parameters</dt><dd><p>url – where</p></dd></dl></dd></dl>';
    expect(
      page(
        `<dl class="py class"><dt id="pkg.Client"><em class="property">class </em><span class="sig-prename descclassname">pkg.</span><span class="sig-name descname">Client</span>()</dt><dd><p>Talks.</p>${method}<p>Closes itself.</p></dd></dl><p>After.</p>`,
      ),
    ).toEqual([
      { path: '/a#pkg.Client', headings: 'Top > pkg.Client', text: 'class pkg.Client()\nTalks.\n\nCloses itself.' },
      {
        path: '/a#pkg.Client.fetch',
        headings: 'Top > pkg.Client > fetch',
        text: 'fetch(url)\nBrings rows.\n\nParameters\nurl – where',
      },
    ]);
    expect(extractBody(`<main><h1>Top</h1>${method}</main>`)?.sections.at(-1)?.names).toEqual([
      'Client.fetch',
      'pkg.Client.fetch',
    ]);
  });

  it('puts the text after a definition list into the section that contains the list', () => {
    const [own] = sectionsOf('<main><h1>Top</h1><p>1</p><dl><dt id="x">x</dt><dd>2</dd></dl><p>3</p></main>');
    expect(own?.text).toBe('1\n\n3');
  });

  it('creates a section for a heading inside a definition, and puts the text after the definition list into this section', () => {
    expect(page('<dl><dt id="x">x</dt><dd>2<h2 id="h">H</h2><p>3</p></dd></dl><p>4</p>')).toEqual([
      { path: '/a#x', headings: 'Top > x', text: 'x\n2' },
      { path: '/a#h', headings: 'Top > H', text: '3\n\n4' },
    ]);
  });

  it.each([
    ['an anchor before the name', '<dl><dt><a id="x"></a>x</dt><dd>2</dd></dl>'],
    ['a span around the name', '<dl><dt><span id="x">x</span></dt><dd>2</dd></dl>'],
    ['a named link', '<dl><dt><a name="x">x</a></dt><dd>2</dd></dl>'],
    ['a permalink to another id', '<dl><dt>x<a href="#x">¶</a></dt><dd id="x">2</dd></dl>'],
    ['a permalink around the name', '<dl><dt id="x"><a class="permalink" href="#x"><b>x</b></a></dt><dd>x 2</dd></dl>'],
    ['the list', '<dl id="x"><dt>x</dt><dd>2</dd></dl>'],
    ['the block around the list', '<section id="x"><dl><dt>x</dt><dd>2</dd></dl></section>'],
    ['a group', '<dl><div><dt id="x">x</dt><dd>2</dd></div></dl>'],
    ['details', '<details id="x"><summary>x</summary><p>2</p></details>'],
  ])('finds the anchor of %s', (_, content) => {
    const [found] = page(content);
    expect({ path: found?.path, headings: found?.headings }).toEqual({ path: '/a#x', headings: 'Top > x' });
    expect(found?.text).toMatch(/^x\s+2$/);
  });

  it.each([
    ['class foo.Bar(x, y)', 'foo.Bar'],
    ['int fetch_rows(int count)', 'fetch_rows'],
    ['char *strdup(const char *s)', 'strdup'],
    ['shared_buffers (integer)', 'shared_buffers'],
    ['timeout: number', 'timeout'],
    ['LIMIT = 10', 'LIMIT'],
    ['-o FILE, --output FILE', '-o FILE, --output FILE'],
    ['configuration directory', 'configuration directory'],
    ['Application Programming Interface (API)', 'Application Programming Interface (API)'],
    ['??', '??'],
  ])('derives from the signature "%s" the definition name "%s"', (signature, name) => {
    expect(page(`<dl><dt id="x">${signature}<a class="headerlink" href="#x">¶</a></dt><dd>2</dd></dl>`)).toEqual([
      { path: '/a#x', headings: `Top > ${name}`, text: `${signature}\n2` },
    ]);
  });

  it('creates a section for each term if several terms share one description', () => {
    const both = 'one\ntwo\n3';
    expect(page('<dl><dt id="one">one</dt><dt id="two">two</dt><dd>3</dd></dl>')).toEqual([
      { path: '/a#one', headings: 'Top > one', text: both },
      { path: '/a#two', headings: 'Top > two', text: both },
    ]);
    expect(page('<dl><dt id="one">one</dt><dt>two</dt><dd>3</dd></dl>')).toEqual([
      { path: '/a#one', headings: 'Top > one', text: both },
    ]);
  });

  it('creates no section for a term without an anchor, or for a term that is a sentence', () => {
    const sentence = 'word '.repeat(30).trim();
    const content = `<dl><dt>a</dt><dd>1</dd><dt id="s">${sentence}</dt><dd>2</dd></dl>`;
    expect(page(content)).toEqual([]);
    expect(page(`<dl><dt id="x">x</dt><dd>1</dd><dt>a</dt><dd>2</dd></dl>`)).toEqual([
      { path: '/a#x', headings: 'Top > x', text: 'x\n1' },
    ]);
  });

  it('takes time proportional to the size of the page', () => {
    const flat = '<dt>a</dt><dd>b</dd>'.repeat(100_000);
    const nested = '<dl><dt><div>'.repeat(300) + '<b>x</b>'.repeat(100_000);
    const members = '<div class="memitem"><b></b></div>'.repeat(50_000);
    const start = process.cpuUsage();
    for (const content of [`<dl>${flat}</dl>`, nested, members])
      expect(extractBody(`<main><p>1</p>${content}</main>`)).not.toBeNull();
    // Quadratic time takes minutes.
    expect(process.cpuUsage(start).user / 1e6).toBeLessThan(15);
  });

  it('keeps the text of a page that contains more definitions than the maximum number of sections', () => {
    const many = Array.from({ length: 10_050 }, (_, at) => `<dt id="d${at}">d${at}</dt><dd>text${at}</dd>`).join('');
    const [own, ...definitions] = sectionsOf(`<main><h1>Top</h1><p>1</p><dl>${many}</dl></main>`);
    expect(definitions[9_000]).toEqual({ path: '/a#d9000', headings: 'Top > d9000', text: 'd9000\ntext9000' });
    expect(own?.text).toContain('text10049');
  });
});

describe('extractPage(), reading members of documentation generators', () => {
  it.each([
    [
      'Doxygen',
      '<a id="a1"></a><h2 class="memtitle"><span class="permalink"><a href="#a1">◆ </a></span>fetch()</h2><div class="memitem"><div class="memproto"><table class="memname"><tr><td class="memname">int fetch</td></tr></table></div><div class="memdoc"><p>2</p></div></div>',
      'a1',
      'fetch()',
    ],
    [
      'older Doxygen',
      '<a class="anchor" id="a1"></a><div class="memitem"><div class="memproto"><table class="memname"><tr><td class="memname">int Client::fetch</td></tr></table></div><div class="memdoc"><p>2</p></div></div>',
      'a1',
      'Client::fetch',
    ],
    [
      'Javadoc',
      '<section class="detail" id="fetch(int)"><h3>fetch</h3><div class="member-signature">void fetch(int n)</div><div class="block">2</div></section>',
      'fetch(int)',
      'fetch',
    ],
    [
      'older Javadoc',
      '<a name="fetch-int-"><!-- --></a><ul class="blockList"><li class="blockList"><h4>fetch</h4><pre>void fetch(int n)</pre><div class="block">2</div></li></ul>',
      'fetch-int-',
      'fetch',
    ],
    [
      'rustdoc',
      '<details class="toggle method-toggle" open><summary><section id="method.fetch" class="method"><a class="src rightside" href="src.html">source</a><h4 class="code-header">pub fn <a href="#method.fetch" class="fn">fetch</a>(&amp;self)</h4></section></summary><div class="docblock"><p>2</p></div></details>',
      'method.fetch',
      'fetch',
    ],
    [
      'TypeDoc',
      '<section class="tsd-panel tsd-member"><a id="fetch" class="tsd-anchor"></a><h3 class="tsd-anchor-link"><span>fetch</span><a href="#fetch" class="tsd-anchor-icon"></a></h3><p>2</p></section>',
      'fetch',
      'fetch',
    ],
    [
      'pdoc',
      '<section id="Client.fetch"><div class="attr function"><span class="def">def</span> <span class="name">fetch</span><span class="signature">(self)</span>:</div><a class="headerlink" href="#Client.fetch"></a><div class="docstring"><p>2</p></div></section>',
      'Client.fetch',
      'fetch',
    ],
    [
      'pdoc3',
      '<dl><dt id="pkg.fetch"><code class="name flex"><span>def <span class="ident">fetch</span></span>(<span>url)</span></code></dt><dd>2</dd></dl>',
      'pkg.fetch',
      'fetch',
    ],
  ])('reads the name and anchor of a member in the markup of %s', (_, content, fragment, name) => {
    const found = page(content).find(({ path }) => path === `/a#${fragment}`);
    expect(found?.headings).toBe(`Top > ${name}`);
    expect(found?.text).toMatch(/2$/);
  });
});
