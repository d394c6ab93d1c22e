import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type BundleSearch, decodeBundleSearch, type ReadPart } from '../../src/search/bundle-data/bundle-format.ts';
import { encodeBundleSearch, type SearchToEncode } from '../../src/search/bundle-data/encode-bundle-search.ts';

const MODEL = 'a'.repeat(64);
const HEADER = '_docshelf/search/header.json';
const SECTIONS = '_docshelf/search/sections.jsonl';
const VECTORS = '_docshelf/search/vectors.i8';

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
const SEARCH: BundleSearch = {
  sections: [
    {
      section: section('/a#x', 'one two 😀', 'en'),
      passages: [
        { start: 0, end: 3 },
        { start: 2, end: 10 },
      ],
    },
    { section: section('/ja', '日本語', 'ja'), passages: [{ start: 0, end: 3 }] },
    { section: section('/b', 'three\nfour', null), passages: [{ start: 0, end: 10 }] },
  ],
  vectors: {
    modelDigest: MODEL,
    dims: 32,
    sections: Uint32Array.of(0, 0, 2),
    values: Int8Array.from({ length: 96 }, (_, at) => at - 48),
  },
};

type Files = Map<string, Uint8Array>;
/** The files that the pieces make. */
function encoded(search: SearchToEncode): Files {
  const files: Files = new Map();
  for (const { path, bytes } of encodeBundleSearch(search))
    files.set(path, Buffer.concat([files.get(path) ?? Buffer.alloc(0), bytes]));
  return files;
}
const readFrom =
  (files: Files): ReadPart =>
  async (path) =>
    files.get(path) ?? null;
const decode = (files: Files, model: string | null = MODEL) => decodeBundleSearch(readFrom(files), model);
const textOf = (files: Files, path: string) => Buffer.from(files.get(path) ?? []).toString();

/** The files with another header. */
function withHeader(change: (header: { sections: object; vectors: object }) => unknown): Files {
  const files = encoded(SEARCH);
  const header = JSON.parse(textOf(files, HEADER));
  return files.set(HEADER, Buffer.from(JSON.stringify(change(header))));
}

/** The files with other lines, and a header that agrees with them. */
function withLines(lines: string, count = 3): Files {
  const bytes = Buffer.from(lines);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return withHeader((header) => ({ ...header, sections: { count, bytes: bytes.length, sha256 } })).set(SECTIONS, bytes);
}

function withSection(change: object): Files {
  const lines = textOf(encoded(SEARCH), SECTIONS)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  return withLines([{ ...lines[0], ...change }, ...lines.slice(1)].map((line) => `${JSON.stringify(line)}\n`).join(''));
}

describe('decodeBundleSearch()', () => {
  it('gives back what encodeBundleSearch() was given', async () => {
    expect(await decode(encoded(SEARCH))).toEqual(SEARCH);
  });

  it('gives back sections without vectors', async () => {
    const search = { ...SEARCH, vectors: null };
    const files = encoded(search);
    expect([...files.keys()].sort()).toEqual([HEADER, SECTIONS]);
    expect(await decode(files)).toEqual(search);
  });

  it('leaves the vectors of another model unread', async () => {
    const files = encoded(SEARCH);
    files.delete(VECTORS);
    expect(await decode(files, 'b'.repeat(64))).toEqual({ ...SEARCH, vectors: null });
    expect(await decode(files, null)).toEqual({ ...SEARCH, vectors: null });
  });

  it('answers null where a bundle carries none', async () => {
    expect(await decode(new Map())).toBeNull();
  });

  it('lets keys of later writers be', async () => {
    const files = withSection({ later: 1 });
    expect((await decode(files))?.sections).toEqual(SEARCH.sections);
  });

  it('asks for no more bytes than the header says', async () => {
    const files = encoded(SEARCH);
    const asked = new Map<string, number>();
    await decodeBundleSearch(async (path, bytesMax) => {
      asked.set(path, bytesMax);
      return files.get(path) ?? null;
    }, MODEL);
    expect(asked.get(VECTORS)).toBe(96);
    expect(asked.get(SECTIONS)).toBe(files.get(SECTIONS)?.length);
  });

  it.each([HEADER, SECTIONS, VECTORS])('refuses %s with any one bit changed or its end cut off', async (path) => {
    const whole = encoded(SEARCH).get(path) ?? new Uint8Array();
    const changed = Array.from({ length: 40 }, (_, n) => {
      const bytes = Uint8Array.from(whole);
      const at = Math.floor((n * bytes.length) / 40);
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (n % 8));
      return bytes;
    });
    for (const bytes of [whole.subarray(0, -1), ...changed]) {
      const decoded = await decode(encoded(SEARCH).set(path, bytes)).catch(({ code }) => code);
      // A changed space or a changed digest of the model in the header does no harm: the vectors are left aside.
      if (path === HEADER && typeof decoded === 'object') expect(decoded?.sections).toEqual(SEARCH.sections);
      else expect(decoded).toBe('bad_search_data');
    }
  });

  it.each([SECTIONS, VECTORS])('refuses data without %s', async (path) => {
    const files = encoded(SEARCH);
    files.delete(path);
    await expect(decode(files)).rejects.toMatchObject({ code: 'bad_search_data' });
  });

  const lines = textOf(encoded(SEARCH), SECTIONS);
  it.each<[string, Files]>([
    ['a newer format', withHeader((header) => ({ ...header, formatVersion: 2 }))],
    ['a header of something else', withHeader(() => [])],
    ['a header without sections', withHeader((header) => ({ ...header, sections: undefined }))],
    [
      'more bytes than a part may have',
      withHeader(({ sections, ...header }) => ({ ...header, sections: { ...sections, bytes: 2 ** 40 } })),
    ],
    [
      'dims that are no multiple of 32',
      withHeader(({ vectors, ...header }) => ({ ...header, vectors: { ...vectors, dims: 48 } })),
    ],
    [
      'a vector too few for its passages',
      withHeader(({ vectors, ...header }) => ({ ...header, vectors: { ...vectors, count: 2, bytes: 64 } })),
    ],
    ['a header that is too large', encoded(SEARCH).set(HEADER, Buffer.alloc(70_000, ' '))],
    ['fewer sections than it counts', withLines(lines, 4)],
    ['a line without end', withLines(lines.trimEnd())],
    ['a line that is no JSON', withLines(`${lines}{\n`, 4)],
    ['a line of other JSON', withLines(`${lines}null\n`, 4)],
    ['a path to another host', withSection({ path: '//evil.example/' })],
    ['a path with a scheme', withSection({ path: 'javascript:alert(1)' })],
    ['a path with a new line', withSection({ path: '/a\nb' })],
    ['a text that is none', withSection({ text: 1 })],
    ['headings without end', withSection({ headings: Array(100).fill('x') })],
    [
      'a passage beyond the text',
      withSection({
        passages: [
          [0, 3],
          [2, 11],
        ],
      }),
    ],
    [
      'a passage that ends before it begins',
      withSection({
        passages: [
          [0, 3],
          [9, 4],
        ],
      }),
    ],
    [
      'passages out of order',
      withSection({
        passages: [
          [2, 10],
          [0, 3],
        ],
      }),
    ],
    [
      'a passage of fractions',
      withSection({
        passages: [
          [0, 3],
          [2.5, 10],
        ],
      }),
    ],
  ])('refuses %s', async (_, files) => {
    await expect(decode(files)).rejects.toMatchObject({ code: 'bad_search_data' });
  });
});

describe('encodeBundleSearch()', () => {
  it('writes the same bytes for the same input', () => {
    expect(encoded(SEARCH)).toEqual(encoded(structuredClone(SEARCH)));
  });

  it('throws where vectors and passages do not agree', () => {
    const { vectors } = SEARCH;
    if (vectors === null) throw new Error('the sample has vectors');
    expect(() => encoded({ ...SEARCH, vectors: { ...vectors, sections: Uint32Array.of(0, 2) } })).toThrow(RangeError);
    expect(() => encoded({ ...SEARCH, vectors: { ...vectors, values: vectors.values.subarray(1) } })).toThrow(
      RangeError,
    );
  });

  it('refuses more bytes than a file of an archive may have, before they are all made', { timeout: 60_000 }, () => {
    const text = 'x'.repeat(3 * 1024 ** 2);
    function* endless() {
      for (;;) yield { section: section('/a', text, null), passages: [] };
    }
    const pieces = encodeBundleSearch({ sections: endless(), vectors: null });
    const exhaust = () => {
      for (const { path } of pieces) expect(path).toBe(SECTIONS);
    };
    expect(exhaust).toThrow(expect.objectContaining({ code: 'bad_search_data' }));
  });
});
