import {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { basePathOf, FORMAT_VERSION, SCHEMA, seal } from '../../../src/search/keyword/format.ts';
import { FormerIndex, KeywordIndex, KeywordIndexWriter } from '../../../src/search/keyword/index.ts';
import type { KeywordHit } from '../../../src/search/keyword/keyword-index.ts';
import { indexPath, writeIndex } from './index-folder.ts';

const DAMAGED = expect.objectContaining({ code: 'index_damaged' });
const SECTIONS = Array.from({ length: 50 }, (_, at) => ({ title: `Page ${at}`, text: `Some words of page ${at}.` }));

describe('KeywordIndexWriter', () => {
  it('keeps no journal of what is of no use before it is whole, also where it goes on from a former index', () => {
    const former = indexPath();
    writeIndex(former, SECTIONS);
    const [whole, next] = [indexPath(), indexPath()];
    for (const [path, from] of [[whole, null] as const, [next, FormerIndex.open(former)] as const]) {
      using writer = new KeywordIndexWriter(path, from);
      const section = { headings: [], text: 'Other words.', language: 'en', version: null, tags: [] };
      for (let at = 0; at < 100; at += 1) writer.add({ ...section, page: `/${at}`, path: `/${at}`, title: `${at}` });
    }
    expect(readdirSync(dirname(whole))).toEqual(['keyword.sqlite']);
    expect(readdirSync(dirname(next))).toEqual(['keyword.sqlite', 'keyword.sqlite-base']);
  });

  it('does not go on from a former index that another one has replaced since', () => {
    const path = indexPath();
    writeIndex(path, SECTIONS);
    const former = FormerIndex.open(path);
    rmSync(path);
    writeIndex(path, SECTIONS.slice(1));
    expect(() => new KeywordIndexWriter(indexPath(), former)).toThrow(DAMAGED);
  });

  it('takes no index for a former one that is damaged or of which more is gone than there', () => {
    const [first, second] = [indexPath(), indexPath()];
    writeIndex(first, SECTIONS);
    {
      using writer = new KeywordIndexWriter(second, FormerIndex.open(first));
      writer.add({
        page: '/',
        path: '/',
        title: 'A',
        headings: [],
        text: 'b',
        language: null,
        version: null,
        tags: [],
      });
      writer.finish();
    }
    const index = KeywordIndex.open(second);
    expect(index.count).toBe(1);
    index.close();
    expect(FormerIndex.open(second)).toBeNull();
    truncateSync(first, 5_000);
    expect(FormerIndex.open(first)).toBeNull();
    expect(FormerIndex.open(indexPath())).toBeNull();
  });
});

describe('KeywordIndex.open()', () => {
  it('refuses a file that is not there', () => {
    expect(() => KeywordIndex.open(indexPath())).toThrow(DAMAGED);
  });

  it('refuses a file that is no index', () => {
    const path = indexPath();
    writeFileSync(path, 'no index');
    expect(() => KeywordIndex.open(path)).toThrow(DAMAGED);
    new DatabaseSync(`${path}.other`).close();
    expect(() => KeywordIndex.open(`${path}.other`)).toThrow(DAMAGED);
  });

  it('refuses a file that was not finished', () => {
    const path = indexPath();
    new KeywordIndexWriter(path).add({
      page: '/a',
      path: '/a',
      title: 'A',
      headings: [],
      text: 'a',
      language: null,
      version: null,
      tags: [],
    });
    expect(() => KeywordIndex.open(path)).toThrow(DAMAGED);
  });

  it('refuses a file with one changed bit, wherever it is', () => {
    const path = indexPath();
    writeIndex(path, SECTIONS);
    const sound = readFileSync(path);
    for (let at = 0; at < sound.length; at += 997) {
      const changed = Buffer.from(sound);
      changed[at] = (changed[at] ?? 0) ^ 1;
      writeFileSync(path, changed);
      expect(() => KeywordIndex.open(path)).toThrow(DAMAGED);
    }
  });

  it('refuses a file that was cut short or grew', () => {
    const path = indexPath();
    writeIndex(path, SECTIONS);
    const sound = readFileSync(path);
    truncateSync(path, sound.length - 8_192);
    expect(() => KeywordIndex.open(path)).toThrow(DAMAGED);
    writeFileSync(path, Buffer.concat([sound, Buffer.alloc(8_192)]));
    expect(() => KeywordIndex.open(path)).toThrow(DAMAGED);
  });

  it('opens what finish() left, twice at a time, and the database is sound', () => {
    const path = indexPath();
    writeIndex(path, SECTIONS);
    const [one, other] = [KeywordIndex.open(path), KeywordIndex.open(path)];
    expect(one.search('words', { limit: 3 })).toEqual(other.search('words', { limit: 3 }));
    one.close();
    other.close();
    const database = new DatabaseSync(path, { readOnly: true });
    expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
    database.close();
  });
});

describe('the index of a next version', () => {
  /** With one section more, and one that differs. */
  const NEXT = [
    { title: 'Page 0', text: 'Other words.' },
    ...SECTIONS.slice(1),
    { title: 'More', text: 'More words.' },
  ];
  const writeNext = (former: string, path = indexPath()): string => {
    writeIndex(path, NEXT, FormerIndex.open(former));
    return path;
  };
  const firstOne = (): string => {
    const path = indexPath();
    writeIndex(path, SECTIONS);
    return path;
  };
  function foundIn(path: string): readonly KeywordHit[] {
    const index = KeywordIndex.open(path);
    try {
      return index.search('more other words', { limit: 100 });
    } finally {
      index.close();
    }
  }
  const inOne = (): readonly KeywordHit[] => {
    const path = indexPath();
    writeIndex(path, NEXT);
    return foundIn(path);
  };

  it('has the first one for its base, which is one file of all versions after it and stays when the first has gone', () => {
    const first = firstOne();
    const { ino } = statSync(first);
    const second = writeNext(first);
    rmSync(dirname(first), { recursive: true });
    const third = writeNext(second);
    for (const path of [second, third]) {
      expect(statSync(basePathOf(path)).ino).toBe(ino);
      expect(foundIn(path)).toEqual(inOne());
    }
  });

  it.skipIf(!existsSync('/dev/shm'))('has a copy for its base where no link can be made', () => {
    const first = firstOne();
    // Of another file system.
    const next = writeNext(first, indexPath('/dev/shm'));
    expect(statSync(basePathOf(next)).dev).not.toBe(statSync(first).dev);
    expect(foundIn(next)).toEqual(inOne());
  });

  it('is never written over a file that is there, which may be what another version stands on', () => {
    const [first, other] = [firstOne(), indexPath()];
    writeIndex(other, SECTIONS.slice(1));
    const path = indexPath();
    linkSync(other, basePathOf(path));
    expect(() => writeNext(first, path)).toThrow('EEXIST');
    expect(foundIn(other).length).toBeGreaterThan(0);
    expect(statSync(other).ino).toBe(statSync(basePathOf(path)).ino);
  });

  it.each([
    ['is not there', (base: string) => rmSync(base)],
    ['was cut short', (base: string) => truncateSync(base, 8_192)],
    [
      'has another bit',
      (base: string) => {
        const bytes = readFileSync(base);
        bytes[20_000] = (bytes[20_000] ?? 0) ^ 1;
        writeFileSync(base, bytes);
      },
    ],
    [
      'is of another index',
      (base: string) => {
        rmSync(base);
        writeIndex(base, SECTIONS.slice(1));
      },
    ],
  ])('is refused where its base %s, and nothing goes on from it', (_state, spoil) => {
    const next = writeNext(firstOne());
    spoil(basePathOf(next));
    expect(() => KeywordIndex.open(next)).toThrow(DAMAGED);
    expect(FormerIndex.open(next)).toBeNull();
  });
});

describe('KeywordIndex.open() of another layout', () => {
  /** A sealed database with these tables. */
  function sealedDatabase(schema: string): string {
    const path = indexPath();
    const database = new DatabaseSync(path);
    database.exec(schema);
    database.close();
    seal(path);
    return path;
  }

  it('refuses an index of another format version, whole as it is', () => {
    const path = indexPath();
    writeIndex(path, SECTIONS);
    for (const version of [FORMAT_VERSION - 1, FORMAT_VERSION + 1]) {
      const database = new DatabaseSync(path);
      database.exec(`PRAGMA user_version = ${version}`);
      database.close();
      seal(path);
      expect(() => KeywordIndex.open(path)).toThrow(DAMAGED);
    }
  });

  it.each([
    ['has none of its tables', ''],
    ['lacks a table', SCHEMA.replace(/CREATE TABLE sequences.*/, '')],
    ['has empty tables', SCHEMA],
  ])('refuses one that says to be of this version and %s', (_what, schema) => {
    const path = sealedDatabase(`${schema}; PRAGMA user_version = ${FORMAT_VERSION}`);
    expect(() => KeywordIndex.open(path)).toThrow(DAMAGED);
  });
});

describe('KeywordIndexWriter', () => {
  it('writes the same bytes for the same sections', () => {
    const [one, other] = [indexPath(), indexPath()];
    writeIndex(one, SECTIONS);
    writeIndex(other, SECTIONS);
    expect(readFileSync(one).equals(readFileSync(other))).toBe(true);
  });
});
