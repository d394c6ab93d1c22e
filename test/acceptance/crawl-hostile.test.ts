import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, test } from 'vitest';
import { type OriginFile, originOf } from '../crawl/origin.ts';
import { openBench } from '../helpers/daemon.ts';
import { crawlOf, filesOfJob, sitePaths, startCrawler } from './crawl-service.ts';

/** A site that means harm, against the built process: the job ends within its limits, and says what it left out. */

const bench = openBench(afterEach);

const PAGES_MAX = 150;
const PAGE_BYTES_MAX = 8 * 1024 ** 2;
const GB = 1024 ** 3;
const HTML = { 'content-type': 'text/html' };
const to = (location: string): OriginFile => ({ status: 302, headers: { location } });

/** Writes until nobody reads any more. */
function flood(response: ServerResponse): void {
  const chunk = Buffer.alloc(65_536, '<p>x ');
  while (!response.destroyed && response.write(chunk));
  response.once('drain', () => flood(response));
}

/** A byte now and then, for ever. */
function drip(response: ServerResponse): void {
  const timer = setInterval(() => response.write('x'), 100);
  response.once('close', () => clearInterval(timer));
}

const page = (_: unknown, response: ServerResponse, body: string): void => {
  response.writeHead(200, HTML).end(body);
};

/** Each of these pages leads to two more. */
const endless = (path: string): string => `<a href="${path}l">l</a><a href="${path}r">r</a>`;

test('a hostile site ends within its limits, and the report says what was left out', async () => {
  const bomb = gzipSync(Buffer.alloc(64 * 1024 ** 2));
  const inside = await originOf({ '/secret': 'secret of the inside' });
  bench.onEnd(() => inside.close());
  const insideUrl = `${inside.origin.replace('127.0.0.1', '127.0.0.2')}/secret`;
  const named: Record<string, OriginFile> = {
    '/': [
      '<a href="/endless/">1</a><a href="/10gb">2</a><a href="/declared">3</a><a href="/drip">4</a><img src="/10gb.png">',
      '<a href="/bomb">5</a><img src="/bomb.png"><link rel=stylesheet href="/bomb.css"><a href="/liar">6</a>',
      '<a href="/loop">7</a><img src="/metadata"><a href="/inside">9</a><a href="/file">10</a><img src="/silent.png">',
      `<img src="http://169.254.169.254/latest/"><img src="${insideUrl}"><a href="/deep">11</a>`,
      '<a href="/..%2f..%2fetc/passwd">13</a><a href="/a%00b">14</a><a href="/x\0y">15</a><a href="/%2e%2e/%2e%2e/up">16</a>',
      '<a href="/a\\..\\..\\b">17</a><a href="http://[bad">18</a><a href="http://127.0.0.1:99999/">19</a><a href="/_docshelf/manifest.json">20</a>',
      '<a href="/circle/">21</a><a href="/good">22</a>',
    ].join('\n'),
    '/10gb': (_, response) => flood(response.writeHead(200, HTML)),
    '/10gb.png': (_, response) => flood(response.writeHead(200, { 'content-type': 'image/png' })),
    '/declared': (_, response) => response.writeHead(200, { ...HTML, 'content-length': 10 * GB }).flushHeaders(),
    '/drip': (_, response) => drip(response.writeHead(200, HTML)),
    '/silent.png': () => undefined,
    '/bomb': { headers: { 'content-encoding': 'gzip' }, body: bomb },
    '/bomb.png': { type: 'image/png', headers: { 'content-encoding': 'gzip, gzip' }, body: gzipSync(bomb) },
    '/bomb.css': { type: 'text/css', headers: { 'content-encoding': 'gzip' }, body: bomb },
    '/liar': { headers: { 'content-encoding': 'gzip' }, body: 'this is no gzip' },
    '/loop': to('/loop2'),
    '/loop2': to('/loop'),
    '/metadata': to('http://169.254.169.254/latest/meta-data/'),
    '/inside': to(insideUrl),
    '/file': to('file:///etc/passwd'),
    '/deep': `${'<div>'.repeat(300_000)}<a href="/good">good</a>`,
    '/sitemap.xml': { type: 'application/xml', headers: { 'content-encoding': 'gzip' }, body: bomb },
    '/good': '<p>This page is good.',
    '/..%2f..%2fetc/passwd': '<p>1',
    '/a%00b': '<p>2',
    '/up': '<p>3',
    '/_docshelf/manifest.json': { type: 'application/json', body: '{}' },
  };
  const files = new Proxy(named, {
    get: (known, path: string): OriginFile | undefined => {
      if (path.startsWith('/endless/')) return (request, response) => page(request, response, endless(path));
      if (path.startsWith('/circle/')) return (request, response) => page(request, response, '<a href="a/b/">x</a>');
      return known[path];
    },
  });
  const site = await originOf(files);
  bench.onEnd(() => site.close());
  const limits = { pages: PAGES_MAX, pageBytes: '8MiB', requestTimeout: '2s', depth: 20 };
  const source = crawlOf(`${site.origin}/`, { limits, allowAddresses: ['127.0.0.1', '169.254.0.0/16'] });
  const service = await startCrawler(bench, source, {
    exportApi: { deadline: '50s' },
    staticExport: { limits: { fileBytes: '16MiB' } },
  });
  const job = await service.ended((await service.start()).jobId);
  expect([job.status, job.error]).toEqual(['completed', null]);

  const exported = await filesOfJob(bench, service, job.jobId);
  const paths = sitePaths(exported);
  for (const path of paths) expect(path).not.toMatch(/(?:^|\/)\.\.(?:\/|$)|\0|^\//);
  expect(paths).toEqual(
    expect.arrayContaining(['index.html', 'good.html', 'deep.html', 'up.html', 'a_b.html', '_.._.._etc/passwd.html']),
  );
  // Pages of redirects, and the one for what is missing, come on top.
  expect(paths.filter((path) => path.endsWith('.html')).length).toBeLessThanOrEqual(PAGES_MAX + 6);
  const all = Buffer.concat([...exported.values()]);
  expect(all.includes('secret of the inside') || all.includes('root:')).toBe(false);
  expect(all.length).toBeLessThan(3 * PAGE_BYTES_MAX);
  expect(inside.requests).toHaveLength(0);
  expect(site.requests.length).toBeLessThan(4 * PAGES_MAX);

  const { counts, findings } = await service.report(job.jobId);
  expect(counts.left_out).toBeGreaterThan(0);
  const details = (kind: string) =>
    findings.filter((finding) => finding.kind === kind).map(({ detail }) => detail.split(': ')[0] ?? '');
  const lost = details('not_fetched').map((url) => url.replace(site.origin, ''));
  const expected = [
    '/10gb',
    '/declared',
    '/drip',
    '/bomb',
    '/bomb.png',
    '/bomb.css',
    '/liar',
    '/silent.png',
    '/file',
    insideUrl,
    'http://169.254.169.254/latest/',
    'http://169.254.169.254/latest/meta-data/',
  ];
  expect(lost).toEqual(expect.arrayContaining(expected));
  // The daemon is as it was.
  expect((await service.daemon.status()).jobs).toMatchObject({ running: 0, queued: 0 });
});
