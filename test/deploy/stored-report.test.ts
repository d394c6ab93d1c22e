import { utimes } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import { SiteStore } from '../../src/deploy/index.ts';
import { StoredReport } from '../../src/deploy/status.ts';
import { copyOf, seedShelf, settingsOf } from './workbench.ts';

const seed = await seedShelf();

const ACTIVE = { version: 'v0', digest: '0'.repeat(64), pages: 1, bytes: 1, activatedAt: '2026-11-01T00:00:00.000Z' };

/** Makes the folder of labels look unchanged for a minute. */
async function age({ site }: SiteStore): Promise<void> {
  const then = new Date(Date.now() - 60_000);
  await utimes(site.versions, then, then);
}

const versionsOf = async (report: StoredReport, settings: ReturnType<typeof settingsOf>) =>
  // The active version is a new object in each call, as from `Activation.current`.
  (await report.read(settings, { ...ACTIVE })).versions.map(({ version }) => version);

test('StoredReport (list of the stored versions) reads the disk again only if a process has changed the version labels', async () => {
  const store = await copyOf(seed);
  const settings = settingsOf(store);
  const report = new StoredReport(store);
  const read = vi.spyOn(store, 'labels');
  await age(store);
  const before = await versionsOf(report, settings);
  expect(before.length).toBeGreaterThan(1);
  expect(await versionsOf(report, settings)).toEqual(before);
  expect(read).toHaveBeenCalledTimes(1);

  await new SiteStore(store.paths).removeLabel(before[0] ?? '');
  expect(await versionsOf(report, settings)).toEqual(before.slice(1));
  // A changed folder may change again within the resolution of its time.
  await versionsOf(report, settings);
  expect(read).toHaveBeenCalledTimes(3);
});
