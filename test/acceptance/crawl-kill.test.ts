import { randomBytes } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { type Origin, type OriginFile, originOf } from '../crawl/origin.ts';
import { startS3Server, storeAt } from '../export/stores/s3-server.ts';
import { openBench, waitFor } from '../helpers/daemon.ts';
import { httpServer, type LocalServer } from '../helpers/local-server.ts';
import { sha256Of } from './bundles.ts';
import { crawlOf, filesOfJob, journaledPaths, sitePaths, startCrawler, storedNames } from './crawl-service.ts';
import { type Exporter, startAgain } from './export-service.ts';

/** Kills the service during a crawl, packing, and an upload. The next service completes the same job. */

const bench = openBench(afterEach);
const PAGES = 120;
const PICTURES = 24;
/** Incompressible bytes, so that packing takes long. */
const PICTURE_BYTES = 1024 ** 2;

/** A site whose server does not respond while it is closed. */
interface GatedSite {
  readonly origin: Origin;
  /** Number of responses before the server closes. */
  closeAfter(answers: number): void;
  /** Addresses of all responses, with repetitions. */
  readonly answered: readonly string[];
  open(): void;
}

async function gatedSite(pictureBytes = 64): Promise<GatedSite> {
  const answered: string[] = [];
  let left = Number.POSITIVE_INFINITY;
  let gate = Promise.withResolvers<void>();
  const gated =
    (type: string, body: string | Buffer): OriginFile =>
    async (request, response) => {
      if (left <= 0) await gate.promise;
      else left -= 1;
      if (response.destroyed) return;
      answered.push(request.url ?? '');
      response.writeHead(200, { 'content-type': type }).end(body);
    };
  const files: Record<string, OriginFile> = {};
  for (let at = 0; at < PAGES; at++) {
    const links = [at + 1, (at * 7) % PAGES].map((to) => `<a href="/p${to % PAGES}">to ${to}</a>`).join(' ');
    files[`/p${at}`] = gated(
      'text/html',
      `<!doctype html><title>${at}</title>${links}<img src="/i${at % PICTURES}.png">`,
    );
  }
  for (let at = 0; at < PICTURES; at++) files[`/i${at}.png`] = gated('image/png', randomBytes(pictureBytes));
  files['/'] = gated(
    'text/html',
    Object.keys(files)
      .filter((path) => path.startsWith('/p'))
      .map((path) => `<a href="${path}">x</a>`)
      .join(''),
  );
  const origin = await originOf(files);
  return {
    origin,
    answered,
    closeAfter: (answers) => {
      left = answers;
      gate = Promise.withResolvers();
    },
    open: () => {
      left = Number.POSITIVE_INFINITY;
      gate.resolve();
    },
  };
}

const EXPECTED = [
  '404.html',
  'index.html',
  ...Array.from({ length: PAGES }, (_, at) => `p${at}.html`),
  ...Array.from({ length: PICTURES }, (_, at) => `i${at}.png`),
].sort();

async function expectWhole(service: Exporter, jobId: string): Promise<void> {
  const job = await service.ended(jobId);
  expect([job.status, job.error, job.pageCount]).toEqual(['completed', null, PAGES + 2]);
  const files = await filesOfJob(bench, service, jobId);
  expect(sitePaths(files)).toEqual(EXPECTED);
  const { jobs } = await service.jobs();
  expect(jobs.map((each) => each.jobId)).toEqual([jobId]);
}

test('an export job completes after kill -9 of the daemon at three moments of the crawl, and requests no stored page again', async () => {
  const site = await gatedSite();
  let due = 20;
  site.closeAfter(due);
  let service = await startCrawler(bench, crawlOf(`${site.origin.origin}/`));
  const { jobId } = await service.start();
  for (const more of [30, 40, Number.POSITIVE_INFINITY]) {
    await waitFor(
      async () => {
        const written = await journaledPaths(service);
        return site.answered.length === due && site.answered.every((path) => written.has(path)) ? true : null;
      },
      () => `${site.answered.length} are answered`,
    );
    await service.daemon.kill();
    site.open();
    site.closeAfter(more);
    due += more;
    service = await startAgain(bench, service);
  }
  await expectWhole(service, jobId);
  expect(site.answered).toHaveLength(new Set(site.answered).size);
});

test.each<[what: string, isThere: (paths: readonly string[]) => boolean]>([
  ['packing', (paths) => paths.some((path) => path.includes('/bundle'))],
  ['the check before packing', (paths) => paths.some((path) => path.includes('/site/'))],
])(
  'an export job completes after kill -9 of the daemon in a phase after the crawl, without another request to the site: during %s',
  async (_, isThere) => {
    const site = await gatedSite(PICTURE_BYTES);
    const service = await startCrawler(bench, crawlOf(`${site.origin.origin}/`));
    const { jobId } = await service.start();
    await waitFor(
      async () => (isThere(await storedNames(service, 'work')) ? true : null),
      () => 'it never comes so far',
    );
    await service.daemon.kill();
    const requestCount = site.origin.requests.length;
    expect(new Set(site.answered).size).toBe(PAGES + PICTURES + 1);
    const again = await startAgain(bench, service);
    await expectWhole(again, jobId);
    expect(site.origin.requests.length).toBe(requestCount);
    await expect.poll(() => storedNames(again, 'work'), { timeout: 60_000 }).toEqual([]);
  },
);

test('an export job completes after kill -9 of the daemon during an upload to S3, and its bundle link serves the whole bundle', async () => {
  const site = await gatedSite(PICTURE_BYTES);
  const s3 = await startS3Server();
  const gate = await gatedUploads(s3.endpoint);
  const exportApi = { store: storeAt(gate.server.origin) };
  const service = await startCrawler(bench, crawlOf(`${site.origin.origin}/`), { exportApi });
  const { jobId } = await service.start();
  await gate.arrived;
  await service.daemon.kill();
  const requestCount = site.origin.requests.length;
  gate.open();
  const again = await startAgain(bench, service);
  await expectWhole(again, jobId);
  const { bundleUrl, sha256, sizeBytes } = await again.bundle(jobId);
  const bytes = await again.download(bundleUrl);
  expect([sha256Of(bytes), bytes.length]).toEqual([sha256, sizeBytes]);
  expect(site.origin.requests.length).toBe(requestCount);
});

/** Proxy of an S3 service. It delays uploads from the second part on until it is opened. */
async function gatedUploads(endpoint: string): Promise<{ server: LocalServer; arrived: Promise<void>; open(): void }> {
  const arrived = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  let uploads = 0;
  const server = await httpServer(async (request, response) => {
    if (request.method === 'PUT') uploads += 1;
    if (uploads > 1 && request.method === 'PUT') {
      arrived.resolve();
      await gate.promise;
    }
    const { method, headers, url = '' } = request;
    const options = { method: method ?? 'GET', headers };
    const forward = httpRequest(new URL(url, endpoint), options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    forward.on('error', () => response.destroy());
    request.pipe(forward);
  });
  return { server, arrived: arrived.promise, open: gate.resolve };
}
