import { parse } from 'parse5';
import { describe, expect, it } from 'vitest';
import { collectMarkdown } from '../../../src/export/markdown/index.ts';
import { RecordingSink } from '../recording-sink.ts';
import { elementsOf, render, textOf, writeTree } from './render-folder.ts';

describe('links between Markdown pages', () => {
  const tree = {
    'index.md': '# Home\n',
    'a b/start.md': [
      '[1](../index.md)',
      '[2](../index.md#x)',
      '[3](/guides/)',
      '[4](/guides)',
      '[5](/guides/deep.html?q#f)',
      '[6](../guides/deep)',
      '[7](../files/a%20b.pdf)',
      '[8](/files/a%20b.pdf)',
      '[9](start.md)',
      '[10](#here)',
      '[11](https://x.dev/a.md)',
      '[12](mailto:a@x.dev)',
      '[13](../README.md)',
    ].join(' '),
    'guides/index.md': '# Guides\n',
    'guides/deep.md': '# Deep\n',
    'files/a b.pdf': 'x',
  };

  it('become relative links to the pages and files of the site, and keep their fragments', async () => {
    const site = await render(tree);
    expect(site.links('a b/start.html', 'article')).toEqual([
      '../index.html',
      '../index.html#x',
      '../guides/index.html',
      '../guides/index.html',
      '../guides/deep.html?q#f',
      '../guides/deep.html',
      '../files/a%20b.pdf',
      '../files/a%20b.pdf',
      'start.html',
      '#here',
      'https://x.dev/a.md',
      'mailto:a@x.dev',
      '../README.md',
    ]);
  });

  it('stay unchanged if their target is missing, and are listed with their page in the export report', async () => {
    const text = '[a](nope.md#x) ![b](gone.png) <a href="../out.md">c</a> [d](/docs.json)\n';
    const site = await render({ ...tree, 'guides/deep.md': text });
    expect(site.links('guides/deep.html', 'article')).toEqual(['nope.md#x', '../out.md', '/docs.json']);
    expect(site.found('broken_link').filter(({ page }) => page === 'guides/deep.md')).toEqual(
      ['nope.md#x', 'gone.png', '../out.md', '/docs.json'].map((detail) => ({
        kind: 'broken_link',
        page: 'guides/deep.md',
        detail,
      })),
    );
  });
});

describe('texts from docs.json and front matter', () => {
  const EVIL = `"><script>alert('x')</script>&amp;`;
  const ODD_NAME = `${EVIL.replaceAll('/', '')}.md`;
  const matter = (keys: readonly string[]) =>
    `---\n${keys.map((key) => `${key}: ${JSON.stringify(EVIL)}`).join('\n')}\n---\n`;

  it('are escaped on every page and in every file that contains them', async () => {
    const site = await render(
      {
        'index.md': `${matter(['title', 'sidebarTitle', 'description', 'version', 'tags'])}## Next\n\n## And\n`,
        'b.md': `# ${EVIL.replaceAll('<', '&lt;')}\n`,
        [ODD_NAME]: '# C\n',
        'fr/index.md': '# F\n',
        'docs.json': {
          name: EVIL,
          description: EVIL,
          footer: EVIL,
          languages: ['en', { code: 'fr', name: EVIL }],
          links: [{ label: EVIL, href: EVIL }],
          navigation: [
            { group: EVIL, pages: ['index', { group: EVIL, pages: ['b'] }] },
            { label: EVIL, href: EVIL },
          ],
        },
      },
      { version: EVIL },
    );
    for (const path of site.paths.filter((each) => each.endsWith('.html'))) {
      const scripts = elementsOf(parse(site.text(path))).filter(({ tagName }) => tagName === 'script');
      expect(scripts.map(textOf).join().includes('alert'), path).toBe(false);
    }
    expect(textOf(site.element('index.html', 'h1'))).toBe(EVIL);
    expect(site.meta('index.html', 'description')).toBe(EVIL);
    expect(textOf(site.element('index.html', 'footer'))).toContain(EVIL);
    expect(site.links('index.html', 'header', 'top')).toContain(EVIL);
    expect(site.text('sitemap.xml')).not.toMatch(/<(?!\/?(?:urlset|url|loc|\?xml))/);
    const icon = site.paths.find((path) => path.startsWith('assets/icon')) ?? '';
    expect(site.text(icon)).not.toContain('<script');
  });

  it('give each page a description, which is the start of the page text if the front matter has no description', async () => {
    const site = await render({ 'index.md': `# H\n\n${'word '.repeat(100)}\n` });
    const description = site.meta('index.html', 'description') ?? '';
    expect(description).toMatch(/^word .* word…$/);
    expect(description.length).toBeLessThanOrEqual(160);
  });

  it('set the title of a page, but do not replace the first heading on the page', async () => {
    const site = await render({ 'index.md': '---\ntitle: Name\n---\n# Using `x` *well*\n\nText.\n' });
    const heading = site.element('index.html', 'h1');
    expect(textOf(heading)).toBe('Using x well');
    expect(elementsOf(heading).map(({ tagName }) => tagName)).toEqual(['h1', 'code', 'em']);
    expect(textOf(site.element('index.html', 'title'))).toBe('Name');
    expect(site.meta('index.html', 'og:title')).toBe('Name');
  });
});

describe('collectMarkdown()', () => {
  it('passes pages as bytes to a sink, and other files by their path on disk', async () => {
    const dir = writeTree({ 'index.md': '# Home\n', 'logo.svg': '<svg/>' });
    const sink = new RecordingSink();
    const signal = new AbortController().signal;
    await collectMarkdown(dir, { domain: 'acme', version: 'v1', paths: null }, sink, signal);
    expect(sink.text('index.html')).toContain('<h1>Home</h1>');
    expect(sink.text('index.html')).toContain('v1');
    expect(sink.text('logo.svg')).toBe('<svg/>');
    expect(sink.shares).toEqual([1]);
    expect(sink.findings.map(({ kind }) => kind)).toEqual(['no_url']);
  });
});
