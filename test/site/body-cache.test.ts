import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
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
  it('returns the bytes in each encoding', async () => {
    const file = fileOf(releases.make({ 'a.html': TEXT }), 'a.html');
    const cache = new BodyCache(1024 ** 2);
    const br = await cache.load(file, 'br');
    const gzip = await cache.load(file, 'gzip');
    const identity = await cache.load(file, 'identity');
    expect([br.encoding, gzip.encoding, identity.encoding]).toEqual(['br', 'gzip', 'identity']);
    expect(brotliDecompressSync(br.bytes).toString()).toBe(TEXT);
    expect(gunzipSync(gzip.bytes).toString()).toBe(TEXT);
    expect(identity.bytes.toString()).toBe(TEXT);
  });

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

  it('returns uncompressed bytes if the file is already compressed, whatever its name', async () => {
    const file = fileOf(
      releases.make({ 'a.js': Buffer.concat([Buffer.from([0x1f, 0x8b]), Buffer.alloc(5000)]) }),
      'a.js',
    );
    expect((await new BodyCache(1024 ** 2).load(file, 'br')).encoding).toBe('identity');
  });

  it('returns uncompressed bytes if compression does not reduce the size', async () => {
    const file = fileOf(releases.make({ 'a.txt': 'x' }), 'a.txt');
    expect((await new BodyCache(1024 ** 2).load(file, 'gzip')).encoding).toBe('identity');
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

  it('distinguishes a missing file from a damaged file, and reads the disk again after both failures', async () => {
    const release = releases.make({ 'a.txt': 'right' });
    const file = fileOf(release, 'a.txt');
    const cache = new BodyCache(1024 ** 2);
    writeFileSync(join(release.siteDir, 'a.txt'), 'much too long');
    await expect(cache.load(file, 'identity')).rejects.toMatchObject({ code: 'release_damaged' });
    rmSync(join(release.siteDir, 'a.txt'));
    await expect(cache.load(file, 'identity')).rejects.toMatchObject({ code: 'cannot_read' });
    writeFileSync(join(release.siteDir, 'a.txt'), 'right');
    expect((await cache.load(file, 'identity')).bytes.toString()).toBe('right');
  });
});
