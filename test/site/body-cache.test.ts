import { rmSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { ReleaseView } from '../../src/domain/release.ts';
import { BodyCache } from '../../src/site/body-cache.ts';
import { SiteFile } from '../../src/site/site-file.ts';
import { releases } from './helpers.ts';

function fileOf(release: ReleaseView, path: string): SiteFile {
  const entry = release.files.get(path);
  if (entry === undefined) throw new Error(`the test's release has no ${path}`);
  return new SiteFile(entry, release, { id: '', headers: {}, cacheControl: null }, false);
}

const TEXT = 'all work and no play '.repeat(200);

describe('BodyCache (response bodies in memory)', () => {
  it('stores compressed bodies in buffers of exactly their size', async () => {
    const file = fileOf(releases.make({ 'a.html': TEXT }), 'a.html');
    const { bytes } = await new BodyCache(1024 ** 2).load(file, 'br');
    expect(bytes.buffer.byteLength).toBe(bytes.length);
  });

  it('does not read a cached body again, even for another release with the same content', async () => {
    const first = releases.make({ 'a.html': TEXT });
    const second = releases.make({ 'b.html': TEXT });
    const cache = new BodyCache(1024 ** 2);
    const loaded = await cache.load(fileOf(first, 'a.html'), 'br');
    rmSync(second.siteDir, { recursive: true });
    expect(cache.get(fileOf(second, 'b.html'), 'br')).toBe(loaded);
  });

  it('reads and compresses a file once for concurrent requests', async () => {
    const file = fileOf(releases.make({ 'a.html': TEXT }), 'a.html');
    const cache = new BodyCache(1024 ** 2);
    const bodies = await Promise.all(Array.from({ length: 20 }, () => cache.load(file, 'br')));
    expect(new Set(bodies.map(({ bytes }) => bytes)).size).toBe(1);
  });

  it('removes the least recently used bodies if the cache exceeds its limit', async () => {
    const release = releases.make({ 'a.txt': 'a'.repeat(4000), 'b.txt': 'b'.repeat(4000), 'c.txt': 'c'.repeat(4000) });
    const cache = new BodyCache(9000);
    for (const path of ['a.txt', 'b.txt', 'c.txt']) await cache.load(fileOf(release, path), 'identity');
    const kept = ['a.txt', 'b.txt', 'c.txt'].filter((path) => cache.get(fileOf(release, path), 'identity'));
    expect(kept).toEqual(['b.txt', 'c.txt']);
  });

  it('stores nothing if its limit is 0', async () => {
    const file = fileOf(releases.make({ 'a.txt': '' }), 'a.txt');
    const cache = new BodyCache(0);
    expect((await cache.load(file, 'identity')).bytes.length).toBe(0);
    expect(cache.get(file, 'identity')).toBeUndefined();
  });
});
