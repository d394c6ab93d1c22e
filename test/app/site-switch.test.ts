import { expect, it, vi } from 'vitest';
import { SiteSwitch } from '../../src/app/sites/site-switch.ts';
import type { KeptRelease, ReleaseView } from '../../src/domain/release.ts';
import { FORMS } from '../../src/serve/encoding.ts';
import type { SiteServer, SiteSnapshot } from '../../src/serve/index.ts';
import { SiteFile } from '../../src/serve/site-file.ts';

it('serves by the form that holds at the swap, where a reload came between', async () => {
  const swap = vi.fn<(snapshot: SiteSnapshot | null) => void>();
  const site = new SiteSwitch({ swap } as unknown as SiteServer, { trailingSlash: 'never', basePath: '/' });
  const entry = { path: 'a/index.html', type: 'text/html', size: 1, sha256: 'ab'.repeat(32) };
  const release = { builtFor: '/', createdAt: '2026-01-01T00:00:00Z', files: new Map([[entry.path, entry]]) };
  const commit = await site.prepare(release as unknown as ReleaseView, []);
  site.use({ trailingSlash: 'always', basePath: '/' });
  void commit();
  expect(swap.mock.lastCall?.[0]?.find('a')).toEqual({ kind: 'redirect', status: 308, location: 'a/' });
});

it('has all who follow prepared before it swaps, and is done when they are', async () => {
  const told: string[] = [];
  const swap = vi.fn<(snapshot: SiteSnapshot | null) => void>(() => void told.push('swapped here'));
  const all = Promise.withResolvers<void>();
  const site = new SiteSwitch(
    { swap } as unknown as SiteServer,
    { trailingSlash: 'never' },
    {
      prepare: async () => {
        told.push('prepared');
        return async () => {
          told.push('told');
          await all.promise;
        };
      },
      follow: async (served) => void told.push(served === null ? 'off' : 'followed'),
    },
  );
  const release = { builtFor: '/', createdAt: '2026-01-01T00:00:00Z', siteDir: '/', digest: 'd', files: new Map() };
  const commit = await site.prepare(release as unknown as ReleaseView, []);
  expect(told).toEqual(['prepared']);
  const done = commit().then(() => told.push('done'));
  await Promise.resolve();
  expect(told).toEqual(['prepared', 'swapped here', 'told']);
  all.resolve();
  await done;
  site.use({ trailingSlash: 'always' });
  await site.turnOff();
  expect(told.slice(3)).toEqual(['done', 'swapped here', 'followed', 'swapped here', 'off']);
});

it('tells of each swap with the form that it is by, also of a reload', async () => {
  const told: unknown[] = [];
  const server = { swap: () => undefined } as unknown as SiteServer;
  const site = new SiteSwitch(server, { trailingSlash: 'auto', basePath: '/' }, null, ({ active }, { basePath }) =>
    told.push([active.digest, basePath]),
  );
  const release = { builtFor: '/', createdAt: '2026-01-01T00:00:00Z', siteDir: '/', digest: 'd', files: new Map() };
  const commit = await site.prepare(release as unknown as ReleaseView, []);
  expect(told).toEqual([]);
  await commit();
  site.use({ trailingSlash: 'auto', basePath: '/docs/' });
  expect(told).toEqual([
    ['d', '/'],
    ['d', '/docs/'],
  ]);
});

it('judges by releases that come after the swap, too', async () => {
  const swap = vi.fn<(snapshot: SiteSnapshot | null) => void>();
  const site = new SiteSwitch({ swap } as unknown as SiteServer, { trailingSlash: 'never', basePath: '/' });
  const entry = { path: 'a.5b0e4cfb.js', type: 'text/javascript', size: 1, sha256: 'ab'.repeat(32) };
  const release = { builtFor: '/', createdAt: '2026-01-01T00:00:00Z', siteDir: '/', digest: 'd' };
  const active = { ...release, files: new Map([[entry.path, entry]]) };
  await (await site.prepare(active as unknown as ReleaseView, []))();
  const cacheControl = async () => {
    const found = await swap.mock.lastCall?.[0]?.find(entry.path);
    return found?.kind === 'file' && found.file instanceof SiteFile
      ? found.file.validatorHeaders(FORMS.identity)['Cache-Control']
      : null;
  };
  expect(await cacheControl()).toContain('immutable');
  const staged = { ...release, digest: 'e', servedAt: null, find: async () => ({ ...entry, sha256: 'cd'.repeat(32) }) };
  site.useOthers([staged as unknown as KeptRelease]);
  expect(await cacheControl()).toBe('no-cache');
});
