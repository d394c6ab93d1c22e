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

it('tells a new process nothing of a site that has left while its swap was under way', {
  timeout: 60_000,
}, async () => {
  const told: (string | null)[] = [];
  const workers = new Workers({
    count: 1,
    onRequest: () => undefined,
    onLines: () => undefined,
    onCache: () => undefined,
    onFault: ({ key }) => void told.push(key),
    shutdownMs: () => 1_000,
    onEnded: () => undefined,
  });
  onTestFinished(() => workers.stop(0));
  const start = { cacheBytes: 1024 ** 2, trustedProxies: [], socket: join(tmpdir(), 'docshelf-nowhere') };
  await workers.listen({ host: '127.0.0.1', port: 0, tls: null, start });
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
