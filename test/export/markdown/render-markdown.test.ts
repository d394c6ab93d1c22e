import { describe, expect, it } from 'vitest';
import { wordsOf } from '../../../src/export/markdown/languages.ts';
import { createRenderer, slugify } from '../../../src/export/markdown/render-markdown.ts';

const renderer = createRenderer();
const render = (markdown: string, rewrite: (reference: string) => string | null = (reference) => reference) =>
  renderer.render(markdown, { words: wordsOf('en'), rewrite });
const html = (markdown: string, rewrite?: (reference: string) => string | null) => render(markdown, rewrite).html;

describe('headings of renderMarkdown()', () => {
  it('have unique fragments in the format of GitHub', () => {
    expect(["What's new?", 'A & B', 'API_v2.0 (beta)', 'Über uns', '概要', '!'].map(slugify)).toEqual([
      'whats-new',
      'a--b',
      'api_v20-beta',
      'über-uns',
      '概要',
      'section',
    ]);
    expect([...html('## A\n\n## A\n\n## A\n').matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)).toEqual([
      'a',
      'a-1',
      'a-2',
    ]);
  });

  it('have the lowest free number in their fragment if another heading already uses a numbered fragment such as a-1', () => {
    const made = html('## A\n\n## A-1\n\n## A\n\n## A\n\n## A-1\n\n## A-2\n');
    expect([...made.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id)).toEqual([
      'a',
      'a-1',
      'a-2',
      'a-3',
      'a-1-1',
      'a-2-1',
    ]);
  });

  it('have their fragments after less than 5 s of processor time on a page with 10,000 equal headings', () => {
    const { user } = process.cpuUsage();
    expect(html('## A\n\n'.repeat(10_000))).toContain(' id="a-9999"');
    expect((process.cpuUsage().user - user) / 1e6).toBeLessThan(5);
  });

  it('are in the returned list of headings, as plain text, if they have level 2 or 3 and are outside quotations', () => {
    const { headings } = render('## A *b* `c` <i>d</i>\n\n### E\n\n#### F\n\n> ## G\n');
    expect(headings).toEqual([
      { level: 2, id: 'a-b-c-d', text: 'A b c d' },
      { level: 3, id: 'e', text: 'E' },
    ]);
  });
});

describe('callouts of renderMarkdown()', () => {
  it.each(['note', 'tip', 'important', 'warning', 'caution'])('have a title for the kind %s', (kind) => {
    const made = html(`> [!${kind.toUpperCase()}]\n> Text.\n`);
    expect(made).toContain(`<div class="callout ${kind}" role="note">`);
    expect(made).toMatch(new RegExp(`</svg>${kind}</p>\\s*<p>Text\\.</p>\\s*</div>`, 'i'));
  });

  it('can have a custom title, blocks and nested callouts', () => {
    const made = html('> [!NOTE] A *title*\n>\n> - item\n>\n> > [!TIP]\n> > Inner.\n>\n> > Quoted.\n');
    expect(made).toContain('</svg>A <em>title</em></p>');
    expect(made).not.toContain('<p></p>');
    expect(made.match(/<div class="callout/g)).toHaveLength(2);
    expect(made.match(/<blockquote>/g)).toHaveLength(1);
    expect(made.match(/<div/g)).toHaveLength(made.match(/<\/div>/g)?.length ?? 0);
  });

  it('are plain quotations if the marker is unknown or not first', () => {
    expect(html('> Text\n> [!NOTE]\n')).toContain('<blockquote>');
    expect(html('> [!HINT]\n> Text\n')).toContain('<blockquote>');
  });
});

describe('lists and tables of renderMarkdown()', () => {
  it('have a checkbox for each task', () => {
    const made = html('- [ ] open\n- [x] **done**\n- [y] none\n\n1. [X] third\n');
    expect(made.match(/<input type="checkbox" disabled>/g)).toHaveLength(1);
    expect(made.match(/<input type="checkbox" disabled checked>/g)).toHaveLength(2);
    expect(made).toContain('<li>[y] none</li>');
  });

  it('align table cells with CSS classes instead of style attributes', () => {
    const made = html('| A | B |\n|:-:|--:|\n| `key.a` | 1 |\n| `key.a` | 2 |\n| two words | 3 |\n');
    expect(made).toContain('<div class="table" role="region" aria-label="Table" tabindex="0">');
    expect(made).toContain('<td class="align-right">1</td>');
    expect(made.match(/<tr id="key\.a">/g)).toHaveLength(1);
    expect(made).not.toContain('style=');
  });
});

describe('renderMarkdown() of a page with code', () => {
  it('escapes the code, and highlights it with CSS classes', () => {
    const made = html('```ts title="a<b>.ts"\nconst a = "<script>";\n```\n');
    expect(made).toContain('<span class="hljs-keyword">const</span>');
    expect(made).toContain('&lt;script&gt;');
    expect(made).toContain('<p class="code-title">a&lt;b&gt;.ts</p>');
    expect(made).toContain('data-language="ts"');
  });

  it('does not highlight code in an unknown language, or code that is too long', () => {
    expect(html('```"><img src=x>\n<b>\n```\n')).not.toMatch(/<(?:img|b)[ >]/);
    expect(html(`\`\`\`json\n${'[1],'.repeat(30_000)}\n\`\`\`\n`)).not.toContain('hljs');
    expect(html('    indented <b>\n')).toContain('indented &lt;b&gt;');
  });
});

describe('references of renderMarkdown()', () => {
  const rewrite = (reference: string) => (reference.startsWith('gone') ? null : reference.replace('.md', '.html'));

  it('are rewritten only in links, images and raw HTML', () => {
    expect(html('[a](a.md#x "t") ![p](p.md) <a\nclass=x href=b.md>b.md</a> `c.md`\n', rewrite)).toBe(
      '<p><a href="a.html#x" title="t">a</a> <img src="p.html" alt="p" loading="lazy"> <a\nclass=x href="b.html">b.md</a> <code>c.md</code></p>\n',
    );
    expect(html('<div>\n<img src=p.md>\n</div>\n', rewrite)).toBe('<div>\n<img src="p.html">\n</div>\n');
    expect(html('<video poster="p.md" src=\'v.md\' title="x.md"></video>\n', rewrite)).toBe(
      '<p><video poster="p.html" src="v.html" title="x.md"></video></p>\n',
    );
  });

  it('become text if their target was removed', () => {
    expect(html('[gone](gone.md) <a href="gone.md">too</a>\n', rewrite)).toBe('<p>gone <a >too</a></p>\n');
  });

  it('are passed to the rewrite function with decoded entities, and are written with encoded entities', () => {
    const seen: string[] = [];
    const made = html('<a href="a.md?x=1&amp;y=2">a</a>\n\n[b](<b c.md?x=1&y=2>)\n', (reference) => {
      seen.push(reference);
      return `${reference}&z="`;
    });
    expect(seen).toEqual(['a.md?x=1&y=2', 'b%20c.md?x=1&y=2']);
    expect(made).toContain('<a href="a.md?x=1&amp;y=2&amp;z=&quot;">');
  });

  it('are not rendered as links if they are script addresses', () => {
    expect(html('[x](javascript:alert(1)) <https://a.dev> guide.md www.x.dev\n')).toBe(
      '<p>[x](javascript:alert(1)) <a href="https://a.dev">https://a.dev</a> guide.md www.x.dev</p>\n',
    );
  });
});

describe('opening text in the result of renderMarkdown()', () => {
  it('is the plain text of the first paragraph', () => {
    expect(render('## H\n\n- item\n\nThe *first*\nparagraph.\n\nNext.\n').opening).toBe('The first paragraph.');
    expect(render('## H\n').opening).toBeNull();
  });
});
