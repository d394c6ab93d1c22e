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
  it('writes one file and leaves no journal', () => {
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
    const index = new KeywordIndex(path);
    onTestFinished(() => index.close());
    expect(index.count).toBe(5);
    expect(languages.map((_, at) => index.section(at)?.language)).toEqual(languages);
    expect(languages.map((_, at) => index.section(at)?.passages)).toEqual(languages.map((_, at) => passagesOf(at)));
  });

  it('writes the same bytes for the same sections', () => {
    const [one, other] = [indexPath(), indexPath()];
    writeIndex(one, SECTIONS);
    writeIndex(other, SECTIONS);
    expect(readFileSync(one).equals(readFileSync(other))).toBe(true);
  });
});

describe('new KeywordIndex()', () => {
  it('rejects a missing file', () => {
    expect(() => new KeywordIndex(indexPath())).toThrow(DAMAGED);
  });

  it('rejects a file that is not an index', () => {
    const path = indexPath();
    writeFileSync(path, 'no index');
    expect(() => new KeywordIndex(path)).toThrow(DAMAGED);
    new DatabaseSync(`${path}.other`).close();
    expect(() => new KeywordIndex(`${path}.other`)).toThrow(DAMAGED);
  });

  it('rejects a file that was not finished', () => {
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
    expect(() => new KeywordIndex(path)).toThrow(DAMAGED);
  });

  it('rejects a file with one changed bit, whatever its position', () => {
    const path = indexPath();
    writeIndex(path, SECTIONS);
    const sound = readFileSync(path);
    for (let at = 0; at < sound.length; at += 997) {
      const changed = Buffer.from(sound);
      changed[at] = (changed[at] ?? 0) ^ 1;
      writeFileSync(path, changed);
      expect(() => new KeywordIndex(path)).toThrow(DAMAGED);
    }
  });

  it('rejects a file that was shortened or extended', () => {
    const path = indexPath();
    writeIndex(path, SECTIONS);
    const sound = readFileSync(path);
    truncateSync(path, sound.length - 8_192);
    expect(() => new KeywordIndex(path)).toThrow(DAMAGED);
    writeFileSync(path, Buffer.concat([sound, Buffer.alloc(8_192)]));
    expect(() => new KeywordIndex(path)).toThrow(DAMAGED);
  });

  it('opens a finished index twice at the same time, and the database passes its integrity check', () => {
    const path = indexPath();
    writeIndex(path, SECTIONS);
    const [one, other] = [new KeywordIndex(path), new KeywordIndex(path)];
    expect(one.find('words', { limit: 3 }).hits).toEqual(other.find('words', { limit: 3 }).hits);
    one.close();
    other.close();
    const database = new DatabaseSync(path, { readOnly: true });
    expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
    database.close();
  });
});

describe('new KeywordIndex() of an index with another layout', () => {
  /** A sealed database with these tables. */
  function sealedDatabase(schema: string): string {
    const path = indexPath();
    const database = new DatabaseSync(path);
    database.exec(schema);
    database.close();
    seal(path);
    return path;
  }

  it('rejects an undamaged index of another format version', () => {
    const path = indexPath();
    writeIndex(path, SECTIONS);
    for (const version of [FORMAT_VERSION - 1, FORMAT_VERSION + 1]) {
      const database = new DatabaseSync(path);
      database.exec(`PRAGMA user_version = ${version}`);
      database.close();
      seal(path);
      expect(() => new KeywordIndex(path)).toThrow(DAMAGED);
    }
  });

  it.each([
    ['has no tables', ''],
    ['lacks a table', SCHEMA.replace(/CREATE TABLE sequences.*/, '')],
    ['has empty tables', SCHEMA],
  ])('rejects an index that states the current version but %s', (_what, schema) => {
    const path = sealedDatabase(`${schema}; PRAGMA user_version = ${FORMAT_VERSION}`);
    expect(() => new KeywordIndex(path)).toThrow(DAMAGED);
  });
});
