import { readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { type BundleContent, ManifestStore } from '../../src/export/manifest-store.ts';
import { parseManifest } from '../helpers/manifests.ts';
import { newFolder } from '../helpers/new-folder.ts';

const FILE = { path: 'index.html', size: 4, sha256: 'a'.repeat(64), type: 'text/html; charset=utf-8' };
const CONTENT: BundleContent = { domain: 'acme', version: 'v1', files: [FILE] };
const JUNE = { createdAt: '2024-06-01T00:00:00.000Z', generator: 'docshelf 1' };
const JULY = { createdAt: '2024-07-01T00:00:00.000Z', generator: 'docshelf 2' };
const DAY_MS = 24 * 3_600_000;

describe('ManifestStore (manifests of exported bundles)', () => {
  let dir = '';
  let store: ManifestStore;

  beforeEach(async () => {
    dir = newFolder();
    store = new ManifestStore(dir);
  });

  it('keeps the manifest of the first export for all later exports of the same content', async () => {
    const first = await store.take(CONTENT, JUNE);
    const second = await store.take(CONTENT, JULY);
    expect(second).toBe(first);
    const bytes = (await store.read(first)) ?? Buffer.alloc(0);
    expect(parseManifest(bytes, 'manifest.json')).toMatchObject({ ...JUNE, domain: 'acme', files: [FILE] });
  });

  it.each<[what: string, content: BundleContent]>([
    ['a changed domain', { ...CONTENT, domain: 'globex' }],
    ['a changed version', { ...CONTENT, version: 'v2' }],
    ['no version', { ...CONTENT, version: null }],
    ['a changed path', { ...CONTENT, files: [{ ...FILE, path: 'a.html' }] }],
    ['a changed file', { ...CONTENT, files: [{ ...FILE, sha256: 'b'.repeat(64) }] }],
    ['a changed type', { ...CONTENT, files: [{ ...FILE, type: 'text/html' }] }],
    ['an additional file', { ...CONTENT, files: [FILE, { ...FILE, path: 'b.html' }] }],
  ])('stores a separate manifest for content with %s', async (_, content) => {
    const first = await store.take(CONTENT, JUNE);
    expect(await store.take(content, JUNE)).not.toBe(first);
  });

  it('stores one manifest for many concurrent calls with the same content', async () => {
    const stored = await Promise.all(
      Array.from({ length: 20 }, (_, n) => store.take(CONTENT, { ...JUNE, generator: `docshelf ${n}` })),
    );
    expect(new Set(stored).size).toBe(1);
    expect(await readdir(dir)).toEqual([`${stored[0]}.json`]);
  });

  it('removes manifests that are unused and in no bundle, and leftovers of killed processes', async () => {
    const kept = await store.take(CONTENT, JUNE);
    const unused = await store.take({ ...CONTENT, version: 'v2' }, JUNE);
    const used = await store.take({ ...CONTENT, version: 'v3' }, JUNE);
    await writeFile(join(dir, '.tmp-killed'), 'half');
    const long = new Date(Date.now() - 2 * DAY_MS);
    for (const name of await readdir(dir)) await utimes(join(dir, name), long, long);
    await store.take({ ...CONTENT, version: 'v3' }, JULY);

    await store.sweep(new Set([kept]), DAY_MS);
    expect((await readdir(dir)).sort()).toEqual([`${kept}.json`, `${used}.json`].sort());
    expect(await store.read(unused)).toBeNull();
    expect(Date.now() - (await stat(join(dir, `${used}.json`))).mtimeMs).toBeLessThan(DAY_MS);
  });
});
