import { copyFile, mkdir, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { importPreload } from '../../src/deploy/import/preload.ts';
import type { SiteStore } from '../../src/deploy/releases/site-store.ts';
import { newFolder } from '../helpers/new-folder.ts';
import {
  type Bundle,
  copyOf,
  importBundle,
  importOf,
  newStore,
  openDaemon,
  packBundle,
  putInto,
  seedShelf,
  startDaemon,
  until,
} from './workbench.ts';

const seed = await seedShelf();
let store: SiteStore;
let folder: string;
beforeEach(async () => {
  store = await copyOf(seed);
  folder = join(store.paths.dir, 'bundles');
});

const [V1, V2, V3] = ['2024-01-01', '2024-02-01', '2024-03-01'] as const;

/** Imports the folder. @returns imported bundles, and requests */
async function run({ isNewer = false, mayBeMissing = true } = {}) {
  const imported: string[] = [];
  const { releases, failures } = await importPreload({
    store,
    settings: { preload: { dir: folder, mayBeMissing }, version: null, sha256: null },
    signal: new AbortController().signal,
    importArchive: (file, fileName, digest) => {
      imported.push(fileName);
      return importBundle(store, { file, fileName }, { digest });
    },
    isNewer: () => isNewer,
  });
  return {
    taken: imported,
    versions: releases.map((release) => release.version),
    codes: failures.map((failure) => failure.code),
  };
}

describe('importPreload()', () => {
  test('imports archives in the order of their names, and ignores dot files, unfinished copies and folders', async () => {
    await putInto(folder, seed.january, seed.february);
    await mkdir(join(folder, 'folder'));
    for (const name of ['.hidden.tar.gz', 'copying.tar.gz.part']) await copyFile(seed.march.file, join(folder, name));
    await symlink(seed.march.file, join(folder, seed.march.fileName));
    expect(await run()).toMatchObject({ versions: [V1, V2, V3], codes: [] });
  });

  test('rejects an archive with an unprintable name, and stores the name nowhere', async () => {
    await putInto(folder, seed.january);
    const names = ['a\u202egz.tar', 'b\n.tar.gz', 'c\u009b.zip'];
    for (const name of names) await copyFile(seed.february.file, join(folder, name));
    await writeFile(join(folder, 'desktop.ini'), 'x');
    expect(await run()).toEqual({
      taken: [seed.january.fileName],
      versions: [V1],
      codes: Array(3).fill('name_control'),
    });
    expect(Object.keys(JSON.parse((await store.preloadTable()) ?? '{}'))).toEqual([
      join(folder, seed.january.fileName),
    ]);
  });

  test('does not read an unchanged archive again', async () => {
    await putInto(folder, seed.january);
    const file = join(folder, seed.january.fileName);
    const time = new Date(0);
    await utimes(file, time, time);
    await run();
    // Other bytes with the same size, time and inode: reading them would fail.
    await writeFile(file, Buffer.alloc((await stat(file)).size));
    await utimes(file, time, time);
    expect(await run()).toEqual({ taken: [], versions: [V1], codes: [] });
  });

  test('reads an archive again if its modification time has changed', async () => {
    await putInto(folder, seed.january);
    await run();
    await writeFile(join(folder, seed.january.fileName), 'no archive any more');
    expect(await run()).toMatchObject({ versions: [], codes: ['unknown_format'] });
  });

  test('does not move a version label back to an unchanged archive if a later delivery has moved the label', async () => {
    await putInto(folder, seed.january);
    await run();
    await importBundle(store, seed.march, { version: V1 });
    await run();
    expect((await store.label(V1))?.digest).toBe(seed.march.digest);
  });

  test('imports an unchanged archive again after its release was removed, but only if the release is newer than the active one', async () => {
    await putInto(folder, seed.january);
    await run();
    await store.removeRelease(seed.january.digest);
    expect(await run()).toEqual({ taken: [], versions: [], codes: [] });
    expect(await run({ isNewer: true })).toEqual({ taken: [seed.january.fileName], versions: [V1], codes: [] });
    expect(await store.has(seed.january.digest)).toBe(true);
  });

  test('imports all valid archives if one archive is rejected, and reports the rejected archive at each call', async () => {
    await putInto(folder, seed.january);
    await writeFile(join(folder, 'aaa.zip'), 'no archive');
    const outcome = { versions: [V1], codes: ['unknown_format'] };
    expect(await run()).toMatchObject(outcome);
    expect(await run()).toMatchObject(outcome);
  });

  test('treats a missing folder as empty only if it is the default preload folder', async () => {
    expect(await run()).toEqual({ taken: [], versions: [], codes: [] });
    expect(await run({ mayBeMissing: false })).toEqual({ taken: [], versions: [], codes: ['cannot_read'] });
  });
});

describe('a daemon with a preload folder', () => {
  const later = (): Promise<Bundle> => packBundle('acme-export-2024-06-01.tar.gz', 'June');

  test('serves an archive that is newer than the active version, but not an older archive', async () => {
    const daemon = await startDaemon(store);
    await daemon.deployment.deliver(importOf(seed.february));
    await daemon.stop();
    await putInto(folder, seed.january);
    const second = await startDaemon(store);
    expect(second.site.active?.version).toBe(V2);
    await second.stop();
    await putInto(folder, seed.march);
    const third = await startDaemon(store);
    expect(third.site.active?.version).toBe(V3);
    await third.reload({});
    expect(third.site.active?.version).toBe(V3);
  });

  test('keeps serving a version that was delivered or activated after the import of the preloaded archive', async () => {
    await putInto(folder, await later());
    const daemon = await startDaemon(store);
    expect(daemon.site.active?.version).toBe('2024-06-01');
    await daemon.deployment.deliver(importOf(seed.february));
    await daemon.deployment.activate(V1);
    await daemon.deployment.rollback();
    expect(daemon.site.active?.version).toBe(V2);
  });

  test('imports its pinned version first, serves that version, and then imports the other archives', async () => {
    const empty = await newStore();
    await putInto(join(empty.paths.dir, 'bundles'), seed.january, seed.february, seed.march);
    const { events } = await startDaemon(empty, { version: V3 });
    const steps = events.flatMap((event) =>
      event.kind === 'taken-in' || event.kind === 'activated' ? [`${event.kind} ${event.version}`] : [],
    );
    expect(steps).toEqual([`taken-in ${V3}`, `activated ${V3}`, `taken-in ${V1}`, `taken-in ${V2}`]);
  });

  test('serves a newly pinned version while it still imports other archives', async () => {
    const empty = await newStore();
    await putInto(join(empty.paths.dir, 'bundles'), seed.january, seed.february, seed.march);
    const daemon = await openDaemon(empty, { version: V3 });
    const first = daemon.deployment.reconcile();
    await until(() => expect(daemon.site.active?.version).toBe(V3));
    await daemon.reload({ version: V1 });
    await first;
    expect(daemon.site.active?.version).toBe(V1);
    expect((await daemon.deployment.readStored()).versions).toHaveLength(3);
  });

  test('imports its pinned version from the folder again if that version was pruned', async () => {
    await putInto(folder, seed.january, seed.february, seed.march);
    const daemon = await startDaemon(store, { keep: 0 });
    expect(daemon.site.active?.version).toBe(V3);
    expect(await store.has(seed.january.digest)).toBe(false);
    await daemon.reload({ keep: 0, version: V1 });
    expect(daemon.site.active?.version).toBe(V1);
    expect(await store.has(seed.february.digest)).toBe(false);
  });

  test('keeps serving the active version if an archive is rejected, and reports the reason', async () => {
    await mkdir(folder);
    await writeFile(join(folder, 'broken.zip'), 'no archive');
    for (const version of [V1, null]) {
      const daemon = await startDaemon(store, { version });
      if (version === null) await daemon.deployment.activate(V2);
      await daemon.deployment.reconcile();
      const { state, journal } = daemon.deployment;
      expect({ state, code: journal.lastError?.code }).toEqual({ state: 'ready', code: 'unknown_format' });
    }
  });

  test('waits, and reports the reason, if its only archive was rejected', async () => {
    await mkdir(folder);
    await writeFile(join(folder, 'broken.zip'), 'no archive');
    const { deployment, events } = await startDaemon(store);
    expect(deployment.state).toBe('waiting');
    expect(deployment.journal.lastError?.code).toBe('unknown_format');
    expect(events.filter((event) => event.kind === 'failed')).toHaveLength(1);
  });

  test('serves its pinned version if the folder cannot be read', async () => {
    const preload = { dir: join(newFolder(), 'nowhere'), mayBeMissing: false };
    const daemon = await startDaemon(store, { version: V1, preload });
    const { state, journal } = daemon.deployment;
    expect({ state, code: journal.lastError?.code }).toEqual({ state: 'ready', code: 'cannot_read' });
  });

  test('does not move the label of the pinned version to a changed archive with the same file name', async () => {
    const other = await packBundle(seed.january.fileName, 'January, once more');
    await putInto(folder, other);
    const { deployment, site } = await startDaemon(store, { version: V1 });
    expect(site.active?.digest).toBe(seed.january.digest);
    expect(deployment.journal.lastError?.code).toBe('pinned');
    await rm(folder, { recursive: true });
  });
});
