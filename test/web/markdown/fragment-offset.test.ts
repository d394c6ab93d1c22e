import { describe, expect, it } from 'vitest';
import { fragmentOffset } from '../../../src/web/markdown/fragment-offset.ts';

const textFrom = (html: string, fragment: string, markdown: string): string =>
  markdown.slice(fragmentOffset(html, fragment, markdown) ?? 0);

describe('fragmentOffset()', () => {
  it('ignores the addresses of links, because the page does not show them', () => {
    const item = (name: string): string =>
      `<section id="method.${name}"><a href="/src/lib.rs#1">source</a><h4>fn ${name}()</h4></section>`;
    const made = (name: string): string => `[source](/src/lib.rs#1)\n\n#### fn ${name}()\n\n`;
    const markdown = made('open') + made('close');
    expect(textFrom(item('open') + item('close'), 'method.close', markdown)).toBe(made('close'));
  });

  it('ignores an anchor inside of a code block', () => {
    const html = '<h1 id="top">Title</h1><p>See:</p><pre>&lt;h1 id="top"&gt;</pre>';
    expect(textFrom(html, 'top', '# Title\n\nSee:\n\n```html\n<h1 id="top">\n```\n')).toMatch(/^# Title/);
  });

  it('finds an anchor after a code block', () => {
    const html = '<pre>a</pre><h2 id="x">Same</h2><p>1</p>';
    expect(textFrom(html, 'x', '## Same\n\n```\na\n```\n\n## Same {#x}\n\n1\n')).toBe('## Same {#x}\n\n1\n');
  });

  it('searches text with 200,000 lines in less than a second, even if many lines resemble the section', () => {
    const startedMs = performance.now();
    expect(fragmentOffset(`<h1 id="x">a</h1><p>${'a'.repeat(300)}`, 'x', 'a\n](\n'.repeat(100_000))).toBe(0);
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });
});
