import { describe, expect, it } from 'vitest';
import { layoutSitemap } from '../../../src/export/markdown/index.ts';
import type { Page } from '../../../src/export/markdown/page.ts';
import type { MarkdownSite } from '../../../src/export/markdown/read-site.ts';
import { attribute, render, renderFolder, textOf, writeTree } from './render-folder.ts';

const PLAIN = { 'index.md': '# Home\n\nHello.\n', 'guides/start.md': '---\ntitle: Start\n---\nBegin.\n' };

it('layoutSitemap() lists at most 50,000 pages, as sitemaps.org requires', () => {
  const pages = Array.from({ length: 50_001 }, (_, index) => ({ address: `p${index}`, isNoindex: false }) as Page);
  const text = layoutSitemap({ url: 'https://acme.test', pages } as unknown as MarkdownSite);
  expect(text.match(/<loc>/g)).toHaveLength(50_000);
});

describe('collectMarkdown()', () => {
  it('writes pages, their Markdown copies, assets, llms.txt, robots.txt and the sitemap', async () => {
    const site = await render(PLAIN);
    expect(site.paths.map((path) => path.replace(/\.[0-9a-f]{16}\./, '.HASH.')).sort()).toEqual([
      '404.html',
      'assets/icon.HASH.svg',
      'assets/site.HASH.css',
      'assets/site.HASH.js',
      'guides/start.html',
      'guides/start.md',
      'index.html',
      'index.md',
      'llms-full.txt',
      'llms.txt',
      'robots.txt',
      'sitemap.xml',
    ]);
    expect(site.pages).toBe(3);
  });

  it('writes the same bytes in the same order, whatever the path of the source folder', async () => {
    const [first, second] = [await render(PLAIN), await render(PLAIN)];
    expect([...second.files]).toEqual([...first.files]);
  });

  it('copies files that are not pages byte for byte, including a robots.txt file', async () => {
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    const site = await render({ ...PLAIN, 'images/a b.png': bytes, 'robots.txt': 'mine', 'data.json': '{"a":1}\r\n' });
    expect(site.files.get('images/a b.png')).toEqual(Buffer.from(bytes));
    expect(site.text('robots.txt')).toBe('mine');
    expect(site.text('data.json')).toBe('{"a":1}\r\n');
  });

  it('does not copy a file whose path is the path of a rendered page, and lists the file in the export report', async () => {
    const site = await render({ ...PLAIN, 'guides/start.html': 'old' });
    expect(site.text('guides/start.html')).toContain('Begin.');
    expect(site.found('duplicate_path')).toMatchObject([{ page: 'guides/start.html' }]);
  });

  it('renders only the first of two source files with the same page address, and lists the second in the export report', async () => {
    const site = await render({ 'index.md': '# A\n', 'x.md': '# First\n', 'x.markdown': '# Second\n' });
    expect(site.found('duplicate_path')).toHaveLength(1);
    expect(site.paths.filter((path) => path.startsWith('x.'))).toEqual(['x.html', 'x.md']);
  });

  it('uses a README as the index page if there is no index page', async () => {
    const site = await render({ 'README.md': '# Home\n', 'a/README.md': '# A\n', 'a/index.md': '# Index\n' });
    expect(site.text('index.html')).toContain('<h1>Home</h1>');
    expect(site.text('a/index.html')).toContain('<h1>Index</h1>');
    expect(site.text('a/README.html')).toContain('<h1>A</h1>');
  });

  it('writes canonical addresses and sitemap addresses without .html', async () => {
    const site = await render({
      ...PLAIN,
      'guides/index.md': '# Guides\n',
      'docs.json': { url: 'https://x.dev/docs/' },
    });
    const canonical = (path: string) =>
      attribute(site.elements(path, 'link').find((each) => attribute(each, 'rel') === 'canonical') as never, 'href');
    expect(['index.html', 'guides/index.html', 'guides/start.html'].map(canonical)).toEqual([
      'https://x.dev/docs/',
      'https://x.dev/docs/guides/',
      'https://x.dev/docs/guides/start',
    ]);
    expect([...site.text('sitemap.xml').matchAll(/<loc>(.*?)<\/loc>/g)].map(([, url]) => url)).toEqual([
      'https://x.dev/docs/',
      'https://x.dev/docs/guides/',
      'https://x.dev/docs/guides/start',
    ]);
    expect(site.text('robots.txt')).toContain('Sitemap: https://x.dev/docs/sitemap.xml');
  });

  it('uses a placeholder for canonical addresses if no URL is configured, and states this in the export report', async () => {
    const site = await render(PLAIN);
    expect(site.text('sitemap.xml')).toContain('<loc>https://acme.example/</loc>');
    expect(site.found('no_url')).toHaveLength(1);
  });

  it('links each page to its Markdown copy, which has title and description but no front matter', async () => {
    const site = await render({ 'index.md': '---\ntitle: Home\ndescription: All of it.\n---\nText.\n' });
    const alternate = site.elements('index.html', 'link').find((each) => attribute(each, 'type') === 'text/markdown');
    expect([attribute(alternate as never, 'rel'), attribute(alternate as never, 'href')]).toEqual([
      'alternate',
      'index.md',
    ]);
    expect(site.text('index.md')).toBe('# Home\n\n> All of it.\n\nText.\n');
  });

  it('lists the pages in llms.txt, and writes llms-full.txt only if the whole text is small', async () => {
    const site = await render({
      'index.md': '---\ndescription: One.\n---\n# Home [x]\n',
      'guides/a b.md': '# A\n',
      'secret.md': '---\nnoindex: true\n---\n# Secret\n',
      'docs.json': { name: 'Acme', description: 'About.' },
    });
    expect(site.text('llms.txt')).toBe(
      '# Acme\n\n> About.\n\n## Docs\n\n- [Home \\[x\\]](index.md): One.\n\n## Guides\n\n- [A](guides/a%20b.md)\n',
    );
    expect(site.text('llms-full.txt')).toBe('# Home [x]\n\n> One.\n\n\n\n# A\n\n\n');
    const large = await render({ 'index.md': `# Home\n\n${'word '.repeat(300_000)}\n` });
    expect(large.files.has('llms-full.txt')).toBe(false);
  });

  it('sets robots to noindex on pages with noindex, and omits these pages from the sitemap', async () => {
    const site = await render({ 'index.md': '# Home\n', 'secret.md': '---\nnoindex: true\n---\n# Secret\n' });
    expect([site.meta('secret.html', 'robots'), site.meta('index.html', 'robots')]).toEqual(['noindex', null]);
    expect(site.text('sitemap.xml')).not.toContain('secret');
  });

  it('writes language, version and tags to the meta elements that search tools read', async () => {
    const site = await render(
      { 'index.md': '---\ntags: [a, b c]\n---\n# Home\n', 'old.md': '---\nversion: 1.10\n---\n# Old\n' },
      { version: 'v2' },
    );
    const facts = (path: string) =>
      ['docsearch:language', 'docsearch:version', 'keywords'].map((name) => site.meta(path, name));
    expect(facts('index.html')).toEqual(['en', 'v2', 'a, b c']);
    expect(facts('old.html')).toEqual(['en', '1.10', null]);
  });

  it('writes a 404 page that works at any depth', async () => {
    const site = await render({ ...PLAIN, 'docs.json': { url: 'https://x.dev/docs', name: 'X' } });
    expect(site.meta('404.html', 'robots')).toBe('noindex');
    expect(site.elements('404.html', 'style')).toHaveLength(1);
    expect(site.elements('404.html', 'script').map((each) => attribute(each, 'src'))).toEqual([null]);
    const relative = site.links('404.html').filter((href) => !/^(?:\/docs\/|#)/.test(href ?? ''));
    expect(relative).toEqual([]);
  });

  it('uses the 404.md page of the folder, with links that work at any depth', async () => {
    const site = await render({ ...PLAIN, '404.md': '# Lost\n\nGo [on](guides/start.md).\n' });
    expect(textOf(site.element('404.html', 'h1'))).toBe('Lost');
    expect(site.links('404.html', 'article')).toEqual(['/guides/start.html']);
    expect(site.files.has('404.md')).toBe(false);
    expect(site.text('sitemap.xml')).not.toContain('404');
  });

  it('redirects the root to the first page if there is no home page', async () => {
    const site = await render({ 'b/two.md': '# Two\n', 'a/one.md': '# One\n' });
    expect(site.text('index.html')).toContain('content="0; url=a/one.html"');
    expect(site.pages).toBe(4);
  });

  it('uses favicon, logo and stylesheet of the folder, and lists each missing one in the export report', async () => {
    const docs = { logo: 'logo.svg', favicon: 'none.png', css: '/own.css' };
    const site = await render({
      ...PLAIN,
      'logo.svg': '<svg/>',
      'favicon.ico': 'i',
      'own.css': 'a{}',
      'docs.json': docs,
    });
    const links = site.elements('guides/start.html', 'link').map((each) => attribute(each, 'href'));
    expect(links).toEqual(expect.arrayContaining(['../favicon.ico', '../own.css']));
    expect(attribute(site.element('guides/start.html', 'img', 'logo'), 'src')).toBe('../logo.svg');
    expect(site.found('missing_file')).toMatchObject([{ detail: expect.stringContaining('none.png') }]);
  });

  it('omits pages that are not requested, but writes all files that are not pages', async () => {
    const tree = {
      ...PLAIN,
      'a.md': '# A\n\n[b](b.md), [home](index.md)\n',
      'b.md': '# B\n',
      'c.md': '# C\n',
      'x.png': 'x',
    };
    const paths = ['/a', 'c.html', '/guides/start.md', '/nowhere'];
    const site = await render(tree, { paths });
    const pages = site.paths.filter((path) => /\.html$/.test(path));
    expect(pages).toEqual(['404.html', 'a.html', 'c.html', 'guides/start.html', 'index.html']);
    expect(site.text('index.html')).toContain('http-equiv="refresh"');
    expect(site.files.has('x.png')).toBe(true);
    expect(textOf(site.element('a.html', 'article'))).toContain('b, home');
    expect(site.links('a.html', 'article')).toEqual([]);
    expect(site.found('path_not_found')).toMatchObject([{ page: '/nowhere' }]);
    expect(site.found('broken_link')).toEqual([]);
  });

  it('rejects a folder without pages, and a selection of paths that contain no page', async () => {
    await expect(render({ 'x.txt': 'x' })).rejects.toMatchObject({ code: 'bad_source' });
    await expect(render(PLAIN, { paths: ['/none'] })).rejects.toMatchObject({ code: 'bad_source' });
    await expect(renderFolder('/nowhere/at/all')).rejects.toMatchObject({ code: 'bad_source' });
  });

  it('omits drafts, hidden folders, node_modules and MDX files', async () => {
    const site = await render({
      ...PLAIN,
      '.git/HEAD': 'x',
      'node_modules/p/README.md': '# P\n',
      'guide.mdx': '<X/>',
      'todo.md': '---\ndraft: true\n---\n# Todo\n',
    });
    expect(site.paths.filter((path) => /git|node_modules|mdx|todo/.test(path))).toEqual([]);
    expect(site.found('left_out').map(({ page }) => page)).toEqual(expect.arrayContaining(['guide.mdx', 'todo.md']));
    expect(site.found('left_out').filter(({ page }) => page.includes('node_modules'))).toEqual([]);
  });

  it('stops when aborted', async () => {
    const dir = writeTree(PLAIN);
    const stop = new AbortController();
    const reason = new Error('enough');
    const run = renderFolder(dir, { signal: stop.signal, onProgress: () => stop.abort(reason) });
    await expect(run).rejects.toBe(reason);
  });

  it('passes the number of rendered pages to onProgress', async () => {
    const seen: [number, number][] = [];
    await render(PLAIN, { onProgress: (done: number, total: number) => seen.push([done, total]) });
    expect(seen).toEqual([
      [1, 2],
      [2, 2],
    ]);
  });
});
