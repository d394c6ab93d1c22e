import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { Activation } from '../../src/deploy/activation.ts';
import { runningDaemons } from '../../src/deploy/index.ts';
import type { SiteStore } from '../../src/deploy/releases/site-store.ts';
import { ServedRecord, type SiteContext } from '../../src/deploy/site-context.ts';
import type { KeptRelease, ReleaseView } from '../../src/domain/release.ts';
import {
  codeOf,
  copyOf,
  newStore,
  openDaemon,
  packBundle,
  type SettingsOf,
  seedShelf,
  settingsOf,
  startDaemon,
  until,
} from './workbench.ts';

const seed = await seedShelf();
afterEach(() => {
  vi.useRealTimers();
});

const storedIn = async (store: SiteStore) => (await store.list()).map((info) => info.digest).sort();
const [V1, V2, V3] = ['2024-01-01', '2024-02-01', '2024-03-01'] as const;

/** A daemon that serves these versions one after another, as an operator chose. */
async function daemonThrough(store: SiteStore, versions: readonly string[], settings: SettingsOf = {}) {
  const daemon = await openDaemon(store, settings);
  for (const version of versions) await daemon.deployment.activate(version);
  return daemon;
}

describe('a swap to another release', () => {
  test('makes the site serve the new release, and lists all other stored releases as older releases', async () => {
    const { site, deployment, events } = await daemonThrough(await copyOf(seed), [V2]);
    expect(site.active).toMatchObject({ digest: seed.february.digest, version: V2, pages: 1 });
    expect([...(site.active?.files.values() ?? [])]).toMatchObject([{ path: 'index.html' }]);
    expect(new Set(site.older.map(({ digest }) => digest))).toEqual(new Set([seed.march.digest, seed.january.digest]));
    expect(deployment.active).toMatchObject({ version: V2, digest: seed.february.digest });
    expect(events.filter((event) => event.kind === 'activated')).toMatchObject([{ version: V2, previous: null }]);
  });

  test('lists older releases by the time of their last activation, and lists releases without an activation at the end', async () => {
    const { site } = await daemonThrough(await copyOf(seed), [V1, V3, V1]);
    expect(site.older.map(({ digest, servedAt }) => [digest, servedAt === null])).toEqual([
      [seed.march.digest, false],
      [seed.february.digest, true],
    ]);
  });

  test('keeps the files of older releases available until these releases are removed', async () => {
    const store = await copyOf(seed);
    await writeFile(join(store.folderOf(seed.january.digest), 'files.table'), 'no table');
    const { site, deployment } = await daemonThrough(store, [V2, V3]);
    const [february, january] = site.older;
    expect(await february?.find('index.html')).toMatchObject({ path: 'index.html' });
    expect(await codeOf(january?.find('index.html') ?? Promise.resolve())).toBe('release_damaged');
    await deployment.remove(V2);
    expect(await february?.find('index.html')).toBeNull();
  });

  test('stores an earlier activation time for the former release than for the new release, even within one millisecond', async () => {
    vi.useFakeTimers({ toFake: ['Date'] });
    const { store } = await daemonThrough(await copyOf(seed), [V1, V2]);
    const [january, february] = [await store.servedAt(seed.january.digest), await store.servedAt(seed.february.digest)];
    expect(Date.parse(january ?? '')).toBeLessThan(Date.parse(february ?? ''));
  });

  test('does not happen if the version is already served', async () => {
    const { events } = await daemonThrough(await copyOf(seed), [V1, V1]);
    expect(events.filter((event) => event.kind === 'activated')).toHaveLength(1);
  });

  test('keeps serving the old release, and lists it in the heartbeat file, if docshelf cannot store the active version', async () => {
    const store = await copyOf(seed);
    const { deployment, site } = await daemonThrough(store, [V1]);
    store.setActive = () => Promise.reject(new Error('the disk is full'));
    await expect(deployment.activate(V2)).rejects.toThrow('the disk is full');
    expect(site.active?.version).toBe(V1);
    expect(deployment.active?.version).toBe(V1);
    expect((await runningDaemons(store.paths))[0]?.sites[0]?.serves).toContain(seed.january.digest);
  });

  test('keeps serving the old release if the new release is damaged', async () => {
    const store = await copyOf(seed);
    const { deployment, site } = await daemonThrough(store, [V1]);
    await writeFile(join(store.folderOf(seed.february.digest), 'files.table'), 'no table');
    expect(await codeOf(deployment.activate(V2))).toBe('release_damaged');
    expect(site.active?.version).toBe(V1);
    expect((await store.active())?.version).toBe(V1);
  });

  test('stores the activation time of its release, which another daemon on the folder reads with refreshFromDisk()', async () => {
    const store = await copyOf(seed);
    const one = await openDaemon(store, { version: V1 });
    await one.deployment.reconcile();
    const isServed = () => one.site.older.find(({ digest }) => digest === seed.february.digest)?.servedAt !== null;
    expect(isServed()).toBe(false);
    expect(await one.deployment.refreshFromDisk()).toBe(false);
    const other = await openDaemon(store, { version: V2 });
    await other.deployment.reconcile();
    expect(await one.deployment.refreshFromDisk()).toBe(true);
    expect(isServed()).toBe(true);
    expect(one.deployment.active).toMatchObject({ version: V1 });
    expect(await one.deployment.refreshFromDisk()).toBe(false);
  });

  test('serves the version that is stored as active if two swaps run concurrently', async () => {
    const store = await copyOf(seed);
    const { deployment, site } = await daemonThrough(store, [V1]);
    await Promise.all([deployment.activate(V2), deployment.activate(V3)]);
    // The order of the two depends on the disk.
    expect([V2, V3]).toContain(site.active?.version);
    expect((await store.active())?.version).toBe(site.active?.version);
  });
});

describe('pruning of old releases', () => {
  test('keeps only the most recent old releases, up to staticExport.keep, and removes the version labels of removed releases', async () => {
    const store = await copyOf(seed);
    const { deployment, events } = await daemonThrough(store, [V3], { keep: 1 });
    expect(await storedIn(store)).toEqual([seed.february.digest, seed.march.digest].sort());
    expect([...(await store.labels()).keys()]).toEqual([V2, V3]);
    expect(events.filter((event) => event.kind === 'pruned')).toEqual([
      { kind: 'pruned', digests: [seed.january.digest] },
    ]);
    expect(await codeOf(deployment.activate(V1))).toBe('version_not_found');
  });

  test('keeps the previously active release for a rollback, even if newer versions were imported without activation', async () => {
    const store = await newStore();
    const { deployment } = await startDaemon(store, { keep: 3 });
    const names = ['v1', 'v2', 'v3', 'v4', 'v5'];
    for (const version of names) {
      const bundle = await packBundle('docs.tar.gz', version);
      await deployment.deliver({ ...bundle, version, source: 'import', activate: version === 'v1' });
    }
    await deployment.activate('v5');
    expect([...(await store.labels()).keys()]).toEqual(names);
    expect((await deployment.rollback()).version).toBe('v1');
  });

  test('never removes the version to which an unpinned daemon can roll back, even if a pinned daemon swaps', async () => {
    const store = await copyOf(seed);
    const operator = await daemonThrough(store, [V1, V2], { keep: 9 });
    await operator.stop();
    const pinned = await startDaemon(store, { version: V3, keep: 1 });
    await pinned.reload({ version: V2, keep: 1 });
    await pinned.reload({ version: V3, keep: 1 });
    expect(await storedIn(store)).toHaveLength(3);
  });

  test('never removes the release that an unpinned daemon activated last, even if a pinned daemon swaps', async () => {
    const store = await copyOf(seed);
    const operator = await daemonThrough(store, [V1], { keep: 9 });
    await operator.stop();
    await startDaemon(store, { version: V3, keep: 1 });
    expect(await storedIn(store)).toEqual([seed.january.digest, seed.february.digest, seed.march.digest].sort());
  });

  test('never removes a release that another daemon on the folder serves', async () => {
    const store = await copyOf(seed);
    await startDaemon(store, { version: V1, keep: 9 });
    const other = await startDaemon(store, { version: V3, keep: 1 });
    await other.reload({ version: V2, keep: 0 });
    // A swap that keeps no release waits for requests in flight. The next swap that keeps some does not.
    await other.reload({ version: V3, keep: 1 });
    await other.reload({ version: V2, keep: 1 });
    expect(await store.has(seed.january.digest)).toBe(true);
    expect(await storedIn(store)).toHaveLength(3);
  });

  test('removes old releases only ten seconds after the swap if staticExport.keep is 0, so that requests in progress can end', async () => {
    const store = await copyOf(seed);
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] });
    const { deployment } = await daemonThrough(store, [V1, V2], { keep: 9 });
    await deployment.accept(settingsOf(store, { keep: 0 }));
    await deployment.activate(V3);
    vi.advanceTimersByTime(9_900);
    await deployment.activate(V3);
    expect(await storedIn(store)).toHaveLength(3);
    vi.advanceTimersByTime(200);
    await until(async () => expect(await storedIn(store)).toEqual([seed.march.digest]));
  });

  test('reports a release that it cannot remove, without undoing the swap', async () => {
    const store = await copyOf(seed);
    store.putAside = () => Promise.reject(new Error('the volume is away'));
    const { deployment, events } = await daemonThrough(store, [V3], { keep: 1 });
    await until(() => expect(events).toContainEqual(expect.objectContaining({ kind: 'failed', step: 'prune' })));
    expect(deployment.active?.version).toBe(V3);
    expect(deployment.state).toBe('ready');
  });
});

test('activate() resolves only after the active version and its history are on disk', async () => {
  const store = await copyOf(seed);
  const { deployment } = await daemonThrough(store, [V1]);
  await deployment.activate(V2);
  expect(JSON.parse(await readFile(store.site.active, 'utf8'))).toMatchObject({
    version: V2,
    digest: seed.february.digest,
    history: [{ version: V1, digest: seed.january.digest }],
  });
  expect((await readdir(store.paths.dir)).filter((name) => name.startsWith('.tmp-'))).toEqual([]);
});

test('refreshFromDisk() returns false if the site is disabled while refreshFromDisk() reads the disk', async () => {
  const serving = new ServedRecord();
  const release = { version: V1, digest: 'd', pages: 1, bytes: 1 } as unknown as ReleaseView;
  (await serving.prepare(release, [{ digest: 'e', servedAt: '2024-01-01' } as unknown as KeptRelease]))(
    '2024-02-01T00:00:00.000Z',
  );
  const servedChangedMs = async (): Promise<number> => {
    serving.turnOff();
    return 5;
  };
  const activation = new Activation({ serving, store: { servedChangedMs } } as unknown as SiteContext);
  expect(await activation.refreshFromDisk()).toBe(false);
});
