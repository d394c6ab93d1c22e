import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type Origin, type OriginFile, originOf } from '../crawl/origin.ts';
import { openBench } from '../helpers/daemon.ts';
import { crawlOf, filesOfJob, sitePaths, startCrawler, storedNames } from './crawl-service.ts';
import { type Exporter, organizations } from './export-service.ts';

/** What a crawl may ask whom for, and how often, against the built process. */

const bench = openBench(afterEach);

async function open(files: Readonly<Record<string, OriginFile>>): Promise<Origin> {
  const origin = await originOf(files);
  bench.onEnd(() => origin.close());
  return origin;
}

/** The findings of a job of that kind, their details. */
async function found(service: Exporter, jobId: string, kind: string): Promise<string[]> {
  const { findings } = await service.report(jobId);
  return findings.filter((finding) => finding.kind === kind).map(({ detail }) => detail);
}

/** Answers with an entity tag, and with 304 to whoever has it. */
const tagged =
  (type: string, body: string): OriginFile =>
  (request, response) => {
    const etag = `"${body.length}-${body.charCodeAt(body.length - 1)}"`;
    if (request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
    else response.writeHead(200, { 'content-type': type, etag }).end(body);
  };

describe('a protected site', () => {
  /** A page for those who are let in, with a picture of another host and one that leads there. */
  const guarded = async (isLetIn: (headers: NodeJS.Dict<string | string[]>) => boolean) => {
    const other = await open({
      '/a.png': { type: 'image/png', body: 'a' },
      '/b.png': { type: 'image/png', body: 'b' },
    });
    const page = `<!doctype html><title>x</title><img src="${other.origin}/a.png"><img src="/b.png"><a href="/in">in</a>`;
    const answer =
      (status: number, headers: Record<string, string>, body: string): OriginFile =>
      (request, response) => {
        if (isLetIn(request.headers)) response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(body);
        else response.writeHead(401, { 'content-type': 'text/html' }).end('<p>Who are you?');
      };
    const site = await open({
      '/': answer(200, {}, page),
      '/in': answer(200, {}, '<p>in'),
      '/b.png': answer(302, { location: `${other.origin}/b.png` }, ''),
    });
    return { site, other };
  };

  test.each<[key: string, secret: string, header: string, value: string]>([
    ['cookieFile', 'session=c4n4ry; theme=dark\n', 'cookie', 'session=c4n4ry; theme=dark'],
    ['bearerFile', 'c4n4ry-token\n', 'authorization', 'Bearer c4n4ry-token'],
  ])('is exported with a %s, which no other origin sees', async (key, secret, header, value) => {
    const { site, other } = await guarded((headers) => headers[header] === value);
    const folder = await bench.folder();
    await writeFile(join(folder, 'secret'), secret);
    const service = await startCrawler(
      bench,
      crawlOf(`${site.origin}/`, { [key]: join(folder, 'secret'), allowAddresses: ['127.0.0.0/8', other.host] }),
    );
    const job = await service.export();
    const paths = sitePaths(await filesOfJob(bench, service, job.jobId));
    const external = `_external/${other.host.replace(':', '_')}`;
    expect(paths).toEqual(expect.arrayContaining(['index.html', 'in.html', `${external}/a.png`, `${external}/b.png`]));
    expect(other.requests).toHaveLength(2);
    for (const { headers } of other.requests)
      expect([headers.cookie, headers.authorization]).toEqual([undefined, undefined]);
    expect(service.daemon.log()).not.toContain('c4n4ry');
  });

  test('is not exported without', async () => {
    const { site } = await guarded(() => false);
    const service = await startCrawler(bench, crawlOf(`${site.origin}/`));
    const job = await service.ended((await service.start()).jobId);
    expect(job).toMatchObject({ status: 'failed', error: expect.stringContaining('401') });
  });
});

describe('addresses', () => {
  test('a private one is not asked unless allowAddresses lists it', async () => {
    const site = await open({ '/': '<p>inside' });
    const service = await startCrawler(bench, crawlOf(`${site.origin}/`, { allowAddresses: [] }));
    const job = await service.ended((await service.start()).jobId);
    expect(job).toMatchObject({ status: 'failed', error: expect.stringContaining(site.host) });
    expect(site.requests).toHaveLength(0);
    await service.daemon.rewriteConfig({ organizations: organizations(crawlOf(`${site.origin}/`)) });
    await service.daemon.until(({ lastReload }) => lastReload?.ok === true);
    expect((await service.export()).pageCount).toBeGreaterThan(0);
  });

  test('what is next to the listed ones is not asked, nor the metadata services in any spelling', async () => {
    const inside = await open({ '/a.png': { type: 'image/png', body: 'inside' } });
    const { port } = new URL(inside.origin);
    const metadata = [
      '169.254.169.254',
      '2852039166',
      '0xa9fea9fe',
      '0251.0376.0251.0376',
      '[::ffff:169.254.169.254]',
      '[fd00:ec2::254]',
      '169.254.170.2',
      '[64:ff9b::a9fe:a9fe]',
    ];
    const hosts = [
      ...metadata.map((host) => `${host}/latest/meta-data/`),
      `127.0.0.2:${port}/a.png`,
      `[::ffff:127.0.0.2]:${port}/a.png`,
      `2130706434:${port}/a.png`,
    ];
    const site = await open({
      '/': hosts.map((host, at) => `<img src="http://${host}"><img src="/go${at}">`).join(''),
      ...Object.fromEntries(
        hosts.map((host, at) => [`/go${at}`, { status: 302, headers: { location: `http://${host}` } }]),
      ),
    });
    const allowAddresses = ['127.0.0.1', '169.254.0.0/16', 'fd00::/8', '::ffff:169.254.0.0/112'];
    const service = await startCrawler(bench, crawlOf(`${site.origin}/`, { allowAddresses }));
    const job = await service.export();
    expect(inside.requests).toHaveLength(0);
    const lost = new Set((await found(service, job.jobId, 'not_fetched')).map((detail) => detail.split(': ')[0]));
    const wanted = new Set(hosts.map((host) => new URL(`http://${host}`).href));
    expect(lost).toEqual(wanted);
  });
});

test('a site that has not changed is asked whether it has, and gives the same archive; of a change only that is fetched', async () => {
  const files: Record<string, OriginFile> = {
    '/': tagged(
      'text/html',
      '<!doctype html><title>x</title><link rel=stylesheet href=/a.css><a href=/b>b</a><img src=/c.png>',
    ),
    '/a.css': tagged('text/css', 'p{color:red}'),
    '/b': tagged('text/html', '<p>old'),
    '/c.png': tagged('image/png', 'png'),
  };
  const statuses: number[] = [];
  const site = await open(
    Object.fromEntries(
      Object.keys(files).map((path) => [
        path,
        ((request, response) => {
          response.on('finish', () => statuses.push(response.statusCode));
          (files[path] as (...of: unknown[]) => void)(request, response);
        }) satisfies OriginFile,
      ]),
    ),
  );
  const service = await startCrawler(bench, crawlOf(`${site.origin}/`));
  const stored = async () => [
    await storedNames(service, 'files'),
    await storedNames(service, 'bundles'),
    await storedNames(service, 'manifests'),
  ];
  const first = await service.bundle((await service.export('acme', { version: 'v1' })).jobId);
  const before = await stored();
  expect(statuses.splice(0)).toEqual([200, 200, 200, 200]);
  const second = await service.bundle((await service.export('acme', { version: 'v1' })).jobId);
  expect(statuses.splice(0)).toEqual([304, 304, 304, 304]);
  expect([second.sha256, second.sizeBytes]).toEqual([first.sha256, first.sizeBytes]);
  expect(await stored()).toEqual(before);

  files['/b'] = tagged('text/html', '<p>changed');
  const { jobId } = await service.export('acme', { version: 'v1' });
  expect(statuses.splice(0).toSorted()).toEqual([200, 304, 304, 304]);
  expect((await filesOfJob(bench, service, jobId)).get('b.html')?.toString()).toBe('<p>changed');
});

describe('robots.txt', () => {
  const files = {
    '/': '<a href="/open">1</a><a href="/closed/a">2</a><a href="/closed/yes">3</a>',
    '/robots.txt': { type: 'text/plain', body: 'User-agent: *\nDisallow: /closed/\nAllow: /closed/yes\n' },
    '/open': '<p>open',
    '/closed/a': '<p>closed',
    '/closed/yes': '<p>yes',
  };

  test('is respected, and what it forbids is in the report', async () => {
    const site = await open(files);
    const service = await startCrawler(bench, crawlOf(`${site.origin}/`));
    const { jobId } = await service.export();
    const paths = sitePaths(await filesOfJob(bench, service, jobId));
    expect(paths).toEqual(['404.html', 'closed/yes.html', 'index.html', 'open.html', 'robots.txt']);
    expect(site.asked('/closed/a')).toBe(0);
    expect(await found(service, jobId, 'left_out')).toEqual([expect.stringContaining('/closed/a')]);
  });

  test('is passed over where the source says so', async () => {
    const site = await open(files);
    const service = await startCrawler(bench, crawlOf(`${site.origin}/`, { robots: 'ignore' }));
    const { jobId } = await service.export();
    expect(sitePaths(await filesOfJob(bench, service, jobId))).toContain('closed/a.html');
  });

  test('that forbids the start page fails the job', async () => {
    const site = await open({
      ...files,
      '/robots.txt': { type: 'text/plain', body: 'User-agent: docshelf\nDisallow: /' },
    });
    const service = await startCrawler(bench, crawlOf(`${site.origin}/`));
    const job = await service.ended((await service.start()).jobId);
    expect(job).toMatchObject({ status: 'failed', error: expect.stringContaining('robots.txt') });
  });
});

test('a job that is canceled in the middle of a crawl stops asking, and the next one runs', async () => {
  const gate = Promise.withResolvers<void>();
  let isOpen = false;
  const slow: OriginFile = async (_, response) => {
    if (!isOpen) await gate.promise;
    response.writeHead(200, { 'content-type': 'text/html' }).end('<p>slow');
  };
  const site = await open({
    '/': Array.from({ length: 50 }, (_, at) => `<a href="/s${at}">x</a>`).join(''),
    ...Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`/s${at}`, slow])),
  });
  const service = await startCrawler(bench, crawlOf(`${site.origin}/`, { concurrency: 4 }));
  const { jobId } = await service.start();
  const askedSlow = () => site.askedPaths().filter((path) => /^\/s\d+$/.test(path)).length;
  await expect.poll(askedSlow, { timeout: 60_000 }).toBe(4);
  await service.cancel(jobId);
  expect(await service.ended(jobId)).toMatchObject({ status: 'failed', error: expect.stringContaining('cancel') });
  const asked = site.requests.length;
  await expect.poll(() => site.openSockets(), { timeout: 60_000 }).toBe(0);
  isOpen = true;
  gate.resolve();
  expect(site.requests).toHaveLength(asked);
  expect((await service.export()).pageCount).toBe(52);
});

test('a request for some pages gets them with what they load, and hears of those that are not there', async () => {
  const site = await open({
    '/': '<a href="/a">a</a><a href="/b/">b</a>',
    '/a': '<link rel=stylesheet href="/s.css"><a href="/c">c</a><a href="/b/#x">b</a>',
    '/b/': '<p id=x>b',
    '/c': '<p>c',
    '/s.css': { type: 'text/css', body: 'p{background:url(p.png)}' },
    '/p.png': { type: 'image/png', body: 'p' },
  });
  const service = await startCrawler(bench, crawlOf(`${site.origin}/`));
  const { jobId } = await service.export('acme', { paths: ['/a', '/b/', '/nowhere'] });
  const files = await filesOfJob(bench, service, jobId);
  expect(sitePaths(files)).toEqual(['404.html', 'a.html', 'b/index.html', 'p.png', 's.css']);
  expect(files.get('a.html')?.toString()).toContain('<a href="b/index.html#x">');
  const { findings } = await service.report(jobId);
  expect(findings).toContainEqual(expect.objectContaining({ kind: 'path_not_found', page: '/nowhere' }));
  expect(site.asked('/c')).toBe(0);
});
