import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { utimesSync } from 'node:fs';
import { copyFile, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { signFile } from '../../src/archive/index.ts';
import { unpackInThreads } from '../../src/deploy/import/unpack-thread.ts';
import { openDataFolder, SiteStore } from '../../src/deploy/index.ts';
import { rawTar } from '../helpers/archives.ts';
import { SECRET_KEY, SIGNATURE_REQUIRED } from '../helpers/minisign.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { smallDisk } from '../helpers/small-disk.ts';
import { unpackHere } from './unpackers.ts';
import { codeOf, copyOf, importBundle, newStore, packBundle, seedShelf, stagingOf, startDaemon } from './workbench.ts';

const V1 = '2024-01-01';

const seed = await seedShelf();
/** Bundle of domain acme, version v2. */
const named = await packBundle('bundle.tar.gz', 'named', { version: 'v2', createdAt: '2024-05-05T07:05:05+02:00' });
let store: SiteStore;
// Runs after successful and failed tests.
afterEach(async () => {
  expect(await stagingOf(store)).toEqual([]);
});

const digestAt = async (label: string) => (await store.label(label))?.digest;
/** Unpacks in threads, as a daemon does. */
const IN_THREADS = { unpack: unpackInThreads() };

describe('Importer (imports an archive as a release)', () => {
  test('uses the version of the manifest as the version label, and stores the time of the manifest in UTC', async () => {
    store = await newStore();
    const bundle = { ...named, fileName: 'acme-export-2023-01-01.tar.gz' };
    const imported = await importBundle(store, bundle, {}, {}, IN_THREADS);
    expect(imported).toEqual({
      digest: named.digest,
      version: 'v2',
      createdAt: '2024-05-05T05:05:05.000Z',
      unpacked: true,
    });
    expect(await store.info(named.digest)).toMatchObject({
      manifest: { domain: 'acme', version: 'v2' },
      pages: 1,
      files: 1,
      source: 'import',
    });
    const view = await store.view(named.digest, 'v2');
    expect([...view.files.values()]).toMatchObject([{ path: 'index.html' }]);
    expect(await readFile(join(view.siteDir, 'index.html'), 'utf8')).toContain('named');
  });

  test('ignores a folder at the path of the manifest', async () => {
    store = await newStore();
    const file = join(newFolder(), 'site-v1.0.0.tar');
    const bytes = rawTar([{ name: 'index.html', body: '<p>' }, { name: '_docshelf/manifest.json/' }]);
    await writeFile(file, bytes);
    const bundle = { file, fileName: 'site-v1.0.0.tar', digest: hash('sha256', bytes) };
    expect(await importBundle(store, bundle)).toMatchObject({ version: 'v1.0.0', unpacked: true });
    expect((await store.info(bundle.digest))?.manifest).toBeNull();
  });

  test('omits copy marks of a second download, such as "(1)", from the version label', async () => {
    store = await copyOf(seed);
    for (const [name, version] of [
      ['acme-export-2024-06-04 (1).tar.gz', '2024-06-04'],
      ['acme-v1.2.3(2).tar.gz', 'v1.2.3'],
    ] as const) {
      expect(await importBundle(store, { ...seed.january, fileName: name })).toMatchObject({ version });
    }
  });

  test('accepts a plain tar without end blocks if its digest or signature was checked', async () => {
    const file = join(newFolder(), 'site-v1.0.0.tar');
    const bytes = rawTar([{ name: 'index.html', body: '<p>' }], Buffer.alloc(512));
    await writeFile(file, bytes);
    const bundle = { file, fileName: 'site-v1.0.0.tar' };
    const signature = { ...SIGNATURE_REQUIRED, text: await signFile(file, SECRET_KEY, { trustedComment: '' }) };
    store = await newStore();
    expect(await codeOf(importBundle(store, bundle))).toBe('truncated');
    expect(await codeOf(importBundle(store, bundle, {}, { sha256: 'a'.repeat(64) }))).toBe('truncated');
    const ways = [
      [{ digest: hash('sha256', bytes), isVerified: true }, {}],
      [{}, { sha256: hash('sha256', bytes) }],
      [{}, { signature }],
    ] as const;
    for (const [request, settings] of ways) {
      store = await newStore();
      const imported = await importBundle(store, bundle, request, settings, IN_THREADS);
      expect(imported).toMatchObject({ version: 'v1.0.0', unpacked: true });
    }
  });

  test('takes the version label from the end of the file name, and the creation time from a date in the version label', async () => {
    store = await copyOf(seed);
    const imported = await importBundle(store, { ...seed.january, fileName: 'docs-v1.2.3.zip' });
    expect(imported).toMatchObject({ version: 'v1.2.3', unpacked: false });
    expect((await store.info(seed.january.digest))?.createdAt).toBe('2024-01-01T00:00:00.000Z');
  });

  test.each([['site.tar.gz'], [null]])(
    'uses the start of the digest as the version label if the file name (%s) contains no version',
    async (name) => {
      store = await copyOf(seed);
      const { version } = await importBundle(store, seed.january, { fileName: name });
      expect(version).toBe(seed.january.digest.slice(0, 12));
    },
  );

  test('uses the requested version label if the manifest contains no other version', async () => {
    store = await copyOf(seed);
    const imported = await importBundle(store, seed.january, { version: 'spring' });
    expect(imported.version).toBe('spring');
    expect(await digestAt('spring')).toBe(seed.january.digest);
    expect(await digestAt('2024-01-01')).toBe(seed.january.digest);
  });

  test('moves a version label to another digest, and keeps the old release', async () => {
    store = await copyOf(seed);
    await importBundle(store, seed.february, { version: '2024-01-01' });
    expect(await digestAt('2024-01-01')).toBe(seed.february.digest);
    expect(await store.has(seed.january.digest)).toBe(true);
  });

  test('rejects a version label that differs from the version in the manifest', async () => {
    store = await newStore();
    expect(await codeOf(importBundle(store, named, { version: 'v3' }))).toBe('version_mismatch');
    expect(await store.list()).toEqual([]);
    await importBundle(store, named);
    expect(await codeOf(importBundle(store, named, { version: 'v3' }))).toBe('version_mismatch');
    expect([...(await store.labels()).keys()]).toEqual(['v2']);
  });

  test('rejects an invalid version label', async () => {
    store = await copyOf(seed);
    expect(await codeOf(importBundle(store, seed.january, { version: '../active' }))).toBe('bad_version');
  });

  test('rejects a domain that differs from the config or from the first bundle', async () => {
    store = await newStore();
    expect(await codeOf(importBundle(store, named, {}, { domain: 'globex' }))).toBe('domain_mismatch');
    await importBundle(store, named);
    const other = await packBundle('other.tar.gz', 'other', { domain: 'globex' });
    expect(await codeOf(importBundle(store, other))).toBe('domain_mismatch');
    expect((await store.list()).map((info) => info.digest)).toEqual([named.digest]);
  });

  test('rejects files that do not match the manifest', async () => {
    store = await newStore();
    const source = join(newFolder(), 'changed.tar');
    execFileSync('sh', ['-c', 'gzip -dc "$1" | sed "s/<title>named/<title>shady/" > "$2"', 'sh', named.file, source]);
    expect(await codeOf(importBundle(store, { file: source, fileName: 'changed.tar' }))).toBe('manifest_mismatch');
  });

  test('rejects a damaged archive, and leaves no files behind', async () => {
    store = await newStore();
    const file = join(newFolder(), 'cut.tar.gz');
    await copyFile(named.file, file);
    await truncate(file, 100);
    expect(await codeOf(importBundle(store, { file, fileName: 'cut.tar.gz' }, {}, {}, IN_THREADS))).toBe('truncated');
    expect(await store.list()).toEqual([]);
    expect(await store.labels()).toEqual(new Map());
  });

  test('rejects an archive that cannot be read', async () => {
    store = await newStore();
    const file = join(store.paths.dir, 'nowhere.tar');
    expect(await codeOf(importBundle(store, { file, fileName: 'nowhere.tar' }))).toBe('cannot_read');
  });

  test('rejects an archive that changes after its digest was computed', async () => {
    store = await newStore();
    const file = join(newFolder(), 'growing.tar.gz');
    await copyFile(named.file, file);
    const request = { file, fileName: 'growing.tar.gz' };
    const onProgress = () => utimesSync(file, new Date(0), new Date(0));
    const touched = importBundle(store, request, {}, {}, { ...IN_THREADS, onProgress });
    expect(await codeOf(touched)).toBe('damaged_archive');
    expect(await store.list()).toEqual([]);
  });

  describe('with a pinned version', () => {
    const pin = (sha256: string | null = null) => ({ version: '2024-01-01', sha256 });

    test('does not move the label of the pinned version to another digest', async () => {
      store = await copyOf(seed);
      const taking = importBundle(store, seed.february, { version: '2024-01-01' }, pin());
      expect(await codeOf(taking)).toBe('pinned');
      expect(await digestAt('2024-01-01')).toBe(seed.january.digest);
    });

    test('does not unpack an archive that would move the label of the pinned version', async () => {
      store = await copyOf(seed);
      const again = await packBundle('acme-export-2024-01-01.tar.gz', 'January, once more');
      expect(await codeOf(importBundle(store, again, {}, pin()))).toBe('pinned');
      expect(await store.has(again.digest)).toBe(false);
    });

    test('moves the label of the pinned version only to the digest in sha256', async () => {
      store = await copyOf(seed);
      const pending = pin(seed.february.digest);
      expect(await codeOf(importBundle(store, seed.march, { version: '2024-01-01' }, pending))).toBe('pinned');
      await importBundle(store, seed.february, { version: '2024-01-01' }, pending);
      expect(await digestAt('2024-01-01')).toBe(seed.february.digest);
    });

    test('rejects a bundle as the pinned version if its digest differs from sha256', async () => {
      store = await copyOf(seed);
      await store.removeLabel('2024-01-01');
      expect(await codeOf(importBundle(store, seed.january, {}, pin(seed.march.digest)))).toBe('pinned');
      expect(await codeOf(importBundle(store, seed.january, {}, pin()))).toBe('it resolved');
    });

    test('moves the label of a version that is not pinned, and returns the previous digest of that version', async () => {
      store = await copyOf(seed);
      const moving = () => importBundle(store, seed.march, { version: '2024-02-01' }, pin());
      expect((await moving()).moved).toBe(seed.february.digest);
      expect(await digestAt('2024-02-01')).toBe(seed.march.digest);
      expect(await moving()).not.toHaveProperty('moved');
    });
  });

  test('does not unpack a stored archive again, whatever its file name is', async () => {
    store = await copyOf(seed);
    const unpack = vi.fn(unpackHere);
    const bundle = { ...seed.january, fileName: 'other-name.tar.gz' };
    const imported = await importBundle(store, bundle, {}, {}, { unpack });
    expect(imported).toMatchObject({ digest: seed.january.digest, unpacked: false });
    expect(unpack).not.toHaveBeenCalled();
  });

  test('creates one complete release for two concurrent imports of the same bundle', async () => {
    store = await newStore();
    const both = await Promise.all([importBundle(store, named), importBundle(store, named)]);
    expect(both.map((imported) => imported.version)).toEqual(['v2', 'v2']);
    expect((await store.view(named.digest, 'v2')).files.size).toBe(1);
  });

  test.each(['release.json', 'files.table'])('imports a release again if its %s is damaged', async (file) => {
    store = await copyOf(seed);
    await writeFile(join(store.folderOf(seed.january.digest), file), '{');
    expect(await importBundle(store, seed.january)).toMatchObject({ unpacked: true });
    expect((await store.view(seed.january.digest, '2024-01-01')).files.size).toBe(1);
  });

  test.each<[string, (file: string) => Promise<void>]>([
    ['changed', (file) => writeFile(file, 'changed on disk')],
    ['missing', (file) => rm(file)],
  ])('imports a release again if one of its files is %s, also while the release is active', async (_, damage) => {
    store = await copyOf(seed);
    const { deployment } = await startDaemon(store);
    await deployment.activate(V1);
    const page = join(store.folderOf(seed.january.digest), 'site/index.html');
    const text = await readFile(page, 'utf8');
    await damage(page);
    expect(await importBundle(store, seed.january)).toMatchObject({ version: V1, unpacked: true });
    expect(await readFile(page, 'utf8')).toBe(text);
    expect(await importBundle(store, seed.january)).toMatchObject({ unpacked: false });
  });

  test('stores no release if the hook before its completion (beforeSeal) fails', async () => {
    store = await newStore();
    const failing = () => Promise.reject(new Error('no index'));
    const taking = importBundle(store, named, {}, {}, { beforeSeal: [failing] });
    await expect(taking).rejects.toThrow('no index');
    expect(await store.list()).toEqual([]);
  });

  test('stops at once if it is aborted during unpacking', async () => {
    store = await newStore();
    const abort = new AbortController();
    const reason = new Error('enough');
    const onProgress = () => abort.abort(reason);
    const taking = importBundle(store, named, { signal: abort.signal }, {}, { ...IN_THREADS, onProgress });
    await expect(taking).rejects.toBe(reason);
    expect(await store.list()).toEqual([]);
  });
});

const disk = smallDisk('1m');
test.skipIf(disk === null)(
  'Importer rejects an archive that needs more disk space than is free, before it writes any file (needs to mount a tmpfs)',
  async () => {
    store = new SiteStore(await openDataFolder(disk ?? ''));
    const large = join(newFolder(), 'large.tar.gz');
    const pack =
      'cd "$(dirname "$1")" && mkdir site && echo hi > site/index.html && head -c 3000000 /dev/zero > site/large.bin && tar -czf "$1" -C site .';
    execFileSync('sh', ['-c', pack, 'sh', large]);
    const phases: string[] = [];
    const onProgress = (phase: string) => phases.push(phase);
    const taking = importBundle(store, { file: large, fileName: 'large.tar.gz' }, {}, {}, { onProgress });
    expect(await codeOf(taking)).toBe('not_enough_space');
    expect(phases).not.toContain('unpacking');
  },
);
