import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it, onTestFinished } from 'vitest';
import { FORMAT_VERSION, SCHEMA, seal } from '../../../src/search/keyword/format.ts';
import { KeywordIndexWriter } from '../../../src/search/keyword/index-writer.ts';
import { KeywordIndex } from '../../../src/search/keyword/keyword-index.ts';
import { indexPath, writeIndex } from './index-folder.ts';

const DAMAGED = expect.objectContaining({ code: 'index_damaged' });
const SECTIONS = Array.from({ length: 50 }, (_, at) => ({ title: `Page ${at}`, text: `Some words of page ${at}.` }));

describe('KeywordIndexWriter', () => {
  it('writes one file and keeps no journal', () => {
    const path = indexPath();
    using writer = new KeywordIndexWriter(path);
    const section = { headings: [], text: 'Other words.', language: 'en', version: null, tags: [] };
    for (let at = 0; at < 100; at += 1) writer.add({ ...section, page: `/${at}`, path: `/${at}`, title: `${at}` });
    expect(readdirSync(dirname(path))).toEqual(['keyword.sqlite']);
    writer.finish();
    expect(readdirSync(dirname(path))).toEqual(['keyword.sqlite']);
  });

  it('keeps the language and the passages of each section', () => {
    const path = indexPath();
    const languages = ['en', null, 'en', 'ja', null];
    const passagesOf = (at: number) =>
      Array.from({ length: at }, (_, each) => ({ start: 10 * each, end: 10 * each + at }));
    writeIndex(
      path,
      languages.map((language) => ({ title: 'Page', language })),
      passagesOf,
    );
    const index = KeywordIndex.open(path);
    onTestFinished(() => index.close());
    const { facts } = index;
    expect(facts.count).toBe(5);
    expect(languages.map((_, at) => facts.language(at))).toEqual(languages);
    expect(languages.map((_, at) => facts.passages(at))).toEqual(languages.map((_, at) => passagesOf(at)));
  });

  it('writes the same bytes for the same sections', () => {
    const [one, other] = [indexPath(), indexPath()];
    writeIndex(one, SECTIONS);
    writeIndex(other, SECTIONS);
    expect(readFileSync(one).equals(readFileSync(other))).toBe(true);
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
