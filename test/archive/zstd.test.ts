import { describe, expect, it } from 'vitest';
import { unzstd } from '../../src/archive/compression.ts';
import { refusalsOf } from '../../src/archive/rules.ts';
import { ARCHIVE_LIMITS } from '../../src/domain/limits.ts';
import { rawTar, siteTar, zst, zstSkippable } from '../helpers/archives.ts';
import { Workbench } from './workbench.ts';

async function* inChunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function decode(bytes: Buffer, chunkBytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of unzstd(inChunksOf(bytes, chunkBytes), ARCHIVE_LIMITS, refusalsOf('x'))) parts.push(part);
  return Buffer.concat(parts);
}

const bench = new Workbench();

describe('unzstd()', () => {
  const tar = siteTar();
  const noise = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * index * 31) % 251));
  const several = Buffer.concat([
    zstSkippable(Buffer.from('seek table')),
    zst(tar.subarray(0, 1000)),
    zstSkippable(Buffer.alloc(0)),
    zst(Buffer.alloc(0)),
    zst(tar.subarray(1000)),
    zst(noise),
  ]);
  const plain = Buffer.concat([tar, noise]);

  it.each([1, 2, 3, 7, 64, 1000, 4096, 1 << 20])(
    'decodes every frame if the data arrives in chunks of %i bytes',
    async (size) => {
      expect((await decode(several, size)).equals(plain)).toBe(true);
    },
  );

  it('accepts the maximum window, and rejects a larger window before decoding', async () => {
    const big = Buffer.alloc(4 * 1024 ** 2, 'abc');
    const limits = (windowBytesMax: number) => ({ windowBytesMax });
    const bytes = zst(rawTar([{ name: 'index.html', body: big }]), 21);
    expect(await bench.codeOf(bytes, limits(8 * 1024 ** 2))).toBe(null);
    expect(await bench.codeOf(bytes, limits(1024 ** 2))).toBe('window_too_large');
  });

  it.each([
    [
      'a skippable frame that is cut off',
      Buffer.concat([zst(tar), zstSkippable(Buffer.alloc(100)).subarray(0, 50)]),
      'truncated',
    ],
    [
      'three bytes after the last frame',
      Buffer.concat([zst(tar), Buffer.from([0x28, 0xb5, 0x2f])]),
      'trailing_garbage',
    ],
    ['zeros after the last frame', Buffer.concat([zst(tar), Buffer.alloc(64)]), 'trailing_garbage'],
    ['a second tar in a second frame', Buffer.concat([zst(tar), zst(tar)]), 'trailing_garbage'],
  ])('rejects a stream with an invalid end: %s', async (_case, bytes, code) => {
    expect(await bench.codeOf(bytes)).toBe(code);
  });
});
