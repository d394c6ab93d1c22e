import { expect, it, vi } from 'vitest';
import { SiteSwitch } from '../../src/app/sites/site-switch.ts';
import type { ReleaseView } from '../../src/domain/release.ts';
import type { SiteServer, SiteSnapshot } from '../../src/serve/index.ts';

it('serves by the form that holds at the swap, where a reload came between', () => {
  const swap = vi.fn<(snapshot: SiteSnapshot | null) => void>();
  const site = new SiteSwitch({ swap } as unknown as SiteServer, { trailingSlash: 'never', basePath: '/' });
  const entry = { path: 'a/index.html', type: 'text/html', size: 1, sha256: 'ab'.repeat(32) };
  const release = { builtFor: '/', createdAt: '2026-01-01T00:00:00Z', files: new Map([[entry.path, entry]]) };
  const commit = site.prepare(release as unknown as ReleaseView, []);
  site.use({ trailingSlash: 'always', basePath: '/' });
  commit();
  expect(swap.mock.lastCall?.[0]?.find('a')).toEqual({ kind: 'redirect', location: 'a/' });
});
