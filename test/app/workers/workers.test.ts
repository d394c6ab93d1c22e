import { once } from 'node:events';
import { readdir, readlink } from 'node:fs/promises';
import { get } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { Workers } from '../../../src/app/workers/workers.ts';

const release = {
  digest: 'd',
  version: 'v1',
  createdAt: '2026-01-01T00:00:00Z',
  siteDir: join(tmpdir(), 'docshelf-nowhere', 'site'),
  pages: 1,
  bytes: 1,
  trailingSlash: 'always',
  builtFor: '/',
} as const;
/** Of a release that cannot be read: whoever is told to build it says so. */
const ORDER = { release, older: [], form: { trailingSlash: 'auto' } } as const;

interface Opened {
  readonly workers: Workers;
  readonly port: number;
  /** Of sites that could not be built. */
  readonly told: readonly (string | null)[];
  /** Why processes have ended. */
  readonly ends: readonly string[];
}

/** Processes on a port of their own, without a daemon behind them. */
async function open(count: number, answerMsMax?: number): Promise<Opened> {
  const told: (string | null)[] = [];
  const ends: string[] = [];
  const workers = new Workers({
    count,
    onRequest: () => undefined,
    onLines: () => undefined,
    onCache: () => undefined,
    onFault: ({ key }) => void told.push(key),
    shutdownMs: () => 1_000,
    onEnded: ({ message }) => void ends.push(message),
    answerMsMax,
  });
  onTestFinished(() => workers.stop(0));
  const start = { cacheBytes: 1024 ** 2, trustedProxies: [], socket: join(tmpdir(), 'docshelf-nowhere') };
  const { port } = await workers.listen({ host: '127.0.0.1', port: 0, tls: null, start });
  return { workers, port, told, ends };
}

it('tells a new process nothing of a site that has left while its swap was under way', {
  timeout: 60_000,
}, async () => {
  const { workers, told } = await open(1);
  const route = (...domains: string[]) =>
    workers.route({
      isList: true,
      isLogged: false,
      places: domains.map((domain) => ({
        domain,
        hosts: [],
        basePath: `/${domain}/`,
        isGuarded: false,
        hasMcp: false,
      })),
    });
  await route('gone', 'kept');
  await workers.prepare('gone', ORDER);
  await expect.poll(() => told).toEqual(['gone']);
  await route('kept');
  const former = workers.running[0]?.pid ?? 0;
  process.kill(former, 'SIGKILL');
  await expect.poll(() => workers.running[0]?.pid ?? former).not.toBe(former);
  // Told after all that the new one was told at its start.
  await workers.prepare('kept', ORDER);
  await expect.poll(() => told).toContain('kept');
  expect(told).toEqual(['gone', 'kept']);
});

/** Each on a connection of its own; null where it was closed without an answer. */
function statusesOf(port: number, count: number): Promise<readonly (number | null)[]> {
  const ask = async (): Promise<number | null> => {
    const [answer] = await once(get({ host: '127.0.0.1', port, agent: false }), 'response');
    answer.resume();
    return answer.statusCode;
  };
  return Promise.all(Array.from({ length: count }, () => ask().catch(() => null)));
}

it('replaces a process that hangs, though it is told nothing; meanwhile the other answers all but one connection', {
  timeout: 60_000,
}, async () => {
  const { workers, port, ends } = await open(2, 6_000);
  const [hung = 0] = workers.running.map(({ pid }) => pid);
  expect(await statusesOf(port, 8)).toEqual(Array(8).fill(503));
  process.kill(hung, 'SIGSTOP');
  const before = await statusesOf(port, 16);
  // The one that it had in its hands is closed with it.
  expect(before.filter((status) => status === 503).length).toBeGreaterThanOrEqual(15);
  await expect.poll(() => workers.running.filter(({ pid }) => pid !== hung).length).toBe(2);
  expect(ends).toEqual([expect.stringContaining('it answered nothing for 6 s')]);
  expect(await statusesOf(port, 8)).toEqual(Array(8).fill(503));
});

it.skipIf(process.platform !== 'linux')(
  'serving processes share the connections that come at once',
  { timeout: 60_000 },
  async () => {
    const { workers, port } = await open(2);
    const socketsOf = async (pid: number): Promise<number> => {
      const names = await readdir(`/proc/${pid}/fd`);
      const files = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
      return files.filter((file) => file.startsWith('socket:')).length;
    };
    const count = (): Promise<number[]> => Promise.all(workers.running.map(({ pid }) => socketsOf(pid)));
    const before = await count();
    const shares = async () => (await count()).map((sockets, at) => sockets - (before[at] ?? 0));
    const connected = async () => (await shares()).reduce((sum, share) => sum + share, 0);
    const least: number[] = [];
    // One process may be away for a moment: the third of five bursts counts.
    for (let burst = 0; burst < 5; burst += 1) {
      const clients = Array.from({ length: 32 }, () => connect(port, '127.0.0.1'));
      onTestFinished(() => void clients.map((client) => client.destroy()));
      await expect.poll(connected, { timeout: 10_000 }).toBe(32);
      least.push(Math.min(...(await shares())));
      for (const client of clients) client.destroy();
      await expect.poll(connected, { timeout: 10_000 }).toBe(0);
    }
    expect(least.sort((one, other) => one - other)[2]).toBeGreaterThanOrEqual(11);
  },
);
