import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { type IncomingHttpHeaders, request } from 'node:http';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { hash } from 'bcryptjs';
import { afterEach, describe, expect, test } from 'vitest';
import { isRunning } from '../../src/files/owner.ts';
import { makeCertificate } from '../helpers/certificates.ts';
import { type ConfigFile, type DaemonProcess, openBench, waitFor } from '../helpers/daemon.ts';
import { runs } from '../helpers/runs.ts';
import { SiteClient } from '../helpers/site-client.ts';
import { askHttp1, askHttp2, openHttp2, shakeHands } from '../http/tls/tls-client.ts';
import { bundle, folderOf } from './bundles.ts';

const bench = openBench(afterEach);
const JUNE = '2024-06-01';
const JULY = '2024-07-01';
const TOKEN = 'a-long-random-token';
const CONNECTIONS = 8;

const longPage = (mark: string): Record<string, string> => ({
  'long.html': `<!doctype html><title>${mark}</title>${`<p>${mark}</p>`.repeat(2000)}`,
});

interface Started {
  readonly folder: string;
  readonly daemon: DaemonProcess;
}

/** Two versions on the shelf, the first pinned. */
async function start(config: ConfigFile = {}): Promise<Started> {
  const folder = await bench.folder();
  await folderOf(join(folder, 'bundles'), {
    'docs-2024-06-01.tar.gz': bundle('june', { ...longPage('june'), 'only-june.3f7a91c2.js': 'june' }),
    'docs-2024-07-01.tar.gz': bundle('july', { ...longPage('july'), 'only-july.8c1d02ee.js': 'july' }),
  });
  const pinned = { staticExport: { version: JUNE }, server: { workers: 2 }, log: { access: false } };
  const daemon = await bench.start({ admin: { token: TOKEN }, ...pinned, ...config }, { folder });
  await daemon.untilServing(JUNE);
  await daemon.until(({ versions }) => versions.length === 2);
  return { folder, daemon };
}

const pidsOf = async (daemon: DaemonProcess): Promise<number[]> =>
  (await daemon.status()).workers.map(({ pid }) => pid);

/** Waits for two processes, none of which is this one. */
const untilReplaced = (daemon: DaemonProcess, gone: number) =>
  daemon.until(({ workers }) => workers.length === 2 && workers.every(({ pid }) => pid !== gone));

interface Load {
  readonly failures: string[];
  count: number;
  readonly seen: Set<string>;
  end(): Promise<void>;
}

/** Asks on connections that are kept, until it is ended. */
function loadOn(daemon: DaemonProcess, isStopped = (): boolean => false): Load {
  const client = new SiteClient(daemon.site, CONNECTIONS);
  bench.onEnd(() => client.close());
  let isOver = false;
  const load = { failures: [] as string[], count: 0, seen: new Set<string>(), end: async () => {} };
  const lane = async (): Promise<void> => {
    for (let at = 0; !isOver; at++) {
      try {
        const { status, body } = await client.get(at % 2 === 0 ? '/' : '/long');
        const marks = new Set(body.toString().match(/june|july/g));
        if (status !== 200 || marks.size !== 1) load.failures.push(`${status}: ${[...marks].join()}`);
        for (const mark of marks) load.seen.add(mark);
      } catch (error) {
        const { code, isReused } = error as NodeJS.ErrnoException & { isReused?: boolean };
        // Nobody listens any more, or has taken the connection: that is the end, and no request was lost.
        if (code === 'ECONNREFUSED' || (isStopped() && code === 'ECONNRESET' && isReused === false)) return;
        load.failures.push(String(error));
      }
      load.count++;
    }
  };
  const lanes = Promise.all(Array.from({ length: CONNECTIONS }, lane));
  load.end = async () => {
    isOver = true;
    await lanes;
  };
  return load;
}

const untilAsked = async (load: Load, more = 50): Promise<void> => {
  const from = load.count;
  await waitFor(
    () => (load.count >= from + more ? true : null),
    () => `no more than ${load.count} requests: ${load.failures.join('; ')}`,
  );
};

interface Told {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

interface Question {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

function ask(origin: string, { method = 'GET', path, headers = {}, body }: Question): Promise<Told> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const sent = request({
      hostname,
      port,
      path,
      method,
      headers: { host: 'docs.test', 'x-request-id': 'asked', ...headers },
      agent: false,
    });
    sent.on('error', reject).on('response', (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject);
      response.on('end', () => {
        const { date: _, 'x-request-id': id, ...rest } = response.headers;
        expect(id).toBe('asked');
        resolve({ status: response.statusCode ?? 0, headers: rest, body: Buffer.concat(chunks).toString('latin1') });
      });
    });
    sent.end(body);
  });
}

const CLOSED = { host: 'closed.test' };
const BASIC = `Basic ${Buffer.from('ada:right').toString('base64')}`;
const REPORT = JSON.stringify({ 'csp-report': { 'blocked-uri': 'https://elsewhere.test/x.js' } });
const CONDITION = { 'if-none-match': '*' };

const QUESTIONS: readonly Question[] = [
  { path: '/open/' },
  { path: '/open/', headers: { 'accept-encoding': 'gzip' } },
  { path: '/open/long', headers: { 'accept-encoding': 'br' } },
  { path: '/open/long', headers: { range: 'bytes=10-29' } },
  { path: '/open/long', headers: { range: 'bytes=9999999-' } },
  { path: '/open/long', headers: CONDITION },
  { path: '/open/long', headers: { 'if-match': '"other"' } },
  { method: 'HEAD', path: '/open/guides/start' },
  { method: 'POST', path: '/open/guides/start', body: 'x' },
  { method: 'OPTIONS', path: '/open/' },
  { path: '/open/guides/start/?q=1' },
  { path: '/open/guides' },
  { path: '/open?x=1' },
  { path: '/open/moved' },
  { path: '/open/nowhere' },
  { path: '/open/nowhere.js' },
  { path: '/open/%zz' },
  { path: '/open/_docshelf/features.json' },
  { path: '/open/_docshelf/search?q=june' },
  { path: '/open/_docshelf/search' },
  { path: '/open/_docshelf/manifest.json' },
  { path: '/open/%5fdocshelf/search?q=june' },
  { method: 'POST', path: '/open/_docshelf/csp-report', body: REPORT },
  { method: 'POST', path: '/open/_docshelf/csp-report', body: 'x'.repeat(40_000) },
  { method: 'POST', path: '/open/_docshelf/csp-report', body: REPORT, headers: { expect: '100-continue' } },
  { path: '/closed/', headers: CLOSED },
  { path: '/closed/', headers: { ...CLOSED, authorization: BASIC } },
  { path: '/closed/', headers: { ...CLOSED, authorization: BASIC, ...CONDITION } },
  { path: '/closed/nowhere', headers: { ...CLOSED, authorization: BASIC } },
  { path: '/closed/', headers: { ...CLOSED, authorization: 'Basic YWRhOndyb25n' } },
  { path: '/closed/', headers: { ...CLOSED, 'x-docshelf-peer': '127.0.0.1' } },
  { path: '/empty/' },
  { path: '/off/' },
  { path: '/' },
  { path: '/_docshelf/search?q=june' },
  { path: '/elsewhere' },
];

describe('a site in two processes', () => {
  test('is answered as by one, address for address', async () => {
    const folder = await bench.folder();
    await writeFile(join(folder, 'users'), `ada:${await hash('right', 4)}\n`);
    const files = { ...longPage('june'), _redirects: '/moved /guides/start 302\n' };
    for (const domain of ['open', 'closed']) {
      await folderOf(join(folder, 'bundles', domain), { 'docs-2024-06-01.tar.gz': bundle('june', files) });
    }
    const site = (domain: string, more: ConfigFile = {}): ConfigFile => ({
      ...{ domain, basePath: `/${domain}`, staticExport: { enabled: true } },
      ...more,
    });
    const closed = site('closed', { hosts: ['closed.test'], auth: { kind: 'basic', usersFile: 'users' } });
    const off = site('off', { staticExport: { enabled: false } });
    const config = { staticExport: null, sites: [site('open'), closed, site('empty'), off], search: {} };
    const answers: (readonly [Question, Told])[][] = [];
    for (const workers of [1, 2]) {
      const more = { server: { workers }, storage: { dir: `./data-${workers}` } };
      const daemon = await bench.start({ ...config, ...more }, { folder });
      await daemon.until(
        ({ sites = [] }) =>
          sites.filter(({ state, search }) => state === 'ready' && search?.keyword === 'ready').length === 2,
      );
      const told: (readonly [Question, Told])[] = [];
      // The second time it is prepared; and a process of two has answered each.
      for (let round = 0; round < 3; round++) {
        for (const each of QUESTIONS) told.push([each, await ask(daemon.site, each)]);
      }
      answers.push(told);
      await daemon.stop();
    }
    expect(answers[1]).toEqual(answers[0]);
  });

  test('loses what one of them had in its hands as it is killed, and no more; another takes its place', async () => {
    const { daemon } = await start();
    const load = loadOn(daemon);
    await untilAsked(load);
    const [first = 0] = await pidsOf(daemon);
    process.kill(first, 'SIGKILL');
    const { notices } = await untilReplaced(daemon, first);
    expect(notices).toContainEqual(expect.stringMatching(/^A serving process has ended .*SIGKILL/));
    await untilAsked(load, 200);
    await load.end();
    // A connection has one request in flight, or a next one that finds it closed.
    expect(load.failures.length).toBeLessThanOrEqual(CONNECTIONS);
    expect(load.failures.every((each) => /ECONNRESET|socket hang up|aborted/.test(each))).toBe(true);
    expect(await (await fetch(`${daemon.admin}/metrics`)).text()).toMatch(/^docshelf_worker_ends_total 1$/m);
  });

  test('lives on, without a word, whatever reports are sent to it', async () => {
    const { daemon } = await start();
    const pids = await pidsOf(daemon);
    for (let at = 0; at < 12; at++) {
      const path = '/_docshelf/csp-report';
      const told = ask(daemon.site, { method: 'POST', path, body: 'x'.repeat(200_000) });
      // The connection may be closed while the rest is on its way.
      expect(
        await told.then(
          ({ status }) => status,
          () => 413,
        ),
      ).toBe(413);
    }
    for (let at = 0; at < 12; at++) await ask(daemon.site, { path: '/_docshelf/features.json' });
    expect(await pidsOf(daemon)).toEqual(pids);
    expect(await (await fetch(`${daemon.admin}/metrics`)).text()).toMatch(/^docshelf_worker_ends_total 0$/m);
    expect(daemon.log()).not.toMatch(/Warning|TypeError/);
  });

  test('is unready while none of them runs', async () => {
    const { daemon } = await start();
    const readiness = async () => (await fetch(`${daemon.admin}/readyz`)).json();
    const reason = await waitFor(
      async () => {
        for (const pid of await pidsOf(daemon)) endAtOnce(pid);
        const { ready, reason } = (await readiness()) as { ready: boolean; reason: string };
        return ready ? null : reason;
      },
      () => daemon.log(),
    );
    expect(reason).toBe('no serving process runs');
    await daemon.until(({ workers }) => workers.length === 2);
    expect(await readiness()).toEqual({ ready: true, reason: null });
  });

  test('loses nothing over swaps, reloads and processes that are replaced in their turn', async () => {
    const { daemon } = await start();
    const load = loadOn(daemon);
    const swaps = runs(10);
    for (let swap = 1; swap <= swaps; swap++) {
      const [version, mark] = swap % 2 === 1 ? [JULY, 'july'] : [JUNE, 'june'];
      await untilAsked(load, 20);
      await daemon.rewriteConfig({
        staticExport: { version },
        server: { workers: 2, headers: { set: { 'X-Swap': `${swap}` } } },
      });
      await daemon.untilServing(version);
      // All have made it once it is told: each answer is of a new connection.
      for (let at = 0; at < 4; at++) expect((await ask(daemon.site, { path: '/' })).body).toContain(mark);
      await daemon.until(({ lastReload }) => lastReload?.ok === true);
      if (swap % 2 === 0) continue;
      const [oldest = 0] = await pidsOf(daemon);
      process.kill(oldest, 'SIGTERM');
      await untilReplaced(daemon, oldest);
    }
    const { headers } = await ask(daemon.site, { path: '/' });
    expect(headers['x-swap']).toBe(`${swaps}`);
    await untilAsked(load);
    await load.end();
    expect(load.failures).toEqual([]);
    expect([...load.seen].sort()).toEqual(['july', 'june']);
    expect((await daemon.status()).notices).toEqual([]);
  }, 600_000);

  test('ends what it was asked when it is told to stop, and ends with 0', async () => {
    const { daemon } = await start();
    let isStopped = false;
    const load = loadOn(daemon, () => isStopped);
    await untilAsked(load);
    const pids = await pidsOf(daemon);
    isStopped = true;
    expect(await daemon.stop()).toBe(0);
    await load.end();
    expect(load.failures).toEqual([]);
    expect(pids.some(isThere)).toBe(false);
  });

  test('leaves no process where the daemon is killed', async () => {
    const { daemon } = await start();
    const pids = await pidsOf(daemon);
    expect(pids).toHaveLength(2);
    await daemon.kill();
    await waitFor(
      () => (pids.some(isThere) ? null : true),
      () => 'a process lives on',
    );
  });

  test('is counted and logged once, whoever answers', async () => {
    const { daemon } = await start({ log: { access: true } });
    const paths = ['/', '/', '/long', '/nowhere', '/_docshelf/features.json'];
    for (const path of paths) for (let at = 0; at < 4; at++) await ask(daemon.site, { path });
    const metrics = await (await fetch(`${daemon.admin}/metrics`)).text();
    expect(metrics).toMatch(/^docshelf_http_requests_total\{listener="site",class="2xx"\} 16$/m);
    expect(metrics).toMatch(/^docshelf_http_requests_total\{listener="site",class="4xx"\} 4$/m);
    expect(metrics).toMatch(/^docshelf_http_request_duration_seconds_count\{listener="site"\} 20$/m);
    expect(metrics).toMatch(/^docshelf_workers 2$/m);
    await waitFor(
      () => (linesOf(daemon).length === 20 ? true : null),
      () => daemon.log(),
    );
    expect(linesOf(daemon)[0]).toMatchObject({ path: '/', status: 200, version: JUNE, remoteAddress: '127.0.0.1' });
  });

  test('answers by a certificate over HTTP/1.1 and HTTP/2, and by a new one once it is there', async () => {
    const folder = await bench.folder();
    await folderOf(join(folder, 'bundles'), { 'docs-2024-06-01.tar.gz': bundle('june') });
    const put = async (name: string): Promise<void> => {
      const { cert, key } = makeCertificate({ names: [name, '127.0.0.1'] });
      await writeFile(join(folder, 'tls.crt'), cert);
      await writeFile(join(folder, 'tls.key'), key);
    };
    await put('first.test');
    const server = { workers: 2, tls: { certFile: 'tls.crt', keyFile: 'tls.key', hsts: '1d' } };
    const daemon = await bench.start({ server }, { folder });
    await daemon.untilServing(JUNE);
    const port = Number(new URL(daemon.site).port);
    const session = openHttp2(port);
    for (let at = 0; at < 4; at++) {
      for (const path of ['/', '/_docshelf/features.json', '/nowhere']) {
        const status = path === '/nowhere' ? 404 : 200;
        expect(await askHttp1(port, { path })).toMatchObject({ status });
        const told = await askHttp2(session, { path });
        expect(told).toMatchObject({ status, headers: { 'strict-transport-security': 'max-age=86400' } });
      }
    }
    session.destroy();
    // Processes take turns: a session of one is resumed by the other.
    const first = connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false });
    const [ticket] = await once(first, 'session');
    first.destroy();
    const isResumed = async (): Promise<boolean> => {
      const socket = await shakeHands(port, { session: ticket });
      const isReused = socket.isSessionReused();
      socket.destroy();
      return isReused;
    };
    for (let at = 0; at < 4; at++) expect(await isResumed()).toBe(true);
    await put('second.test');
    // New connections come to both.
    for (let at = 0; at < 2; at++) {
      await waitFor(
        async () => ((await nameAt(port)) === 'second.test' ? true : null),
        () => 'it presents the former certificate',
      );
    }
    expect(await isResumed()).toBe(false);
    expect(await daemon.stop()).toBe(0);
  });
});

async function nameAt(port: number): Promise<string> {
  const socket = await shakeHands(port);
  const name = socket.getPeerCertificate().subject.CN;
  socket.destroy();
  return String(name);
}

const isThere = (pid: number): boolean => isRunning(pid, null);

const linesOf = (daemon: DaemonProcess) => daemon.lines().filter(({ event }) => event === 'request');

/** One that has ended in between is no fault. */
function endAtOnce(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
