import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import { extractBody, sectionsOf } from './page.ts';

describe('extractPage(), cutting a page into sections', () => {
  it('stores the positions of code blocks', () => {
    const page = extractBody('<main><h1>T</h1><p>d</p><ul><li>e<pre>f</pre></li></ul><pre>  b\n\nc</pre></main>');
    const [{ text = '', code = [] } = {}] = page?.sections ?? [];
    expect(code.map(({ start, end }) => text.slice(start, end))).toEqual(['f', '  b\n\nc']);
  });

  it('stores no positions of code that does not fit into the text of a section', () => {
    const words = 'word '.repeat(104_857).trim();
    const [{ text = '', code = [] } = {}] =
      extractBody(`<main><h1>T</h1><p>${words}</p>${'<pre>long code</pre>'.repeat(3)}</main>`)?.sections ?? [];
    expect(code).toEqual([{ start: words.length + 2, end: text.length }]);
    expect(text.slice(code[0]?.start)).toBe('lo');
  });

  it('creates one section per heading, with the headings above it', () => {
    expect(
      sectionsOf(
        '<main><h1 id="a">A</h1><p>1</p><h2 id="b">B</h2><p>2</p><h3 id="c">C</h3><p>3</p><h2 id="d">D</h2><p>4</p></main>',
      ),
    ).toEqual([
      { path: '/a#a', headings: 'A', text: '1' },
      { path: '/a#b', headings: 'A > B', text: '2' },
      { path: '/a#c', headings: 'A > B > C', text: '3' },
      { path: '/a#d', headings: 'A > D', text: '4' },
    ]);
  });

  it('puts text before the first heading into a section without headings', () => {
    expect(sectionsOf('<main><p>1</p><h2 id="b">B</h2><p>2</p></main>')).toEqual([
      { path: '/a', headings: '', text: '1' },
      { path: '/a#b', headings: 'B', text: '2' },
    ]);
  });

  it('moves a notice that precedes the page title to the end of the section of this title', () => {
    expect(sectionsOf('<main><p>Not translated</p><h1 id="x">X</h1><p>1</p></main>')).toEqual([
      { path: '/a#x', headings: 'X', text: '1\n\nNot translated' },
    ]);
  });

  it('uses the subheadings as the section text of a heading that no text follows', () => {
    expect(
      sectionsOf('<main><h1>A</h1><p>1</p><h2 id="b">B</h2><h3>C</h3><p>2</p><h3>D</h3><p>3</p></main>')[1],
    ).toEqual({
      path: '/a#b',
      headings: 'A > B',
      text: 'C\nD',
    });
  });

  it('ignores a heading that has neither text nor subheadings', () => {
    expect(sectionsOf('<main><h1>A</h1><p>1</p><h2>B</h2></main>').map(({ headings }) => headings)).toEqual(['A']);
  });

  it('keeps a page that has only a title, with the description as text', () => {
    expect(sectionsOf('<main><h1>A</h1></main>', '<meta name="description" content="All about A.">')[0]?.text).toBe(
      'All about A.',
    );
    expect(sectionsOf('<main><h1>A</h1></main>')[0]?.text).toBe('A');
  });

  it('uses a list of links to subpages as text only if the heading has no other text', () => {
    const list = '<div class="toctree-wrapper"><ul><li><a href="b.html">B</a></li></ul></div>';
    expect(sectionsOf(`<div role="main"><h1>A</h1>${list}</div>`)[0]?.text).toBe('- B');
    expect(sectionsOf(`<div role="main"><h1>A</h1><p>1</p>${list}</div>`)[0]?.text).toBe('1');
  });

  it('uses the heading with the page title as the parent of headings of the same level', () => {
    expect(
      sectionsOf('<main><h2>SELECT</h2><p>1</p><h2>Synopsis</h2><p>2</p></main>', '<title>SELECT</title>')[1]?.headings,
    ).toBe('SELECT > Synopsis');
  });

  it.each([
    ['a note', '<div class="note"><h3>Note</h3><p>2</p></div>'],
    ['an aside', '<aside><h3>Note</h3><p>2</p></aside>'],
    ['a card that links elsewhere', '<a href="/b"><h3>Note</h3><p>2</p></a>'],
  ])('reads a heading inside %s as text', (_, inset) => {
    expect(sectionsOf(`<main><h1>A</h1><p>1</p>${inset}<p>3</p></main>`)).toEqual([
      { path: '/a', headings: 'A', text: '1\n\nNote\n\n2\n\n3' },
    ]);
  });

  it('reads a page without any heading', () => {
    expect(sectionsOf('<p>1<p>2')).toEqual([{ path: '/a', headings: '', text: '1\n\n2' }]);
  });

  it('reads a page with 100,000 open elements', () => {
    expect(extractBody('<div>'.repeat(100_000))).toBeNull();
    expect(extractBody(`<main><p>1</p>${'<b>'.repeat(100_000)}`)?.sections[0]?.text).toBe('1');
  });

  it('reads 8 MiB of hostile elements within 300 MiB of memory', { timeout: 120_000 }, async () => {
    const units = {
      'nested blocks': '<div>',
      'nested blocks with text': '<div><p>x',
      'nested lists': '<ul><li>x',
      'open formatting': '<i>a ',
      'nested tables': '<table><tr><td>x',
      'text moved out of tables': '<table><b>x',
      'table cells': '<td>x',
      attributes: '<p a b c d e f g>x</p>',
      drawings: '<svg><g>',
    };
    const module = new URL('../../../src/search/extract/extract-page.ts', import.meta.url).href;
    const worker = new Worker(
      `const { workerData, parentPort } = require('node:worker_threads');
      const extracting = import(workerData.module);
      parentPort.on('message', async (unit) => {
        const { extractPage } = await extracting;
        const html = '<title>A</title><main><h1>A</h1><p>lantern</p><table><tr>' + unit.repeat(8 * 1024 ** 2 / unit.length);
        parentPort.postMessage(extractPage({ path: 'a.html', html, url: '/a' }).sections[0].text.slice(0, 7));
      });`,
      { eval: true, workerData: { module }, resourceLimits: { maxOldGenerationSizeMb: 300 } },
    );
    for (const [name, unit] of Object.entries(units)) {
      worker.postMessage(unit);
      expect(await once(worker, 'message'), name).toEqual(['lantern']);
    }
    await worker.terminate();
  });

  it('reads a page whose wrapper element has a megabyte of classes', () => {
    const html = `<main><h1>A</h1><div class="${'a '.repeat(500_000)}">${'<p class=a>x</p>'.repeat(20_000)}</div></main>`;
    expect(extractBody(html)?.sections[0]?.text).toMatch(/^x\n\nx/);
  });

  it('limits the number of sections of a page', () => {
    const page = extractBody(`<main>${'<h2>x</h2><p>1</p>'.repeat(12_000)}</main>`);
    expect(page?.sections.length).toBe(10_000);
    expect(page?.sections.at(-1)?.text).toContain('x\n\n1\n\nx');
  });
});

describe('extractPage(), finding the fragment of a heading', () => {
  it.each([
    ['on the heading', '<h2 id="f">B</h2>'],
    ['inside the heading', '<h2><a id="f"></a>B</h2>'],
    ['as the name of a link inside the heading', '<h2><a name="f">B</a></h2>'],
    ['on the section around the heading', '<section id="f"><h2>B</h2></section>'],
    ['on a wrapper some levels up', '<div id="f"><div class="x"><div><h2>B</h2></div></div></div>'],
    ['on an anchor before the heading', '<a name="f"></a><h2>B</h2>'],
    [
      'from the permalink if there are several ids',
      '<section id="f"><span id="g"></span><h2>B<a class="headerlink" href="#f">¶</a></h2></section>',
    ],
    ['around it if a button inside has another id', '<section id="f"><h2>B <button id="copy"></button></h2></section>'],
    ['from the permalink if the id is on a later element', '<h2>B <a href="#f">#</a></h2><div id="f"></div>'],
  ])('finds the fragment of the heading %s', (_, heading) => {
    expect(sectionsOf(`<main><h1>A</h1><p>1</p>${heading}<p>2</p></main>`)[1]).toEqual({
      path: '/a#f',
      headings: 'A > B',
      text: '2',
    });
  });

  it('ignores an id that belongs to the previous text', () => {
    expect(sectionsOf('<main><h1>A</h1><div id="f">1</div><h2>B</h2><p>2</p></main>')[1]?.path).toBe('/a');
  });

  it('uses the fragment of the nearest heading above if the heading has none', () => {
    expect(sectionsOf('<main><h1 id="t">A</h1><p>1</p><h2>B</h2><p>2</p></main>')[1]?.path).toBe('/a#t');
  });

  it('keeps letters of any script, and encodes characters that are not allowed in an address', () => {
    expect(sectionsOf('<main><h2 id="安装">B</h2><p>2</p></main>')[0]?.path).toBe('/a#安装');
    expect(sectionsOf('<main><h2 id="#a b%">B</h2><p>2</p></main>')[0]?.path).toBe('/a#%23a%20b%25');
  });
});
