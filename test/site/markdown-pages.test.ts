import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { prefersMarkdown } from '../../src/site/encoding.ts';
import { BodyCache, loadSiteRules, readMarkdown, SiteSnapshot } from '../../src/site/index.ts';
import { bundledMarkdownOf, markdownPathOf, pageOfMarkdown } from '../../src/site/page-paths.ts';
import { type Files, releases, serve } from './helpers.ts';

const page = (title: string, body = 'text') =>
  `<!doctype html><title>${title}</title><main><h1>${title}</h1><p>${body}</p></main>`;

const SITE: Files = {
  'index.html': page('Home'),
  'guide/start.html': page('Start', '<a href="next.html">next</a>'),
  'guide/own.html': page('Made'),
  'guide/own.md': '---\ntitle: "Own"\n---\n\n# Brought\n',
  'api/index.html': page('API', '<a href="x">x</a>'),
  'empty.html': '<div id="app"></div>',
  '404.html': page('Nothing'),
  'a.css': 'b{}',
};
const MARKDOWN = { accept: 'text/markdown' };

const server = (files: Files = SITE, form: Parameters<typeof serve>[1] = {}) =>
  serve([releases.make(files, { trailingSlash: 'always' })], { markdown: true, ...form });

describe('prefersMarkdown()', () => {
  it.each<[string | undefined, boolean]>([
    [undefined, false],
    ['', false],
    ['*/*', false],
    ['text/html', false],
    ['text/*', false],
    ['text/markdown', true],
    ['Text/Markdown; charset=utf-8', true],
    ['text/markdown, text/html;q=0.9', true],
    ['text/markdown, */*;q=0.8', true],
    ['text/markdown;q=0.5, text/*;q=0.4', true],
    ['text/markdown, text/html', true],
    ['text/markdown, text/html, */*', true],
    ['text/markdown, */*', true],
    ['text/markdown;q=0, */*', false],
    ['text/markdown;q=0', false],
    ['text/markdown;q=0.8, text/html', false],
    ['text/markdown;q=0.3, text/html;q=0.7', false],
    ['text/markdown;q=nonsense', true],
    ['text/markdownx', false],
    ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8', false],
  ])('returns whether the client prefers Markdown for the Accept header %s', (accept, wanted) => {
    expect(prefersMarkdown(accept)).toBe(wanted);
  });
});

describe('Markdown paths', () => {
  const files = new Set(['index.html', 'a.html', 'a/index.html', 'b/index.html', 'c.htm', 'd.html', 'd.md', 'b.md']);

  it.each<[string, string | null]>([
    ['index.md', 'index.html'],
    ['a.md', 'a.html'],
    ['a.html.md', 'a.html'],
    ['a/index.md', 'a/index.html'],
    ['a/index.html.md', 'a/index.html'],
    ['b.md', 'b/index.html'],
    ['c.md', 'c.htm'],
    ['.md', null],
    ['b/.md', null],
    ['x.md', null],
    ['a.html', null],
  ])('resolve %s to the HTML file %s', (path, found) => {
    expect(pageOfMarkdown(files, path)).toBe(found);
  });

  it('resolve to the Markdown file of the page if the bundle contains such a file', () => {
    expect([
      bundledMarkdownOf(files, 'd.html'),
      bundledMarkdownOf(files, 'a.html'),
      bundledMarkdownOf(files, 'b/index.html'),
    ]).toEqual(['d.md', null, 'b.md']);
    expect(markdownPathOf('a/index.html')).toBe('a/index.md');
  });
});

describe('Markdown of a page', () => {
  it('is served at its Markdown path, and at the path of the page if the client prefers Markdown', async () => {
    const { send } = server();
    for (const [target, headers] of [
      ['/guide/start.md', {}],
      ['/guide/start.html.md', {}],
      ['/guide/start', MARKDOWN],
      ['/guide/start.html', MARKDOWN],
    ] as const) {
      const answer = await send(target, headers);
      expect([target, answer.status, answer.headers.get('content-type'), answer.headers.get('vary')]).toEqual([
        target,
        200,
        'text/markdown; charset=utf-8',
        'Accept-Encoding, Accept',
      ]);
      expect(await answer.text()).toBe('# Start\n\n[next](/guide/next.html)\n');
    }
    expect(await (await send('/api.md')).text()).toContain('[x](/api/x)');
    expect(await (await send('/', MARKDOWN)).text()).toBe('# Home\n\ntext\n');
    expect(await (await send('/empty.md')).text()).toBe('');
  });

  it('is not sent for missing pages, for files that are not pages, or to clients that prefer HTML', async () => {
    const { send } = server();
    expect(await (await send('/guide/start', { accept: 'text/html, */*' })).text()).toContain('<h1>');
    expect((await send('/guide/start')).headers.get('vary')).toBe('Accept-Encoding, Accept');
    const style = await send('/a.css', MARKDOWN);
    expect([style.headers.get('content-type'), style.headers.get('vary')]).toEqual([
      'text/css; charset=utf-8',
      'Accept-Encoding',
    ]);
    expect((await send('/nothing.md')).status).toBe(404);
    expect((await send('/_docshelf/x.md')).status).toBe(404);
    expect((await send('/nothing', MARKDOWN)).status).toBe(404);
    expect((await send('/api', MARKDOWN)).status).toBe(308);
  });

  it('is the Markdown file of the bundle if the bundle contains such a file', async () => {
    const { send } = server();
    for (const [target, headers] of [
      ['/guide/own.md', {}],
      ['/guide/own', MARKDOWN],
    ] as const) {
      const answer = await send(target, headers);
      // Vary makes caches store it separately from the page.
      expect([await answer.text(), answer.headers.get('vary')]).toEqual([
        SITE['guide/own.md'],
        'Accept-Encoding, Accept',
      ]);
    }
  });

  it('has a separate entity tag, and supports HEAD, 304 and prepared responses', async () => {
    const { send, server: site } = server();
    const first = await send('/guide/start', MARKDOWN);
    const etag = first.headers.get('etag') ?? '';
    expect(etag).not.toBe((await send('/guide/start')).headers.get('etag'));
    expect((await send('/guide/start', { ...MARKDOWN, 'if-none-match': etag })).status).toBe(304);
    expect((await send('/guide/start', { 'if-none-match': etag })).status).toBe(200);
    const head = await send('/guide/start.md', {}, 'HEAD');
    expect([head.status, head.headers.get('content-length'), head.headers.get('x-robots-tag')]).toEqual([
      200,
      String((await first.text()).length),
      'noindex',
    ]);
    await send('/guide/start.md');
    await send('/guide/start');
    expect(site.fastAnswer('/guide/start.md', {})?.status).toBe(200);
    expect(site.fastAnswer('/guide/start', { accept: '*/*' })?.body?.toString()).toContain('<h1>');
    expect(site.fastAnswer('/guide/start', MARKDOWN)).toBeNull();
  });

  it('is missing if Markdown is turned off', async () => {
    const { send } = server(SITE, { markdown: false });
    expect((await send('/guide/start.md')).status).toBe(404);
    const answer = await send('/guide/start', MARKDOWN);
    expect([await answer.text(), answer.headers.get('vary')]).toEqual([SITE['guide/start.html'], 'Accept-Encoding']);
  });

  it('is not served if a _redirects rule applies to its path, but takes precedence over spaFallback', async () => {
    const release = releases.make({ ...SITE, _redirects: '/guide/start.md /elsewhere 302' });
    const { send } = serve([release], { markdown: true, spaFallback: true, rules: await loadSiteRules(release) });
    expect((await send('/guide/start.md')).headers.get('location')).toBe('/elsewhere');
    expect(await (await send('/api.md')).text()).toContain('# API');
    expect(await (await send('/anything')).text()).toContain('Home');
  });

  it('is not served, and is missing from llms.txt and llms-full.txt, if rules hide all addresses of the page', async () => {
    const release = releases.make({ ...SITE, _redirects: '/guide/* /404 404!\n/api /404 404!' });
    const { send } = serve([release], { markdown: true, rules: await loadSiteRules(release) });
    expect((await send('/guide/start.md')).status).toBe(404);
    const { send: bare } = serve([releases.make({ ...SITE, _redirects: '' })], { markdown: true });
    expect((await bare('/guide/start.md')).status).toBe(200);
    for (const list of ['/llms.txt', '/llms-full.txt']) {
      const text = await (await send(list)).text();
      expect([list, text.includes('guide/start'), /\/api(?:\/index)?\.md/.test(text)]).toEqual([list, false, true]);
    }
  });

  it('links to addresses in the base path', async () => {
    const { send } = server(SITE, { basePath: '/docs/' });
    expect(await (await send('/guide/start.md')).text()).toBe('# Start\n\n[next](/docs/guide/next.html)\n');
  });
});

const head = (title: string, rest = '', description = '') =>
  `<!doctype html><html lang="en"><head><title>${title}</title><meta name="description" content="${description}">${rest}</head>`;

const BOOK: Files = {
  'index.html': `${head('Acme', '', 'All of it.')}<main><h1>Acme</h1><a href="guide/second.html">2</a><a href="guide/first">1</a></main>`,
  'guide/index.html': `${head('The guide')}<main><h1>Guide</h1><p>g</p></main>`,
  'guide/first.html': `${head('First [one]', '', 'Of two.')}<main><h1>First</h1><p>a</p></main>`,
  'guide/second.html': `${head('Second')}<main><h1>Second</h1><p>b</p></main>`,
  'guide/hidden.html': `${head('Hidden', '<meta name="robots" content="noindex">')}<main><h1>H</h1></main>`,
  'guide/moved.html': `${head('Moved', '<meta http-equiv="refresh" content="0; url=first.html">')}`,
  'api/calls/x.html': `${head('X')}<main><h1>X</h1><p>x</p></main>`,
  'de/index.html': '<!doctype html><html lang="de"><head><title>Deutsch</title></head><main><h1>Deutsch</h1></main>',
  '404.html': head('Not found'),
};

describe('llms.txt and llms-full.txt', () => {
  const LIST = [
    '# Acme',
    '',
    '> All of it.',
    '',
    '## Pages',
    '',
    '- [Acme](/index.md): All of it.',
    '- [The guide](/guide/index.md)',
    '',
    '## The guide',
    '',
    '- [Second](/guide/second.md)',
    '- [First \\[one\\]](/guide/first.md): Of two.',
    '',
    '## Api / Calls',
    '',
    '- [X](/api/calls/x.md)',
  ];

  it('list pages by sections in the order of the navigation', async () => {
    const { send } = server(BOOK);
    const answer = await send('/llms.txt');
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
    const text = await answer.text();
    expect(text.split('\n')).toEqual(expect.arrayContaining(LIST));
    expect(text).toContain('- [Deutsch](/de/index.md)');
    expect(text).not.toMatch(/Hidden|Moved|Not found/);
  });

  it('contain all pages, and link to addresses in the base path', async () => {
    const { send } = server(BOOK, { basePath: '/docs/' });
    const text = await (await send('/llms-full.txt')).text();
    expect(text).toContain(
      '---\n\nSource: /docs/guide/second.md\n\n# Second\n\nb\n\n---\n\nSource: /docs/guide/first.md\n\n# First',
    );
    expect(text).not.toContain('# H\n');
    expect(await (await send('/llms.txt')).text()).toContain('(/docs/guide/first.md)');
  });

  it('have the configured title, even if a stored list has another title', async () => {
    const release = releases.make(BOOK);
    const headOf = async (title: string | null, name: string) =>
      (await (await serve([release], { markdown: true, title }).send(name)).text()).split('\n', 1)[0];
    for (const name of ['/llms.txt', '/llms-full.txt'])
      expect([await headOf(null, name), await headOf('Acme  Docs', name)]).toEqual(['# Acme', '# Acme Docs']);
  });

  it('are stored with the release, and support HEAD, 304 and ranges', async () => {
    const release = releases.make(BOOK);
    const send = serve([release], { markdown: true }).send;
    const first = await send('/llms-full.txt');
    const etag = first.headers.get('etag') ?? '';
    const folder = join(dirname(release.siteDir), 'markdown');
    const [name = '', ...others] = readdirSync(folder);
    expect(others).toEqual([]);
    expect(readFileSync(join(folder, name), 'utf8')).toBe(await first.text());
    const again = serve([release], { markdown: true }).send;
    expect((await again('/llms-full.txt', { 'if-none-match': etag })).status).toBe(304);
    expect(await (await again('/llms-full.txt', { range: 'bytes=0-5' })).text()).toBe('# Acme');
    expect((await again('/llms-full.txt', {}, 'HEAD')).headers.get('etag')).toBe(etag);
  });

  it('are served even if docshelf cannot store them', async () => {
    const release = releases.make(BOOK);
    const folder = join(dirname(release.siteDir), 'markdown');
    writeFileSync(folder, '');
    expect(await (await serve([release], { markdown: true }).send('/llms.txt')).text()).toContain('# Acme');
  });

  it('are the files of the bundle if the bundle contains them, and are missing if Markdown is off', async () => {
    expect(await (await server({ ...BOOK, 'llms.txt': 'own' }).send('/llms.txt')).text()).toBe('own');
    expect((await server(BOOK, { markdown: false }).send('/llms.txt')).status).toBe(404);
  });
});

describe('readMarkdown()', () => {
  it('reads a page by its file, its address and its Markdown path', async () => {
    const snapshot = new SiteSnapshot(releases.make(SITE), [], { trailingSlash: 'always' });
    const bodies = new BodyCache(1024 ** 2);
    const read = (path: string) => readMarkdown(snapshot, bodies, path);
    for (const path of ['guide/start.html', '/guide/start', 'guide/start?a#b', '/guide/start.md', 'guide/start/'])
      expect(await read(path), path).toEqual({
        page: 'guide/start.html',
        title: 'Start',
        markdown: '# Start\n\n[next](/guide/next.html)\n',
      });
    expect(await read('api')).toMatchObject({ title: 'API' });
    expect(await read('guide/own')).toMatchObject({ title: 'Own' });
    for (const path of ['nothing', 'a.css', '%', '../x', '_docshelf/manifest.json'])
      expect(await read(path), path).toBeNull();
  });
});
