import { createHash, hash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { BundleVectors, BundleVectorWriter } from '../../src/search/bundle-data/bundle-vectors.ts';
import { fuzz } from '../helpers/fuzz.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { cases } from '../helpers/runs.ts';

const MODEL = 'a'.repeat(64);
const [HEADER, VECTORS] = ['header.json', 'vectors-1.bin'] as const;
const DIMS = 32;
const MIB = 1024 ** 2;

const RECORDS = Array.from({ length: 3 }, (_, row) => ({
  key: hash('sha256', `text ${row}`, 'buffer'),
  vector: Int8Array.from({ length: DIMS }, (_each, at) => row * DIMS + at - 48),
}));

const dir = newFolder();
let count = 0;

function newRelease(): string {
  const releaseDir = join(dir, `${count++}`);
  mkdirSync(folderOf(releaseDir), { recursive: true });
  return releaseDir;
}

const folderOf = (releaseDir: string) => join(releaseDir, '_docshelf/search');
const fileOf = (releaseDir: string, name: string) => join(folderOf(releaseDir), name);

/** @returns the folder of a release whose bundle contains these vectors */
function written(records: Iterable<(typeof RECORDS)[number]> = RECORDS, dims = DIMS): string {
  const releaseDir = newRelease();
  const writer = new BundleVectorWriter(folderOf(releaseDir), { modelDigest: MODEL, dims });
  for (const record of records) writer.add(record);
  writer.finish();
  return releaseDir;
}

function read(releaseDir: string) {
  const vectors = BundleVectors.open(releaseDir);
  if (vectors === null) return null;
  const records = Array.from(vectors.records(), ({ key, vector }) => ({
    key: Buffer.from(key),
    vector: vector.slice(),
  }));
  return { header: vectors.header, records };
}

function outcomeOf(releaseDir: string): string {
  try {
    return read(releaseDir) === null ? 'ignored' : 'read';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

/** Vectors depend on the text and on `turn`, so that a test sees which model computed them. */
function withHeader(change: (header: object) => unknown): string {
  const releaseDir = written();
  const header = JSON.parse(readFileSync(fileOf(releaseDir, HEADER), 'utf8'));
  writeFileSync(fileOf(releaseDir, HEADER), JSON.stringify(change(header)));
  return releaseDir;
}

describe('BundleVectors (reader of the vectors in a bundle)', () => {
  it('reads the records that BundleVectorWriter wrote', () => {
    const releaseDir = written();
    expect(readdirSync(folderOf(releaseDir)).sort()).toEqual([HEADER, VECTORS]);
    const found = read(releaseDir);
    expect(found?.records).toEqual(RECORDS);
    expect(found?.header).toMatchObject({ formatVersion: 3, count: 3, modelDigest: MODEL, dims: DIMS });
  });

  it('reads a header without vectors', () => {
    const releaseDir = written([]);
    expect(readdirSync(folderOf(releaseDir))).toEqual([HEADER]);
    expect(read(releaseDir)).toMatchObject({ records: [], header: { count: 0, shards: [] } });
  });

  it('reads one shard of vectors at a time, so that memory use does not grow with the number of shards', {
    timeout: 120_000,
  }, () => {
    const [records, dims] = [70_000, 1024];
    const releaseDir = written(
      (function* () {
        const vector = new Int8Array(dims).fill(7);
        for (let row = 0; row < records; row += 1) yield { key: hash('sha256', `${row}`, 'buffer'), vector };
      })(),
      dims,
    );
    expect(readdirSync(folderOf(releaseDir)).sort()).toEqual([HEADER, ...[VECTORS, 'vectors-2.bin', 'vectors-3.bin']]);
    const peakBefore = process.resourceUsage().maxRSS;
    let sound = 0;
    for (const { key, vector } of BundleVectors.open(releaseDir)?.records() ?? []) {
      if (vector[dims - 1] === 7 && hash('sha256', `${sound}`, 'buffer').equals(key)) sound += 1;
    }
    expect(sound).toBe(records);
    // The files have 74 MB.
    expect((process.resourceUsage().maxRSS - peakBefore) * 1024).toBeLessThan(48 * MIB);
  });

  it('returns null if the bundle has no search data', () => {
    expect([read(newRelease()), read(join(dir, 'missing'))]).toEqual([null, null]);
  });

  it.each([
    ['version 2', { formatVersion: 2, sections: { count: 0, shards: [] }, vectors: null }],
    ['version 1', { formatVersion: 1 }],
  ])('ignores a header of format %s', (_, header) => {
    expect(read(withHeader(() => header))).toBeNull();
  });

  it('accepts unknown header keys, which a later writer may add', () => {
    expect(read(withHeader((header) => ({ ...header, later: 1 })))?.records).toEqual(RECORDS);
  });

  it.each([HEADER, VECTORS])('rejects the file %s if one bit is changed or the file is shortened', (name) => {
    const sound = written();
    const whole = readFileSync(fileOf(sound, name));
    // Change one bit of each byte, or of evenly spread bytes, because each case writes a file.
    const count = cases(whole.length);
    const changed = Array.from({ length: count }, (_, at) => {
      const bit = 8 * Math.floor((at * whole.length) / count) + (at % 8);
      const bytes = Buffer.from(whole);
      bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      return bytes;
    });
    const releaseDir = newRelease();
    cpSync(folderOf(sound), folderOf(releaseDir), { recursive: true });
    let rejected = 0;
    for (const bytes of [whole.subarray(0, -2), ...changed]) {
      writeFileSync(fileOf(releaseDir, name), bytes);
      let found: ReturnType<typeof read>;
      try {
        found = read(releaseDir);
      } catch (error) {
        expect(error).toMatchObject({ code: 'bad_search_data' });
        rejected += 1;
        continue;
      }
      // Fields of the header that may differ: a space, a lower version, or the digest of another model.
      expect(name).toBe(HEADER);
      if (found !== null) expect(found.records).toEqual(RECORDS);
    }
    expect(rejected).toBeGreaterThan(name === HEADER ? count / 3 : count);
  });

  it.each<[string, () => string]>([
    ['a later format version', () => withHeader((header) => ({ ...header, formatVersion: 4 }))],
    ['a header that is an array', () => withHeader(() => [])],
    ['a header without version', () => withHeader(() => ({}))],
    ['a version as text', () => withHeader((header) => ({ ...header, formatVersion: '3' }))],
    ['a header without shards', () => withHeader((header) => ({ ...header, shards: undefined }))],
    ['too few vectors', () => withHeader((header) => ({ ...header, count: 4 }))],
    ['too many vectors', () => withHeader((header) => ({ ...header, count: 2 }))],
    ['more vectors than the limit of an index', () => withHeader((header) => ({ ...header, count: 4_000_001 }))],
    ['dims that are not a multiple of 32', () => withHeader((header) => ({ ...header, dims: 48 }))],
    ['dims that do not match the vectors', () => withHeader((header) => ({ ...header, dims: 64 }))],
    ['an invalid model digest', () => withHeader((header) => ({ ...header, modelDigest: 'x' }))],
    [
      'more bytes than the limit of a shard',
      () => withHeader((header) => ({ ...header, shards: [{ bytes: 64 * 2 ** 30, sha256: MODEL }] })),
    ],
    ['a header of more than 1 MiB', () => withHeader((header) => ({ ...header, later: 'x'.repeat(MIB) }))],
    [
      'a missing shard',
      () => {
        const releaseDir = written();
        rmSync(fileOf(releaseDir, VECTORS));
        return releaseDir;
      },
    ],
    [
      'a longer shard',
      () => {
        const releaseDir = written();
        truncateSync(fileOf(releaseDir, VECTORS), 4 * (32 + DIMS));
        return releaseDir;
      },
    ],
    ...[HEADER, VECTORS].map((name): [string, () => string] => [
      `a folder instead of ${name}`,
      () => {
        const releaseDir = written();
        rmSync(fileOf(releaseDir, name));
        mkdirSync(fileOf(releaseDir, name));
        return releaseDir;
      },
    ]),
    [
      'a file instead of the search folder',
      () => {
        const releaseDir = newRelease();
        rmSync(folderOf(releaseDir), { recursive: true });
        writeFileSync(folderOf(releaseDir), '');
        return releaseDir;
      },
    ],
  ])('rejects search data with %s', (_, make) => {
    expect(outcomeOf(make())).toBe('bad_search_data');
  });
});

describe('BundleVectorWriter (writer of the vectors in a bundle)', () => {
  it('writes the same bytes for the same input', () => {
    const [one, other] = [written(), written()];
    for (const name of readdirSync(folderOf(one)))
      expect(readFileSync(fileOf(one, name))).toEqual(readFileSync(fileOf(other, name)));
  });

  it('does not overwrite an existing file', () => {
    const releaseDir = written();
    const writer = new BundleVectorWriter(folderOf(releaseDir), { modelDigest: MODEL, dims: DIMS });
    expect(() => writer.finish()).toThrow('EEXIST');
  });
});

describe('BundleVectors with seeded random changes in the search data', { timeout: 1_800_000 }, () => {
  const OUTCOMES = ['read', 'ignored', 'bad_search_data'];

  it('throws no unexpected error for a changed header', async () => {
    const releaseDir = written();
    await fuzz([readFileSync(fileOf(releaseDir, HEADER))], (bytes) => {
      writeFileSync(fileOf(releaseDir, HEADER), bytes);
      expect(OUTCOMES).toContain(outcomeOf(releaseDir));
    });
  });

  it('reads changed vectors whose digest matches the header, or rejects them with bad_search_data', async () => {
    const releaseDir = written();
    const header = JSON.parse(readFileSync(fileOf(releaseDir, HEADER), 'utf8'));
    await fuzz([readFileSync(fileOf(releaseDir, VECTORS))], (bytes) => {
      const shard = { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
      writeFileSync(fileOf(releaseDir, VECTORS), bytes);
      writeFileSync(fileOf(releaseDir, HEADER), JSON.stringify({ ...header, shards: [shard] }));
      expect(['read', 'bad_search_data']).toContain(outcomeOf(releaseDir));
    });
  });
});
