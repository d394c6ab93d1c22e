import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { openDataFolder, SiteStore } from '../../src/deploy/index.ts';
import type { ActivePointer } from '../../src/deploy/releases/site-store.ts';
import { writeFileTable } from '../../src/files/index.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { codeOf, copyOf, importBundle, seedShelf } from './workbench.ts';

const seed = await seedShelf();

const pointerTo = (digest: string): ActivePointer => ({
  digest,
  version: 'v1',
  activatedAt: '2024-07-01T00:00:00.000Z',
  lastFetched: null,
  history: [],
});

/** Changes the record of a release on disk, like a bug or another program. */
async function rewriteRecord(store: SiteStore, digest: string, change: object): Promise<void> {
  const file = join(store.folderOf(digest), 'release.json');
  await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), ...change }));
}

describe('SiteStore (stored releases and version labels of a site)', () => {
  test('ignores a release without its completion marker', async () => {
    const store = await copyOf(seed);
    const { digest } = seed.january;
    await store.setActive(pointerTo(digest));
    await rm(join(store.folderOf(digest), 'COMPLETE'));
    expect(await store.has(digest)).toBe(false);
    expect(await store.info(digest)).toBeNull();
    expect(await store.label('2024-01-01')).toBeNull();
    expect(await store.active()).toBeNull();
    expect([...(await store.labels()).keys()]).toEqual(['2024-02-01', '2024-03-01']);
    expect(await codeOf(store.view(digest, 'v1'))).toBe('release_damaged');
  });

  test('throws on unreadable storage instead of treating it as missing', async () => {
    const store = await copyOf(seed);
    const { releases } = store.paths;
    await rename(join(releases, seed.january.digest), join(store.paths.dir, 'aside'));
    // A link to itself: each access under it fails with ELOOP, like EIO on a failed volume.
    await symlink(seed.january.digest, join(releases, seed.january.digest));
    await expect(store.has(seed.january.digest)).rejects.toMatchObject({ code: 'ELOOP' });
    await expect(store.sweepIncomplete()).rejects.toMatchObject({ code: 'ELOOP' });
  });

  test('throws data_folder_newer when it reads or lists a release of a newer format', async () => {
    const store = await copyOf(seed);
    await rewriteRecord(store, seed.january.digest, { formatVersion: 99 });
    expect(await codeOf(store.info(seed.january.digest))).toBe('data_folder_newer');
    expect(await codeOf(store.list())).toBe('data_folder_newer');
  });

  test('omits a damaged release from the list, and reports the damage if the release is requested', async () => {
    const store = await copyOf(seed);
    await writeFile(join(store.folderOf(seed.january.digest), 'release.json'), 'no record');
    await rewriteRecord(store, seed.february.digest, { digest: seed.march.digest });
    expect((await store.list()).map((info) => info.digest)).toEqual([seed.march.digest]);
    expect(await codeOf(store.info(seed.january.digest))).toBe('release_damaged');
    expect(await codeOf(store.info(seed.february.digest))).toBe('release_damaged');
  });

  test('treats a release of an earlier format as damaged, so that its bundle is imported again', async () => {
    const store = await copyOf(seed);
    await rewriteRecord(store, seed.january.digest, { formatVersion: 1 });
    expect(await codeOf(store.info(seed.january.digest))).toBe('release_damaged');
    expect(await importBundle(store, seed.january)).toMatchObject({ unpacked: true });
  });

  test('rejects a file table that does not match release.json', async () => {
    const store = await copyOf(seed);
    await rm(join(store.folderOf(seed.january.digest), 'files.table'));
    await writeFileTable(store.folderOf(seed.january.digest), []);
    expect(await codeOf(store.view(seed.january.digest, 'v1'))).toBe('release_damaged');
  });

  test.each(['../active', '.', '', 'a/b', '-v1'])(
    'ignores the invalid version label %j, whatever file exists at the path of that label',
    async (label) => {
      const store = await copyOf(seed);
      await store.setActive(pointerTo(seed.january.digest));
      expect(await store.label(label)).toBeNull();
    },
  );

  test('returns null if the file of a version label or of the active release is damaged', async () => {
    const store = await copyOf(seed);
    await writeFile(join(store.site.versions, '2024-01-01'), '{"digest":"../../etc"}');
    await writeFile(store.site.active, '{"dig');
    expect(await store.label('2024-01-01')).toBeNull();
    expect(await store.active()).toBeNull();
  });

  describe('adopt()', () => {
    /** A sealed folder like the seed's January, outside of the releases. */
    async function sealed(store: SiteStore): Promise<string> {
      const folder = join(store.paths.staging, 'sealed');
      await rename(store.folderOf(seed.january.digest), folder);
      return folder;
    }

    test('adds a new release', async () => {
      const store = await copyOf(seed);
      await store.adopt(await sealed(store), seed.january.digest);
      expect(await store.has(seed.january.digest)).toBe(true);
    });

    test('replaces the remains of an interrupted removal', async () => {
      const store = await copyOf(seed);
      const folder = await sealed(store);
      await mkdir(join(store.folderOf(seed.january.digest), 'site'), { recursive: true });
      await store.adopt(folder, seed.january.digest);
      expect((await store.view(seed.january.digest, 'v1')).files.size).toBe(1);
    });

    test('does not replace a complete release that another process has added before', async () => {
      const store = await copyOf(seed);
      const folder = await sealed(store);
      const theirs = await copyOf(seed);
      await rename(theirs.folderOf(seed.january.digest), store.folderOf(seed.january.digest));
      await writeFile(join(store.folderOf(seed.january.digest), 'site', 'theirs'), '');
      await store.adopt(folder, seed.january.digest);
      expect(await readdir(join(store.folderOf(seed.january.digest), 'site'))).toContain('theirs');
    });

    test('rejects if the folder cannot be moved', async () => {
      const store = await copyOf(seed);
      const nowhere = join(store.paths.staging, 'nowhere');
      await expect(store.adopt(nowhere, 'f'.repeat(64))).rejects.toMatchObject({ code: 'ENOENT' });
    });
  });

  test('removes partial releases, and no other folder', async () => {
    const store = await copyOf(seed);
    await rm(join(store.folderOf(seed.january.digest), 'COMPLETE'));
    await mkdir(join(store.paths.releases, 'lost+found'));
    await store.putAside(seed.february.digest);
    await store.sweepIncomplete();
    const left = (await readdir(store.paths.releases)).sort();
    expect(left).toEqual([seed.march.digest, 'lost+found'].sort());
  });
});

test('openDataFolder() rejects a path that is not a folder', async () => {
  const file = join(newFolder(), 'file');
  await writeFile(file, '');
  expect(await codeOf(openDataFolder(file))).toBe('cannot_write');
});

test.each(['versions', 'active', 'domain'])(
  'openDataFolder() rejects a data folder of the first format, which contains %s, and does not change that folder',
  async (name) => {
    const dir = newFolder();
    await writeFile(join(dir, name), '');
    await expect(openDataFolder(dir)).rejects.toMatchObject({
      code: 'data_folder_older',
      next: expect.stringContaining('empty folder'),
    });
    await expect(SiteStore.read(dir, null)).rejects.toMatchObject({ code: 'data_folder_older' });
    expect(await readdir(dir)).toEqual([name]);
  },
);
