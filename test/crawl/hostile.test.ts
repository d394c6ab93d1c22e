import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { crawlBench } from './crawl-bench.ts';
import { crawlOf, TIGHT } from './crawled-site.ts';
import type { Origin, OriginFile } from './origin.ts';

const bench = crawlBench();

/** A site whose addresses are all pages, except for files that crawls look for. */
const endless = (pageOf: (path: string) => string): Promise<Origin> =>
  bench.open(new Proxy({}, { get: (_, path: string) => (/\.(?:txt|xml)$/.test(path) ? undefined : pageOf(path)) }));

const limits = (more: object) => ({ limits: { ...crawlOf('http://x/').limits, ...more } });

describe('crawl of a hostile site', () => {
  it('stops at the page limit for endless links, and lists the omitted pages in the export report', async () => {
    let at = 0;
    const site = await endless(() => {
      at += 1;
      return `<a href="/x${at}">x</a><a href="/y${at}">y</a>`;
    });
    const crawled = await bench.home.crawl(crawlOf(`${site.origin}/`, limits({ pagesMax: 50 })));
    expect(crawled.paths.filter((path) => path.endsWith('.html'))).toHaveLength(50);
    expect(crawled.details('left_out').length).toBeGreaterThan(0);
    expect(site.requests.length).toBeLessThan(100);
  });

  it.each<[string, (path: string) => string, object, RegExp]>([
    [
      'in deeper and deeper folders',
      (path) => `<a href="${path === '/' ? '' : path}/a${path.length}">x</a>`,
      {},
      /deeper|longer/,
    ],
    [
      'in repeated folders',
      (path) => `<a href="${path === '/' ? '' : path}/a/b">x</a>`,
      {},
      /repeats the same folders/,
    ],
    [
      'with a new query in each link',
      (path) => `<a href="/p?n=${path.length}${'x'.repeat(path.length)}">x</a>`,
      { queryVariantsMax: 5 },
      /only in their query/,
    ],
    ['to a new date in each link', (path) => calendar(path), {}, /only in a date/],
    [
      'over a long chain of pages',
      (path) => `<a href="/p${Number(/\d+/.exec(path)?.[0] ?? 0) + 1}">x</a>`,
      { depthMax: 7 },
      /7 links away/,
    ],
  ])(
    'stops following an endless sequence of links %s',
    async (_, linksOf, more, why) => {
      const site = await endless(linksOf);
      const crawled = await bench.home.crawl(crawlOf(`${site.origin}/`, limits(more)));
      expect(crawled.details('left_out').some((detail) => why.test(detail))).toBe(true);
      expect(crawled.paths.filter((path) => path.endsWith('.html')).length).toBeLessThan(900);
    },
    60_000,
  );

  it('omits only endless pages, slow pages and compression bombs', async () => {
    const bomb = gzipSync(Buffer.alloc(64 * 1024 ** 2));
    const flood = (response: ServerResponse): void => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x')));
      response.once('drain', () => flood(response));
    };
    const drip = (response: ServerResponse): void => {
      const timer = setInterval(() => response.write('x'), 50);
      response.once('close', () => clearInterval(timer));
    };
    const site = await bench.open({
      '/': `<a href="/huge">1</a><a href="/declared">2</a><a href="/drip">3</a><a href="/bomb">4</a><img src="/bomb.png"><a href="/liar">5</a><a href="/good">6</a><img src="/huge.png"><img src="/silent.png"><img src="/twice.png"><link rel=stylesheet href="/bomb.css">`,
      '/huge': (_, response) => flood(response.writeHead(200, { 'content-type': 'text/html' })),
      '/huge.png': (_, response) => flood(response.writeHead(200, { 'content-type': 'image/png' })),
      '/declared': (_, response) =>
        response.writeHead(200, { 'content-type': 'text/html', 'content-length': 10 * 1024 ** 3 }).flushHeaders(),
      '/drip': (_, response) => drip(response.writeHead(200, { 'content-type': 'text/html' })),
      '/bomb': { headers: { 'content-encoding': 'gzip' }, body: bomb },
      '/bomb.png': { type: 'image/png', headers: { 'content-encoding': 'gzip' }, body: bomb },
      '/bomb.css': { type: 'text/css', headers: { 'content-encoding': 'gzip' }, body: bomb },
      '/sitemap.xml': { type: 'application/xml', headers: { 'content-encoding': 'gzip' }, body: bomb },
      '/twice.png': { type: 'image/png', headers: { 'content-encoding': 'gzip, gzip' }, body: gzipSync(bomb) },
      '/silent.png': () => undefined,
      '/liar': { headers: { 'content-encoding': 'gzip' }, body: 'this is no gzip' },
      '/good': '<p>good',
    });
    const settings = crawlOf(`${site.origin}/`, limits({ requestTimeoutMs: 1_000, pageBytesMax: 100_000 }));
    const crawled = await bench.home.crawl(settings, { options: { limits: TIGHT } });
    expect(crawled.paths).toEqual(['404.html', 'good.html', 'index.html']);
    const lost = crawled.details('not_fetched').map((detail) => new URL(detail.split(': ')[0] ?? '').pathname);
    const wanted = [
      '/bomb',
      '/bomb.css',
      '/bomb.png',
      '/declared',
      '/drip',
      '/huge',
      '/huge.png',
      '/liar',
      '/silent.png',
    ];
    expect(lost.sort()).toEqual([...wanted, '/twice.png']);
  });

  it('does not follow redirect loops, or redirects to internal addresses and metadata services', async () => {
    const inside = await bench.open({ '/secret.png': { type: 'image/png', body: 'secret' } });
    const to = (location: string): OriginFile => ({ status: 302, headers: { location } });
    const insideUrl = inside.origin.replace('127.0.0.1', '127.0.0.2');
    const crawled = await bench.crawl(
      {
        '/': `<a href="/loop">1</a><img src="/meta.png"><img src="/inside.png"><a href="/file">2</a><img src="http://169.254.169.254/latest/"><img src="/far0.png">`,
        '/loop': to('/loop2'),
        '/loop2': to('/loop'),
        '/meta.png': to('http://169.254.169.254/latest/meta-data/'),
        '/inside.png': to(`${insideUrl}/secret.png`),
        '/file': to('file:///etc/passwd'),
        ...Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`/far${n}.png`, to(`/far${n + 1}.png`)])),
      },
      { allowAddresses: ['127.0.0.1', '169.254.0.0/16'] },
    );
    expect(inside.requests).toHaveLength(0);
    expect(crawled.paths).not.toContain('_external/127.0.0.2/secret.png');
    expect([...crawled.files.values()].join('')).not.toContain('root:');
    expect(crawled.details('too_many_redirects').sort()).toEqual([
      expect.stringMatching(/\/far10\.png: more than 10 redirects, or a loop$/),
      expect.stringMatching(/\/loop2: more than 10 redirects, or a loop$/),
    ]);
    expect(crawled.paths).not.toContain('file.html');
    expect(crawled.text('_redirects')).not.toContain('file:');
    const lost = crawled.details('not_fetched').join('\n');
    for (const part of [
      '169.254.169.254/latest/meta-data/',
      '127.0.0.2',
      '/file: it redirects to an address that is not http(s)',
    ])
      expect(lost).toContain(part);
  });

  it('writes no file outside the export for addresses that contain ..', async () => {
    const crawled = await bench.crawl({
      '/': '<a href="/..%2f..%2fetc/passwd">1</a><a href="/a%00b">2</a><a href="/%2e%2e/%2e%2e/x">3</a><a href="/a\\..\\b">4</a><a href="http://[bad">5</a><a href="http://127.0.0.1:99999/">5</a><a href="/x\0y">5</a><a href="/%ff">6</a><a href="/_docshelf/manifest.json">7</a>',
      '/..%2f..%2fetc/passwd': '<p>1',
      '/a%00b': '<p>2',
      '/x': '<p>3',
      '/b': '<p>4',
      '/%ff': '<p>6',
      '/_docshelf/manifest.json': { type: 'application/json', body: '{}' },
    });
    for (const path of crawled.paths) expect(path).not.toMatch(/(?:^|\/)\.\.(?:\/|$)|\0|^\/|^_docshelf\//);
    expect(crawled.paths).toEqual([
      '%ff.html',
      '404.html',
      '_.._.._etc/passwd.html',
      '__docshelf/manifest.json',
      'a_b.html',
      'b.html',
      'index.html',
      'x.html',
    ]);
  });

  it('exports no more pages than the page limit allows from a site with a page of 100,000 links', async () => {
    const links = Array.from({ length: 100_000 }, (_, n) => `<a href="/n${n}">x</a>`).join('');
    const pages: Readonly<Record<string, string>> = {
      '/': `<a href="/deep">deep</a>${links}`,
      '/deep': `${'<div>'.repeat(50_000)}<a href="/">start</a>`,
    };
    const site = await endless((path) => pages[path] ?? '<p>one of many');
    const settings = crawlOf(`${site.origin}/`, limits({ pageBytesMax: 16 * 1024 ** 2, pagesMax: 150 }));
    const crawled = await bench.home.crawl(settings, { options: { limits: TIGHT } });
    expect(crawled.text('deep.html')).toContain('<a href="index.html">');
    expect(crawled.paths.filter((path) => path.endsWith('.html'))).toHaveLength(150);
    expect(crawled.details('left_out')).toHaveLength(100_002 - 150);
    expect(site.requests.length).toBeLessThan(300);
  });

  it('stops at the file limit of an archive', async () => {
    const pictures = Array.from({ length: 1_000 }, (_, n) => `<img src="/n${n}.png">`).join('');
    const site = await bench.open({ '/': pictures });
    const settings = crawlOf(`${site.origin}/`);
    const crawled = await bench.home.crawl(settings, { options: { limits: { ...TIGHT, entriesMax: 200 } } });
    expect(crawled.details('left_out').length).toBeGreaterThan(500);
    expect(site.requests.length).toBeLessThan(300);
  });

  it('sends no request to a metadata service, or to a private address outside allowAddresses, however the address is written', async () => {
    const inside = await bench.open({ '/a.png': { type: 'image/png', body: 'inside' } });
    const { port } = new URL(inside.origin);
    const hosts = [
      ...['169.254.169.254', '2852039166', '0xa9fea9fe', '0251.0376.0251.0376', '169.254.170.2'],
      ...['[::ffff:169.254.169.254]', '[fd00:ec2::254]', '[64:ff9b::a9fe:a9fe]'],
      ...['127.0.0.2', '[::ffff:127.0.0.2]', '2130706434'].map((host) => `${host}:${port}/a.png`),
    ];
    const redirects = hosts.map((host, at) => [`/go${at}`, { status: 302, headers: { location: `http://${host}` } }]);
    const site = await bench.open({
      '/': hosts.map((host, at) => `<img src="http://${host}"><img src="/go${at}">`).join(''),
      ...Object.fromEntries(redirects),
    });
    const allowAddresses = ['127.0.0.1', '169.254.0.0/16', 'fd00::/8', '::ffff:169.254.0.0/112'];
    const crawled = await bench.home.crawl(crawlOf(`${site.origin}/`, { allowAddresses }));
    expect(inside.requests).toHaveLength(0);
    const lost = new Set(crawled.details('not_fetched').map((detail) => detail.split(': ')[0]));
    expect(lost).toEqual(new Set(hosts.map((host) => new URL(`http://${host}`).href)));
  });
});

/** Pages of days with links to the next day. */
function calendar(path: string): string {
  const day = new Date(/\d{4}-\d\d-\d\d/.exec(path)?.[0] ?? '2026-01-01');
  const links = Array.from({ length: 40 }, (_, n) => {
    const next = new Date(day.getTime() + (n + 1) * 86_400_000).toISOString().slice(0, 10);
    return `<a href="/events/${next}">x</a>`;
  });
  return links.join('');
}
