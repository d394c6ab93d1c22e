import { readdir, readFile } from 'node:fs/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { hasChromium, whyNoChromium } from '../browser/reader.ts';
import { type OriginFile, originOf } from '../crawl/origin.ts';
import { openBench } from '../helpers/daemon.ts';
import { crawlOf, filesOfJob, sitePaths, startCrawler, storedNames } from './crawl-service.ts';
import { startAgain } from './export-service.ts';

/** Pages with hostile scripts, opened by the built program: the job ends within its limits and leaves nothing behind. */

const bench = openBench(afterEach);
const BROWSER = { sandbox: 'off', verify: 'off', pageTimeout: '3s', tabs: 2 };
const page = (script: string): string =>
  `<!doctype html><title>x</title><p>Text of the page.</p><script>${script}</script>`;

/** Scripts by path, and whether the report mentions the page. Null if that depends on the speed of the machine. */
const SCRIPTS: Readonly<Record<string, readonly [script: string, isTold: boolean | null]>> = {
  '/loops': ['for(;;){}', true],
  '/never-settles': ['let n=0;setInterval(()=>fetch("/tick?n="+n++),20)', true],
  '/grows': [
    'const f=()=>{for(let i=0;i<99;i++)document.body.append(document.createElement("p"));setTimeout(f,1)};f()',
    null,
  ],
  '/asks': ['alert(1);confirm(2);prompt(3);print();onbeforeunload=()=>"stay"', false],
  '/opens': ['for(let i=0;i<50;i++)window.open("/opened"+i)', false],
  '/posts': ['fetch("/posted",{method:"POST",body:"x"});navigator.sendBeacon("/beacon","x")', true],
  '/streams': ['new EventSource("/events");new WebSocket("ws://"+location.host+"/socket")', true],
  '/goes-on': ['setTimeout(()=>{location.href="/goes-"+"on?"+Math.random()},50)', false],
  '/works': ['new Worker(URL.createObjectURL(new Blob(["for(;;){}"])))', null],
  '/metadata': ['fetch("http://169.254."+"169.254/latest/");fetch("http://127.0.0.2:"+location.port+"/inside")', false],
  '/good': ['fetch("/go"+"od.json")', false],
};

const site = async (): ReturnType<typeof originOf> => {
  const links = Object.keys(SCRIPTS).map((path) => `<a href="${path}">x</a>`);
  const pages = Object.entries(SCRIPTS).map(([path, [script]]) => [path, page(script)] as const);
  const events: OriginFile = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write('data: x\n\n');
  };
  const origin = await originOf({
    '/': links.join(' '),
    ...Object.fromEntries(pages),
    '/good.json': { type: 'application/json', body: '{"good":true}' },
    '/events': events,
  });
  return origin;
};

/** Chromium processes of a service. */
async function browsersOf(folder: string): Promise<string[]> {
  const found: string[] = [];
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (line.includes('chrom') && line.includes(folder)) found.push(pid);
  }
  return found;
}

describe.skipIf(!hasChromium)(`hostile scripts of a crawled site${whyNoChromium}`, () => {
  test('affect only their own pages', async () => {
    const origin = await site();
    const source = crawlOf(`${origin.origin}/`, { render: 'chromium', allowAddresses: ['127.0.0.1'] });
    const service = await startCrawler(bench, source, { exportApi: { browser: BROWSER, deadline: '240s' } });
    const job = await service.ended((await service.start()).jobId);
    expect([job.status, job.error]).toEqual(['completed', null]);
    const paths = sitePaths(await filesOfJob(bench, service, job.jobId));
    const pages = Object.keys(SCRIPTS).map((path) => `${path.slice(1)}.html`);
    expect(paths).toEqual(expect.arrayContaining(['index.html', 'good.json', ...pages]));
    const { findings } = await service.report(job.jobId);
    const kinds = new Set(['not_rendered', 'request_refused']);
    const reported = new Set(
      findings.filter(({ kind }) => kinds.has(kind)).map((finding) => `/${finding.page.replace('.html', '')}`),
    );
    for (const [path, [, isTold]] of Object.entries(SCRIPTS))
      expect([path, reported.has(path)]).toEqual([path, isTold ?? reported.has(path)]);
    expect(origin.requests.filter(({ method }) => method !== 'GET')).toEqual([]);
    await expect.poll(() => browsersOf(service.daemon.folder), { timeout: 60_000 }).toEqual([]);
  }, 300_000);

  test('leave no browser running after kill -9 of the daemon, and do not prevent the job from completing after a restart', async () => {
    const gate = Promise.withResolvers<void>();
    const slow: OriginFile = async (_, response) => {
      await gate.promise;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    };
    const names = Array.from({ length: 12 }, (_, at) => `/p${at}`);
    const origin = await originOf({
      '/': names.map((name) => `<a href="${name}">x</a>`).join(' '),
      ...Object.fromEntries(names.map((name) => [name, page(`fetch("/slow"+".json?of=${name.slice(1)}")`)])),
      ...Object.fromEntries(names.map((name) => [`/slow.json?of=${name.slice(1)}`, slow])),
    });
    const exportApi = { browser: { ...BROWSER, pageTimeout: '60s' } };
    const service = await startCrawler(bench, crawlOf(`${origin.origin}/`, { render: 'chromium' }), { exportApi });
    const { jobId } = await service.start();
    const slowRequests = () => origin.requestedPaths().filter((path) => path.startsWith('/slow')).length;
    await expect.poll(slowRequests, { timeout: 60_000 }).toBeGreaterThan(0);
    expect(await browsersOf(service.daemon.folder)).not.toEqual([]);
    await service.daemon.kill();
    await expect.poll(() => browsersOf(service.daemon.folder), { timeout: 60_000 }).toEqual([]);
    gate.resolve();
    const again = await startAgain(bench, service);
    const job = await again.ended(jobId);
    expect([job.status, job.error, job.pageCount]).toEqual(['completed', null, names.length + 2]);
    for (const name of names) expect([name, origin.requestCount(name)]).toEqual([name, 1]);
    expect((await storedNames(again, 'work')).filter((path) => path.includes(jobId))).toEqual([]);
  }, 300_000);
});
