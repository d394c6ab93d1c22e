import { randomBytes } from 'node:crypto';
import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ARCHIVE_FORMATS, rawTar, SITE_FILES, siteArchive } from '../helpers/archives.ts';
import { cases } from '../helpers/runs.ts';
import { Workbench } from './workbench.ts';

const bench = new Workbench();

describe.each(ARCHIVE_FORMATS)('a damaged %s archive', (format) => {
  const whole = siteArchive(format);

  it('is rejected wherever the archive is cut off', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: whole.length - 1 }), async (length) => {
        expect((await bench.attempt(whole.subarray(0, length))).stage).toBe('inspected');
        expect(await bench.written()).toEqual([]);
      }),
      { numRuns: cases(50) },
    );
  });

  it('is rejected or unpacks correctly, whichever byte is changed', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: whole.length - 1 }), fc.integer({ min: 1, max: 255 }), async (at, mask) => {
        const bytes = Buffer.from(whole);
        bytes[at] = (bytes[at] ?? 0) ^ mask;
        const { error, extracted } = await bench.attempt(bytes);
        expect(error?.code).not.toBe('internal');
        expect((await bench.written()).filter((name) => name !== 'staging')).toEqual([]);
        if (error === null) expect(extracted).toHaveLength(Object.keys(SITE_FILES).length);
      }),
      { numRuns: cases(50) },
    );
  });
});

describe('an archive whose first block is damaged', () => {
  // More than the decoder returns at once, so that the block is read before the checksum.
  const tar = rawTar([
    { name: 'index.html', body: '<title>x</title>' },
    { name: 'x.bin', body: randomBytes(2 ** 21) },
  ]);
  /** Overwrites all magic bytes and checksums of the tar. */
  const garbled = (stored: Buffer, at: number): Buffer => {
    const bytes = Buffer.from(stored);
    for (let index = at; index < at + 512; index += 1) bytes[index] = (bytes[index] ?? 0) ^ 0x55;
    return bytes;
  };

  it('is reported as a tar.gz with a wrong checksum, not as an unknown format', async () => {
    // A deflate block of stored bytes begins after a header of 10 bytes and its own of 5 (RFC 1951, 3.2.4).
    const bytes = garbled(gzipSync(tar, { level: 0 }), 15);
    expect(await bench.codeOf(bytes)).toBe('wrong_crc');
  });

  it('is reported as a tar.zst with a wrong checksum, not as an unknown format', async () => {
    const checksum = zstdCompressSync(tar, { params: { [constants.ZSTD_c_checksumFlag]: 1 } }).subarray(-4);
    const blocks: Buffer[] = [];
    for (let at = 0; at < tar.length; at += 2 ** 17) {
      const body = tar.subarray(at, at + 2 ** 17);
      const head = Buffer.alloc(3);
      head.writeUIntLE((body.length << 3) | (at + 2 ** 17 >= tar.length ? 1 : 0), 0, 3);
      blocks.push(head, body);
    }
    // Magic number, a frame header with a checksum and a window of 1 MiB, and raw blocks (RFC 8878, 3.1.1).
    const frame = Buffer.concat([Buffer.of(0x28, 0xb5, 0x2f, 0xfd, 0x04, 0x50), ...blocks, checksum]);
    expect((await bench.attempt(frame)).stage).toBe('passed');
    expect(await bench.codeOf(garbled(frame, 9))).toBe('wrong_crc');
  });

  it('is reported as damaged_archive if its format has no checksum, because docshelf recognizes the rest of the header', async () => {
    const bytes = Buffer.from(tar);
    bytes[0] = 0x58;
    expect(await bench.codeOf(zstdCompressSync(bytes))).toBe('damaged_archive');
  });
});

it.each([1, 2 ** 21])(
  'a changed byte in a tar.gz with a file of %d bytes is reported as a wrong checksum',
  async (size) => {
    const tar = rawTar([
      { name: 'index.html', body: '<title>x</title>' },
      { name: 'x.bin', body: randomBytes(size) },
    ]);
    const whole = gzipSync(tar, { level: 0 });
    // Positions after the headers of gzip and of a stored block: name, checksum and magic of the first header, its content, the
    // next header.
    for (const at of [0, 150, 258, 512, 1024]) {
      const bytes = Buffer.from(whole);
      bytes[15 + at] = (bytes[15 + at] ?? 0) ^ 0x55;
      expect([at, await bench.codeOf(bytes)]).toEqual([at, 'wrong_crc']);
    }
  },
);
