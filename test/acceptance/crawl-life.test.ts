import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { type OriginFile, originOf } from '../crawl/origin.ts';
import { openBench } from '../helpers/daemon.ts';
import { crawlOf, filesOfJob, sitePaths, startCrawler, storedNames } from './crawl-service.ts';

/** Credentials, a second crawl and a canceled crawl with the built program. */

const bench = openBench(afterEach);

test('a crawl exports a site that requires a cookie, a token and a header, and sends these secrets to no other site and not to the log', async () => {
  const other = await originOf({
    '/a.png': { type: 'image/png', body: 'a' },
    '/b.png': { type: 'image/png', body: 'b' },
  });
  const page = `<!doctype html><title>x</title><img src="${other.origin}/a.png"><img src="/b.png"><a href="/in">in</a>`;
  const guarded =
    (status: number, headers: Record<string, string>, body: string): OriginFile =>
    (request, response) => {
      const { cookie, authorization, 'x-key': key } = request.headers;
      const isIn = cookie === 'session=c4n4ry; theme=dark' && authorization === 'Bearer c4n4ry-token';
      if (isIn && key === 'c4n4ry') response.writeHead(status, { 'content-type': 'text/html', ...headers }).end(body);
      else response.writeHead(401, { 'content-type': 'text/html' }).end('<p>Who are you?');
    };
  const site = await originOf({
    '/': guarded(200, {}, page),
    '/in': guarded(200, {}, '<p>in'),
    '/b.png': guarded(302, { location: `${other.origin}/b.png` }, ''),
  });
  const folder = await bench.folder();
  const [cookieFile, bearerFile] = [join(folder, 'cookie'), join(folder, 'token')];
  await writeFile(cookieFile, 'session=c4n4ry; theme=dark\n');
  await writeFile(bearerFile, 'c4n4ry-token\n');
  await writeFile(join(folder, 'headers'), 'X-Key: c4n4ry\n');
  const allowAddresses = ['127.0.0.0/8', other.host];
  const secrets = { cookieFile, bearerFile, headersFile: join(folder, 'headers') };
  const service = await startCrawler(bench, crawlOf(`${site.origin}/`, { ...secrets, allowAddresses }));
  const job = await service.export();
  const paths = sitePaths(await filesOfJob(bench, service, job.jobId));
  const external = `_external/${other.host.replace(':', '_')}`;
  expect(paths).toEqual(expect.arrayContaining(['index.html', 'in.html', `${external}/a.png`, `${external}/b.png`]));
  expect(other.requests).toHaveLength(2);
  for (const { headers } of other.requests)
    expect([headers.cookie, headers.authorization, headers['x-key']]).toEqual([undefined, undefined, undefined]);
  expect(service.daemon.log()).not.toContain('c4n4ry');
});

test('a later crawl of a site sends conditional requests, and downloads only files that have changed', async () => {
  const statuses: number[] = [];
  /** Responds with an entity tag, or with 304 if the request contains that tag. */
  const tagged =
    (type: string, body: string): OriginFile =>
    ({ headers }, response) => {
      const etag = `"${body.length}-${body.charCodeAt(body.length - 1)}"`;
      const status = headers['if-none-match'] === etag ? 304 : 200;
      statuses.push(status);
      response.writeHead(status, { 'content-type': type, etag }).end(status === 304 ? '' : body);
    };
  const files: Record<string, OriginFile> = {
    '/': tagged(
      'text/html',
      '<!doctype html><title>x</title><link rel=stylesheet href=/a.css><a href=/b>b</a><img src=/c.png>',
    ),
    '/a.css': tagged('text/css', 'p{color:red}'),
    '/b': tagged('text/html', '<p>old'),
    '/c.png': tagged('image/png', 'png'),
  };
  const site = await originOf(files);
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

test('an export job that is canceled in the middle of a crawl sends no more requests, and the next job runs', async () => {
  const gate = Promise.withResolvers<void>();
  let isOpen = false;
  const slow: OriginFile = async (_, response) => {
    if (!isOpen) await gate.promise;
    response.writeHead(200, { 'content-type': 'text/html' }).end('<p>slow');
  };
  const site = await originOf({
    '/': Array.from({ length: 50 }, (_, at) => `<a href="/s${at}">x</a>`).join(''),
    ...Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`/s${at}`, slow])),
  });
  const service = await startCrawler(bench, crawlOf(`${site.origin}/`, { concurrency: 4 }));
  const { jobId } = await service.start();
  const slowRequests = () => site.requestedPaths().filter((path) => /^\/s\d+$/.test(path)).length;
  await expect.poll(slowRequests, { timeout: 60_000 }).toBe(4);
  await service.cancel(jobId);
  expect(await service.ended(jobId)).toMatchObject({ status: 'failed', error: expect.stringContaining('cancel') });
  const requestCount = site.requests.length;
  await expect.poll(() => site.openSockets(), { timeout: 60_000 }).toBe(0);
  isOpen = true;
  gate.resolve();
  expect(site.requests).toHaveLength(requestCount);
  expect((await service.export()).pageCount).toBe(52);
});
