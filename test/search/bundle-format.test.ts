import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FileEntry } from '../../src/domain/release.ts';
import { CarriedSearch } from '../../src/search/bundle-data/read-bundle-search.ts';
import { BundleSearchWriter } from '../../src/search/bundle-data/write-bundle-search.ts';
import { fuzz } from '../helpers/fuzz.ts';

const MODEL = 'a'.repeat(64);
const [HEADER, SECTIONS, VECTORS] = ['header.json', 'sections-1.jsonl', 'vectors-1.i8'] as const;
const MIB = 1024 ** 2;

const section = (path: string, text: string, language: string | null) => ({
  path,
  title: 'T',
  headings: ['T', 'Ü'],
  text,
  language,
  version: null,
  tags: ['x'],
});

/** Three sections, the Japanese one without vectors. */
const ALL = [
  {
    section: section('/a#x', 'one two 😀', 'en'),
    passages: [
      { start: 0, end: 3 },
      { start: 2, end: 10 },
    ],
    embedded: true,
  },
  { section: section('/ja', '日本語', 'ja'), passages: [{ start: 0, end: 3 }], embedded: false },
  { section: section('/b', 'three\nfour', null), passages: [{ start: 0, end: 10 }], embedded: true },
];
const ROWS = Array.from({ length: 3 }, (_, row) => Int8Array.from({ length: 32 }, (_, at) => row * 32 + at - 48));
const PAGES = ['a.html', 'b.html', 'ja.html'].map((path) => ({ path, size: 100, sha256: '', type: 'text/html' }));

let dir: string;
let count = 0;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'docshelf-format-'));
});
afterAll(() => rmSync(dir, { recursive: true }));

function folder(): string {
  const path = join(dir, `${count++}`);
  mkdirSync(path);
  return path;
}

function written(
  vectors: Parameters<BundleSearchWriter['finish']>[0] = { modelDigest: MODEL, dims: 32, all: ROWS },
): string {
  const into = folder();
  const writer = new BundleSearchWriter(into, 300);
  expect(writer.writeSections(ALL)).toBe(3);
  writer.finish(vectors);
  return into;
}

const byPath = (files: readonly FileEntry[]) => new Map(files.map((file) => [file.path, file]));

async function read(from: string, files: readonly FileEntry[] = PAGES) {
  const carried = await CarriedSearch.open(from, { files: byPath(files), trailingSlash: 'never' });
  return (
    carried && {
      header: carried.header,
      sections: [...carried.sections()],
      vectors: Array.from(carried.vectors(), (vector) => vector.slice()),
    }
  );
}
const codeOf = (from: string, files?: readonly FileEntry[]) =>
  read(from, files).then(
    () => 'none',
    ({ code }) => code as string,
  );

/** A sound one with another header. */
function withHeader(change: (header: { sections: object; vectors: object }) => unknown): string {
  const from = written();
  const header = JSON.parse(readFileSync(join(from, HEADER), 'utf8'));
  writeFileSync(join(from, HEADER), JSON.stringify(change(header)));
  return from;
}

/** With other lines, and a header that agrees with them. */
function withLines(lines: string, sections = 3): string {
  const bytes = Buffer.from(lines);
  const shard = { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
  const from = withHeader((header) => ({ ...header, sections: { count: sections, shards: [shard] } }));
  writeFileSync(join(from, SECTIONS), bytes);
  return from;
}

const soundLines = () => readFileSync(join(written(), SECTIONS), 'utf8');

function withSection(change: object): string {
  const [first = '{}', ...others] = soundLines().trimEnd().split('\n');
  return withLines(
    [JSON.stringify({ ...JSON.parse(first), ...change }), ...others].map((line) => `${line}\n`).join(''),
  );
}

describe('CarriedSearch', () => {
  it('gives back what BundleSearchWriter was given', async () => {
    const from = written();
    expect(readdirSync(from).sort()).toEqual([HEADER, SECTIONS, VECTORS]);
    expect(await read(from)).toMatchObject({ sections: ALL, vectors: ROWS });
  });

  it('gives back sections without vectors', async () => {
    const from = written(null);
    expect(readdirSync(from).sort()).toEqual([HEADER, SECTIONS]);
    expect(await read(from)).toMatchObject({ sections: ALL, vectors: [], header: { vectors: null } });
  });

  it('is none where a bundle carries none', async () => {
    expect(await read(folder())).toBeNull();
  });

  it('lets keys of later writers be', async () => {
    expect((await read(withSection({ later: 1 })))?.sections).toEqual(ALL);
  });

  it('reads shards one after the other', { timeout: 60_000 }, async () => {
    const into = folder();
    const writer = new BundleSearchWriter(into, 60 * MIB);
    const text = 'x'.repeat(3 * MIB);
    const many = Array.from({ length: 24 }, () => ({
      section: section('/a', text, null),
      passages: [],
      embedded: false,
    }));
    writer.writeSections(many);
    writer.finish({
      modelDigest: MODEL,
      dims: 1024,
      all: Array.from({ length: 33_000 }, () => new Int8Array(1024).fill(7)),
    });
    expect(readdirSync(into).sort()).toEqual([
      HEADER,
      ...['sections-1.jsonl', 'sections-2.jsonl', 'sections-3.jsonl', 'vectors-1.i8', 'vectors-2.i8'],
    ]);
    const pages = PAGES.map((page) => ({ ...page, size: 30 * MIB }));
    const carried = await CarriedSearch.open(into, { files: byPath(pages), trailingSlash: 'never' });
    let [sections, vectors] = [0, 0];
    for (const { section: each } of carried?.sections() ?? []) sections += Number(each.text.length === text.length);
    for (const vector of carried?.vectors() ?? []) vectors += Number(vector[1023] === 7);
    expect([sections, vectors]).toEqual([24, 33_000]);
  });

  it.each([HEADER, SECTIONS, VECTORS])('refuses %s with any one bit changed or its end cut off', async (name) => {
    const sound = written();
    const whole = readFileSync(join(sound, name));
    const changed = Array.from({ length: 40 }, (_, n) => {
      const bytes = Buffer.from(whole);
      const at = Math.floor((n * bytes.length) / 40);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (n % 8));
      return bytes;
    });
    for (const bytes of [whole.subarray(0, -1), ...changed]) {
      const from = folder();
      cpSync(sound, from, { recursive: true });
      writeFileSync(join(from, name), bytes);
      const found = await read(from).catch(({ code }) => code);
      // A changed space, count of vectors or digest of the model in the header is found by whoever uses the vectors.
      if (name === HEADER && typeof found === 'object') expect(found?.sections).toEqual(ALL);
      else expect(found).toBe('bad_search_data');
    }
  });

  it.each([SECTIONS, VECTORS])('refuses data without %s', async (name) => {
    const from = written();
    rmSync(join(from, name));
    expect(await codeOf(from)).toBe('bad_search_data');
  });

  it('refuses more sections than the pages that they speak of can have, before it reads them', async () => {
    const from = withHeader((header) => ({
      ...header,
      sections: { count: 3, shards: [{ bytes: 17 * MIB, sha256: MODEL }] },
    }));
    rmSync(join(from, SECTIONS));
    const opening = CarriedSearch.open(from, { files: byPath(PAGES), trailingSlash: 'never' });
    await expect(opening).rejects.toMatchObject({
      code: 'bad_search_data',
      message: expect.stringContaining('too many for pages of 300 bytes'),
    });
  });

  it('refuses sections of a page that the bundle does not have', async () => {
    expect(await codeOf(written(), PAGES.slice(1))).toBe('bad_search_data');
  });

  it.each<[string, () => string]>([
    ['another format', () => withHeader((header) => ({ ...header, formatVersion: 1 }))],
    ['a header of something else', () => withHeader(() => [])],
    ['a header without sections', () => withHeader((header) => ({ ...header, sections: undefined }))],
    [
      'more bytes than a shard may have',
      () =>
        withHeader((header) => ({ ...header, sections: { count: 3, shards: [{ bytes: 2 ** 40, sha256: MODEL }] } })),
    ],
    [
      'dims that are no multiple of 32',
      () => withHeader(({ vectors, ...header }) => ({ ...header, vectors: { ...vectors, dims: 48 } })),
    ],
    [
      'a shard that ends within a vector',
      () => withHeader(({ vectors, ...header }) => ({ ...header, vectors: { ...vectors, dims: 64 } })),
    ],
    ['fewer sections than it counts', () => withLines(soundLines(), 4)],
    ['more sections than it counts', () => withLines(soundLines(), 2)],
    ['a line without end', () => withLines(soundLines().trimEnd())],
    ['a line that is no JSON', () => withLines(`${soundLines()}{\n`, 4)],
    ['a line of other JSON', () => withLines(`${soundLines()}null\n`, 4)],
    ['a path to another host', () => withSection({ path: '//evil.example/' })],
    ['a path with a scheme', () => withSection({ path: 'javascript:alert(1)' })],
    ['a path with a new line', () => withSection({ path: '/a\nb' })],
    ['a text that is none', () => withSection({ text: 1 })],
    ['headings without end', () => withSection({ headings: Array(100).fill('x') })],
    [
      'a passage beyond the text',
      () =>
        withSection({
          passages: [
            [0, 3],
            [2, 11],
          ],
        }),
    ],
    [
      'a passage that ends before it begins',
      () =>
        withSection({
          passages: [
            [0, 3],
            [9, 4],
          ],
        }),
    ],
    [
      'passages out of order',
      () =>
        withSection({
          passages: [
            [2, 10],
            [0, 3],
          ],
        }),
    ],
    [
      'a passage of fractions',
      () =>
        withSection({
          passages: [
            [0, 3],
            [2.5, 10],
          ],
        }),
    ],
    [
      'passages that say the text many times',
      () =>
        withSection({
          passages: [
            [0, 8],
            [0, 9],
            [0, 10],
          ],
        }),
    ],
    [
      'more passages than the text has',
      () => withSection({ passages: Array.from({ length: 5 }, (_, at) => [at, at + 1]) }),
    ],
  ])('refuses %s', async (_, make) => {
    expect(await codeOf(make())).toBe('bad_search_data');
  });
});

describe('BundleSearchWriter', () => {
  it('writes the same bytes for the same input', () => {
    const [one, other] = [written(), written()];
    for (const name of readdirSync(one)) expect(readFileSync(join(one, name))).toEqual(readFileSync(join(other, name)));
  });

  it('refuses more sections than their pages may have, before they are all made', { timeout: 60_000 }, () => {
    const text = 'x'.repeat(3 * MIB);
    function* endless() {
      for (;;) yield { section: section('/a', text, null), passages: [], embedded: false };
    }
    const write = () => new BundleSearchWriter(folder(), 300).writeSections(endless());
    expect(write).toThrow(expect.objectContaining({ code: 'bad_search_data' }));
  });
});

describe('a seeded variation of search data is read, or refused', { timeout: 1_800_000 }, () => {
  const readOrRefused = async (from: string): Promise<void> => {
    expect(['none', 'bad_search_data']).toContain(await codeOf(from));
  };

  it('of the header', async () => {
    const from = written();
    await fuzz([readFileSync(join(from, HEADER))], async (bytes) => {
      writeFileSync(join(from, HEADER), bytes);
      await readOrRefused(from);
    });
  });

  it('of the sections, with the digest that they have', async () => {
    const from = written();
    const header = JSON.parse(readFileSync(join(from, HEADER), 'utf8'));
    await fuzz([readFileSync(join(from, SECTIONS))], async (bytes) => {
      const shard = { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
      writeFileSync(join(from, SECTIONS), bytes);
      writeFileSync(join(from, HEADER), JSON.stringify({ ...header, sections: { count: 3, shards: [shard] } }));
      await readOrRefused(from);
    });
  });

  it('of the vectors, with the digest that they have', async () => {
    const from = written();
    const header = JSON.parse(readFileSync(join(from, HEADER), 'utf8'));
    await fuzz([readFileSync(join(from, VECTORS))], async (bytes) => {
      const shard = { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
      writeFileSync(join(from, VECTORS), bytes);
      writeFileSync(join(from, HEADER), JSON.stringify({ ...header, vectors: { ...header.vectors, shards: [shard] } }));
      await readOrRefused(from);
    });
  });
});
