import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { DocshelfError, toDocshelfError } from '../../../../src/domain/errors.ts';
import { asStoreFault, openDatabase, patiently, transact } from '../../../../src/export/jobs/queue/database.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'docshelf-store-'));
  file = join(folder, 'exports/jobs.sqlite');
});
afterEach(() => rmSync(folder, { recursive: true }));

const INSERT = `INSERT INTO jobs (jobId, organizationId, domain, status, createdAtMs, updatedAtMs) VALUES (?, 'acme', ?, 'running', 0, 0)`;

function codeOf(act: () => unknown): string {
  try {
    act();
    return 'none';
  } catch (error) {
    return toDocshelfError(asStoreFault(file, error)).code;
  }
}

describe('openDatabase()', () => {
  test('makes the file and its folder, flushed at each commit, and opens it again', () => {
    for (const _time of [1, 2]) {
      const database = openDatabase(file);
      const pragmas = database.prepare('SELECT * FROM pragma_journal_mode, pragma_synchronous').get();
      expect(pragmas).toEqual({ journal_mode: 'wal', synchronous: 2 });
      expect(database.prepare('SELECT count(*) AS jobs FROM jobs').get()).toEqual({ jobs: 0 });
      database.close();
    }
  });

  test('adds what came since to the file of an older docshelf, whose jobs stay', () => {
    const older = openDatabase(file);
    for (const column of ['traceparent', 'errorCode', 'errorNext'])
      older.exec(`ALTER TABLE jobs DROP COLUMN ${column}`);
    older.exec('PRAGMA user_version = 1');
    older.prepare(INSERT).run('se_1', 'docs');
    older.close();
    const database = openDatabase(file);
    expect(database.prepare('SELECT jobId, traceparent, errorCode, errorNext FROM jobs').all()).toEqual([
      { jobId: 'se_1', traceparent: null, errorCode: null, errorNext: null },
    ]);
    expect(database.prepare('PRAGMA user_version').get()).toEqual({ user_version: 3 });
    database.close();
  });

  test('refuses the store of a newer docshelf and leaves it as it is', () => {
    const newer = openDatabase(file);
    newer.exec('PRAGMA user_version = 99');
    newer.close();
    expect(codeOf(() => openDatabase(file))).toBe('data_folder_newer');
    const after = new DatabaseSync(file);
    expect(after.prepare('PRAGMA user_version').get()).toEqual({ user_version: 99 });
    after.close();
  });

  test('keeps one running job a domain, whatever the code does', () => {
    const database = openDatabase(file);
    database.prepare(INSERT).run('se_1', 'docs');
    expect(() => database.prepare(INSERT).run('se_2', 'docs')).toThrow(/UNIQUE/);
    database.close();
  });
});

describe('transact()', () => {
  test('takes back everything where a part fails', () => {
    const database = openDatabase(file);
    const fault = new Error('enough');
    const act = () => {
      database.prepare(INSERT).run('se_1', 'docs');
      throw fault;
    };
    expect(() => transact(database, act)).toThrow(fault);
    expect(database.prepare('SELECT count(*) AS jobs FROM jobs').get()).toEqual({ jobs: 0 });
    expect(transact(database, () => 'next')).toBe('next');
    database.close();
  });
});

describe('patiently()', () => {
  test('tries again while another process writes, and gives up after some seconds', () => {
    const [holder, other] = [openDatabase(file), openDatabase(file)];
    const nowMs = vi.spyOn(performance, 'now');
    let tries = 0;
    const attempt = () => {
      tries += 1;
      nowMs.mockReturnValue(tries * 1000);
      return transact(other, () => 'done');
    };
    nowMs.mockReturnValue(0);
    expect(transact(holder, () => codeOf(() => patiently(attempt)))).toBe('busy');
    expect(tries).toBe(6);
    expect(patiently(attempt)).toBe('done');
    nowMs.mockRestore();
    holder.close();
    other.close();
  });

  test('tries once what fails for another reason', () => {
    const act = vi.fn(() => {
      throw new Error('a bug');
    });
    expect(() => patiently(act)).toThrow('a bug');
    expect(act).toHaveBeenCalledTimes(1);
  });
});

describe('asStoreFault()', () => {
  test('says busy of a file that another process keeps locked', () => {
    const [holder, other] = [openDatabase(file), openDatabase(file)];
    const code = transact(holder, () => codeOf(() => transact(other, () => undefined)));
    expect(code).toBe('busy');
    holder.close();
    other.close();
  });

  test('says cannot_write of a full disk, and the store goes on once there is space', () => {
    const database = openDatabase(file);
    database.exec('PRAGMA max_page_count = 1');
    const fill = () => transact(database, () => database.prepare(INSERT).run('x'.repeat(100_000), 'docs'));
    expect(codeOf(fill)).toBe('cannot_write');
    database.exec('PRAGMA max_page_count = 1000');
    expect(codeOf(fill)).toBe('none');
    database.close();
  });

  test('says cannot_write of a folder that cannot be made, and of a file that may only be read', () => {
    writeFileSync(join(folder, 'exports'), 'a file');
    expect(codeOf(() => new DatabaseSync(file))).toBe('cannot_write');
    rmSync(join(folder, 'exports'));
    openDatabase(file).close();
    const readOnly = new DatabaseSync(file, { readOnly: true });
    expect(codeOf(() => readOnly.prepare(INSERT).run('se_1', 'docs'))).toBe('cannot_write');
    readOnly.close();
  });

  test('says cannot_read of a file that is no store', () => {
    openDatabase(file).close();
    writeFileSync(file, 'x'.repeat(10_000));
    expect(codeOf(() => openDatabase(file))).toBe('cannot_read');
  });

  test('leaves other errors as they are', () => {
    const errors = [new Error('a bug'), new DocshelfError('queue_full', 'Cannot queue'), null];
    for (const error of errors) expect(asStoreFault(file, error)).toBe(error);
  });
});
