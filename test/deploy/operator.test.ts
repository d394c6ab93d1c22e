import { beforeEach, describe, expect, test } from 'vitest';
import type { SiteStore } from '../../src/deploy/releases/site-store.ts';
import { toDocshelfError } from '../../src/domain/errors.ts';
import { newFolder } from '../helpers/new-folder.ts';
import {
  codeOf,
  copyOf,
  FakeSource,
  importBundle,
  importOf,
  LINK,
  openDaemon,
  putInto,
  type SettingsOf,
  seedShelf,
  settingsOf,
  startDaemon,
  type TestDaemon,
} from './workbench.ts';

const seed = await seedShelf();
let store: SiteStore;
beforeEach(async () => {
  store = await copyOf(seed);
});

const [V1, V2, V3] = ['2024-01-01', '2024-02-01', '2024-03-01'] as const;
const atLink = (version: 'january' | 'february' | 'march') => new FakeSource().serveBundle(LINK, seed[version]);
const versionOf = (daemon: TestDaemon) => daemon.site.active?.version;

/** Restarts the daemon with these settings. */
async function restart(daemon: TestDaemon, settings: SettingsOf, source = daemon.source): Promise<TestDaemon> {
  await daemon.stop();
  return startDaemon(store, settings, source);
}

describe('activate()', () => {
  test('rejects a version that is not stored, and lists the stored versions', async () => {
    const { deployment } = await startDaemon(store);
    const activating = deployment.activate('v9');
    await expect(activating).rejects.toMatchObject({ code: 'version_not_found', fields: { stored: [V3, V2, V1] } });
  });

  test('throws an error that names the action, as remove() and preview do, if the version is not stored', async () => {
    const { deployment } = await startDaemon(store);
    const state = `version "v9": it is not stored; stored versions: ${[V3, V2, V1].join(', ')}`;
    await expect(deployment.activate('v9')).rejects.toThrow(`Cannot activate ${state}`);
    await expect(deployment.remove('v9')).rejects.toThrow(`Cannot remove ${state}`);
    await expect(deployment.stored('v9', 'preview')).rejects.toThrow(`Cannot preview ${state}`);
  });

  test('rejects a version name with a path outside of the folder', async () => {
    const { deployment } = await startDaemon(store);
    await deployment.activate(V1);
    expect(await codeOf(deployment.activate('../active'))).toBe('version_not_found');
    expect(await codeOf(deployment.remove('../active'))).toBe('version_not_found');
    expect((await store.active())?.version).toBe(V1);
  });

  test('accepts only the pinned version if the config pins a version', async () => {
    const daemon = await startDaemon(store, { version: V1 });
    expect(await codeOf(daemon.deployment.activate(V2))).toBe('pinned');
    expect(await codeOf(daemon.deployment.rollback())).toBe('pinned');
    expect(await codeOf(daemon.deployment.activate(V1))).toBe('it resolved');
    expect(versionOf(daemon)).toBe(V1);
  });

  test('rejects a version if a reload pins another version while activate() reads the version label', async () => {
    const daemon = await startDaemon(store);
    await daemon.deployment.activate(V1);
    const label = store.label.bind(store);
    const { promise: pinned, resolve: pin } = Promise.withResolvers<void>();
    store.label = async (version) => {
      if (version === V3) await pinned;
      return label(version);
    };
    const activating = codeOf(daemon.deployment.activate(V3));
    await daemon.deployment.accept(settingsOf(store, { version: V2 }));
    pin();
    expect(await activating).toBe('pinned');
    await daemon.deployment.reconcile();
    expect(versionOf(daemon)).toBe(V2);
  });

  test('takes effect at the next start if no daemon runs on the folder', async () => {
    const command = await openDaemon(store);
    expect(await command.deployment.activate(V1)).toEqual({ version: V1, digest: seed.january.digest });
    await command.stop();
    expect(versionOf(await startDaemon(store))).toBe(V1);
  });
});

describe('a version that an operator activated while bundleUrl was set', () => {
  const settings: SettingsOf = { link: LINK };

  /** A daemon that has fetched March, and for which an operator chose January. */
  async function chosen(): Promise<TestDaemon> {
    const daemon = await startDaemon(store, settings, await atLink('march'));
    await daemon.deployment.activate(V1);
    return daemon;
  }

  test('stays active after reloads and restarts if the digest of the fetched bundle is unchanged', async () => {
    const daemon = await chosen();
    await daemon.reload(settings);
    expect(versionOf(daemon)).toBe(V1);
    const again = await restart(daemon, settings);
    expect(again.source.opened).toHaveLength(2);
    expect(versionOf(again)).toBe(V1);
    expect(versionOf(await restart(again, settings))).toBe(V1);
  });

  test('stays active if the fetch of the bundle fails at the start', async () => {
    const daemon = await restart(await chosen(), settings, new FakeSource());
    expect(versionOf(daemon)).toBe(V1);
    expect(daemon.deployment.state).toBe('stale');
  });

  test('is replaced at a restart if the fetched bundle has a new digest', async () => {
    const daemon = await restart(await chosen(), settings, await atLink('february'));
    expect(daemon.site.active?.digest).toBe(seed.february.digest);
  });

  test('is replaced by the bundle of bundleUrl if a reload changes any setting of staticExport', async () => {
    const daemon = await chosen();
    await daemon.reload({ ...settings, keep: 2 });
    expect(versionOf(daemon)).toBe(V3);
    await daemon.reload(settings);
    expect(versionOf(daemon)).toBe(V3);
    expect(daemon.source.opened).toHaveLength(1);
    expect(versionOf(await restart(daemon, settings))).toBe(V3);
  });

  test('is replaced if staticExport changed while the daemon was stopped', async () => {
    expect(versionOf(await restart(await chosen(), { ...settings, keep: 2 }))).toBe(V3);
  });

  test('stays active if it was activated by a rollback', async () => {
    const daemon = await chosen();
    await daemon.deployment.rollback();
    expect(versionOf(daemon)).toBe(V3);
    await daemon.deployment.rollback().catch(() => undefined);
    await daemon.deployment.activate(V2);
    await daemon.deployment.rollback();
    expect(versionOf(await restart(daemon, settings))).toBe(V3);
  });

  test('is replaced by a newer bundle that is delivered later', async () => {
    const daemon = await chosen();
    await daemon.deployment.deliver(importOf(seed.february));
    expect(versionOf(daemon)).toBe(V2);
    // A delivery is no choice, so the next start serves the bundle of its link.
    expect(versionOf(await restart(daemon, settings))).toBe(V3);
  });
});

describe('a version that an operator activated while bundleUrl was not set', () => {
  test('stays active after a restart, even if the preload folder contains a newer archive that is already imported', async () => {
    await putInto(`${store.paths.dir}/bundles`, seed.march, seed.january);
    const daemon = await startDaemon(store);
    expect(versionOf(daemon)).toBe(V3);
    await daemon.deployment.activate(V1);
    expect(versionOf(await restart(daemon, {}))).toBe(V1);
  });

  test('is replaced by the archive of the preload folder after staticExport was changed and restored', async () => {
    await putInto(`${store.paths.dir}/bundles`, seed.march);
    const daemon = await startDaemon(store);
    await daemon.deployment.activate(V1);
    await daemon.reload({ preload: { dir: newFolder(), mayBeMissing: false } });
    expect(versionOf(daemon)).toBe(V1);
    await daemon.reload({});
    expect(versionOf(daemon)).toBe(V3);
  });
});

describe('rollback()', () => {
  test('activates the next older version of the history at each call, and fails at the oldest version', async () => {
    const daemon = await startDaemon(store);
    for (const version of [V1, V2, V3]) await daemon.deployment.activate(version);
    expect(await daemon.deployment.rollback()).toEqual({ version: V2, digest: seed.february.digest });
    expect(versionOf(daemon)).toBe(V2);
    expect((await daemon.deployment.rollback()).version).toBe(V1);
    expect(versionOf(daemon)).toBe(V1);
    expect(await codeOf(daemon.deployment.rollback())).toBe('no_version');
    expect(versionOf(daemon)).toBe(V1);
  });

  test('suggests, if the history contains no older version, to activate the version that was active before the last rollback', async () => {
    const { deployment } = await startDaemon(store);
    const next = async () => toDocshelfError(await deployment.rollback().catch((error: unknown) => error)).next;
    expect(await next()).toContain('a version that "docshelf bundle list" shows');
    for (const version of [V1, V3]) await deployment.activate(version);
    expect(await deployment.previous()).toEqual({ version: V1, digest: seed.january.digest });
    await deployment.rollback();
    expect(await deployment.previous()).toBeNull();
    expect(await next()).toBe(`To return to version "${V3}", run "docshelf bundle activate ${V3}".`);
  });

  test('skips removed versions in all later rollbacks', async () => {
    const daemon = await startDaemon(store);
    for (const version of [V1, V2, V3]) await daemon.deployment.activate(version);
    await daemon.deployment.remove(V2);
    expect((await daemon.deployment.rollback()).version).toBe(V1);
    expect(await codeOf(daemon.deployment.rollback())).toBe('no_version');
  });

  test('never activates the current version, even if the history contains it twice in a row after a removal', async () => {
    const daemon = await startDaemon(store);
    for (const version of [V1, V3, V2, V3]) await daemon.deployment.activate(version);
    await daemon.deployment.remove(V2);
    expect((await daemon.deployment.rollback()).version).toBe(V1);
  });

  test('activates the digest that was active before, even if its version label was moved to another digest', async () => {
    const daemon = await startDaemon(store);
    for (const version of [V1, V2]) await daemon.deployment.activate(version);
    await importBundle(store, seed.march, { version: V1 });
    expect(await daemon.deployment.rollback()).toEqual({ version: V1, digest: seed.january.digest });
  });
});

describe('remove()', () => {
  test('removes the version and its release', async () => {
    const { deployment, events } = await startDaemon(store);
    await deployment.remove(V1);
    expect(await store.has(seed.january.digest)).toBe(false);
    expect((await deployment.readStored()).versions.map(({ version }) => version)).toEqual([V3, V2]);
    expect(events).toContainEqual({ kind: 'removed', version: V1 });
    expect(await codeOf(deployment.remove(V1))).toBe('version_not_found');
  });

  test('removes only the version label if another version label has the same release', async () => {
    await importBundle(store, seed.january, { version: 'spring' });
    const daemon = await startDaemon(store);
    await daemon.deployment.activate('spring');
    await daemon.deployment.remove(V1);
    expect(await store.label(V1)).toBeNull();
    expect(await store.has(seed.january.digest)).toBe(true);
    expect(await codeOf(daemon.deployment.remove('spring'))).toBe('in_use');
  });

  test('rejects a version that is pinned, or that any daemon on the folder serves', async () => {
    const daemon = await startDaemon(store);
    await daemon.deployment.activate(V1);
    const pinned = await startDaemon(store, { version: V2 });
    expect(await codeOf(daemon.deployment.remove(V1))).toBe('in_use');
    expect(await codeOf(daemon.deployment.remove(V2))).toBe('in_use');
    expect(await codeOf(pinned.deployment.remove(V2))).toBe('pinned');
    expect(await codeOf(pinned.deployment.remove(V1))).toBe('in_use');
    expect([...(await store.labels()).keys()]).toEqual([V1, V2, V3]);
  });

  test('rejects the version that docshelf will serve again when the config no longer pins a version', async () => {
    const unpinned = await startDaemon(store);
    await unpinned.deployment.activate(V1);
    await unpinned.deployment.stop();
    const { deployment } = await startDaemon(store, { version: V2 });
    await expect(deployment.remove(V1)).rejects.toThrow(
      'docshelf activates it again when the config no longer pins a version',
    );
    await deployment.activate(V2);
    expect((await store.active())?.version).toBe(V2);
    await deployment.remove(V1);
    expect(await store.label(V1)).toBeNull();
  });
});
