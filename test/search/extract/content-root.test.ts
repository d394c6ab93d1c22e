import { describe, expect, it } from 'vitest';
import { sectionsOf } from './page.ts';

const text = 'A sentence that is long enough to be somebody’s text. '.repeat(5).trim();
const menu = `<ul>${['One', 'Two', 'Three', 'Four', 'Five', 'Six'].map((name) => `<li><a href="/${name}">${name}</a></li>`).join('')}</ul>`;

describe('extractPage(), finding the content of a page', () => {
  it.each([
    ['the main landmark', `<main><h1>T</h1><p>${text}</p></main>`],
    ['the main landmark by role', `<div role="main"><h1>T</h1><p>${text}</p></div>`],
    ['the only article in main', `<main><div>${menu}</div><article><h1>T</h1><p>${text}</p></article></main>`],
    ['an article without a landmark', `<article><h1>T</h1><p>${text}</p></article>`],
    ['a known container', `<div class="markdown-body"><h1>T</h1><p>${text}</p></div>`],
    ['the densest container', `<div id="page"><div id="middle"><h1>T</h1><p>${text}</p></div></div>`],
    ['the cell of a layout table', `<table><tr><td>${menu}</td><td><h1>T</h1><p>${text}</p></td></tr></table>`],
    ['the body of a hand-written page', `<h1>T</h1><p>${text}</p>`],
  ])('finds the content in %s', (_, content) => {
    const body = `<div class="top">${menu}</div>${content}<div class="bottom">${menu}</div>`;
    expect(sectionsOf(body).map(({ headings, text: found }) => [headings, found])).toEqual([['T', text]]);
  });

  it('uses the whole main element if this element contains several articles', () => {
    expect(sectionsOf('<main><h1>T</h1><article>a</article><article>b</article></main>')[0]?.text).toBe('a\n\nb');
  });

  it('keeps a list of links after the text if the layout of the page is unknown', () => {
    expect(sectionsOf(`<div><h1>T</h1><p>${text}</p>${menu}</div>`)[0]?.text).toContain('- Three');
  });

  it('keeps a glossary of links if the layout of the page is unknown', () => {
    const terms = Array.from({ length: 6 }, (_, n) => `<dt>T${n}</dt><dd><a href="/${n}">Meaning ${n}</a></dd>`).join(
      '',
    );
    expect(
      sectionsOf(`<div><h2>Terms</h2><div><dl>${terms}</dl></div></div>`, '<title>Terms</title>')[0]?.text,
    ).toContain('Meaning 3');
  });
});
