import { createWriteStream } from 'node:fs';
import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { unpackInThreads } from '../../src/deploy/import/unpack-thread.ts';
import { ARCHIVE_LIMITS } from '../../src/domain/limits.ts';
import { readFileTable } from '../../src/files/index.ts';
import { HEAPS, type Heap } from '../../src/threads/index.ts';
import { rawTar, rawZip } from '../helpers/archives.ts';
import { newFolder } from '../helpers/new-folder.ts';

/** Bounds the memory for archives with a long listing. */

/** With one object per entry, half of the listing would not fit. */
const SMALL_HEAP: Heap = { maxOldGenerationSizeMb: 40, maxYoungGenerationSizeMb: 4 };
const END = Buffer.alloc(1024);

const dir = newFolder();

const nameOf = (n: number): string =>
  `reference/section-${n % 500}/a-name-as-long-as-those-of-generated-references-are-${String(n).padStart(7, '0')}.js`;

async function unpack(archive: string) {
  const heaps = HEAPS as Record<string, Heap>;
  const sound = heaps.unpack as Heap;
  onTestFinished(() => void Object.assign(heaps, { unpack: sound }));
  Object.assign(heaps, { unpack: SMALL_HEAP });
  const releaseDir = await mkdtemp(join(dir, 'release-'));
  const limits = { ...ARCHIVE_LIMITS, ratioMax: 10_000 };
  const order = {
    archive,
    name: 'x',
    releaseDir,
    limits,
    isVerified: false,
    foldsCase: false,
    isIndexed: false,
    linkTo: [],
  };
  const summary = await unpackInThreads()(order, () => undefined, new AbortController().signal);
  return { summary, releaseDir };
}

function* tarOf(count: number, last: readonly string[] = []): Generator<Buffer> {
  yield rawTar([{ name: 'index.html', body: '<title>Home</title>' }], Buffer.alloc(0));
  for (let n = 0; n < count; n += 1_000) {
    const members = Array.from({ length: 1_000 }, (_, at) => ({ name: nameOf(n + at), body: '' }));
    yield rawTar(members, Buffer.alloc(0));
  }
  yield rawTar(
    last.map((name) => ({ name, body: 'x' })),
    END,
  );
}

describe('a tar.gz', { timeout: 600_000 }, () => {
  it('is imported within a small heap if it has 40,000 files', async () => {
    const archive = join(dir, 'many.tar.gz');
    await pipeline(Readable.from(tarOf(40_000)), createGzip({ level: 1 }), createWriteStream(archive));
    const { summary, releaseDir } = await unpack(archive);
    expect(summary).toMatchObject({ files: 40_001, pages: 1 });
    const table = await readFileTable(releaseDir);
    expect(table.size).toBe(40_001);
    for (const path of ['index.html', nameOf(0), nameOf(39_999)]) expect(table.get(path)?.path).toBe(path);
    expect(await readFile(join(releaseDir, 'site/index.html'), 'utf8')).toContain('Home');
  });

  it('is rejected within a small heap if the last of 100,000 files is outside of the site', async () => {
    const archive = join(dir, 'hostile.tar.gz');
    await pipeline(Readable.from(tarOf(100_000, ['../evil'])), createGzip({ level: 1 }), createWriteStream(archive));
    await expect(unpack(archive)).rejects.toMatchObject({ code: 'name_dotdot' });
  });
});

describe('a zip', { timeout: 600_000 }, () => {
  it('is rejected within a small heap if the last of 60,000 files is outside of the site', async () => {
    const names = [...Array.from({ length: 60_000 }, (_, n) => nameOf(n)), '../evil'];
    const archive = join(dir, 'hostile.zip');
    const zip = rawZip([{ name: 'index.html', body: '<p>' }, ...names.map((name) => ({ name, body: '' }))]);
    await pipeline(Readable.from([zip]), createWriteStream(archive));
    await expect(unpack(archive)).rejects.toMatchObject({ code: 'name_dotdot' });
  });
});
