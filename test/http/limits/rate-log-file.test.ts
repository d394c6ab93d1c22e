import { appendFile, mkdir, mkdtemp, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { RateLogFile, type RateLogFileOptions } from '../../../src/http/limits/rate-log-file.ts';

const T = 1_700_000_000_000;

async function folder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'docshelf-rates-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

function logIn(dir: string, changes: Partial<RateLogFileOptions> = {}) {
  const faults: unknown[] = [];
  const options = { dir: join(dir, 'rates'), keepMs: 1_000, recordsMax: 10, ...changes };
  return { log: new RateLogFile({ ...options, onFault: (error) => faults.push(error) }), faults };
}

const fileIn = (dir: string) => join(dir, 'rates/acme.rates');

/** A log whose three times are on disk. */
async function written(dir: string): Promise<void> {
  const { log } = logIn(dir);
  for (const time of [T, T + 1, T + 2]) log.append('acme', time);
  await log.flush();
}

describe('RateLogFile', () => {
  it('has nothing of an organization that was never seen', async () => {
    const { log, faults } = logIn(await folder());
    expect([await log.load('acme'), faults]).toEqual([[], []]);
  });

  it('keeps times over a restart, eight bytes each, an organization apart from the other', async () => {
    const dir = await folder();
    await written(dir);
    const { log } = logIn(dir);
    expect(await log.load('acme')).toEqual([T, T + 1, T + 2]);
    expect(await log.load('other')).toEqual([]);
    expect((await stat(fileIn(dir))).size).toBe(24);
  });

  it('is not written through a symbolic link', async () => {
    const dir = await folder();
    const target = join(dir, 'other');
    await writeFile(target, 'theirs');
    await mkdir(join(dir, 'rates'));
    await symlink(target, fileIn(dir));
    const { log, faults } = logIn(dir);
    log.append('acme', T);
    await log.flush();
    expect(await readFile(target, 'utf8')).toBe('theirs');
    expect(faults).toMatchObject([{ code: 'cannot_write', message: expect.stringContaining('it is a symbolic link') }]);
  });

  it('writes by itself within a second', async () => {
    const dir = await folder();
    const { log } = logIn(dir);
    log.append('acme', T);
    await vi.waitFor(async () => expect((await stat(fileIn(dir))).size).toBe(8), { timeout: 1_000, interval: 50 });
  });

  it('rounds a time up: no request leaves its hour too early', async () => {
    const dir = await folder();
    const { log } = logIn(dir);
    log.append('acme', T + 0.25);
    await log.flush();
    expect(await log.load('acme')).toEqual([T + 1]);
  });

  it('loses only the record that is damaged', async () => {
    const dir = await folder();
    await written(dir);
    const bytes = await readFile(fileIn(dir));
    bytes[9] = (bytes[9] ?? 0) ^ 0x40;
    await writeFile(fileIn(dir), bytes);
    expect(await logIn(dir).log.load('acme')).toEqual([T, T + 2]);
  });

  it('loses only the record that was cut off, and goes on behind it', async () => {
    const dir = await folder();
    await written(dir);
    await truncate(fileIn(dir), 21);
    const { log } = logIn(dir);
    expect(await log.load('acme')).toEqual([T, T + 1]);
    log.append('acme', T + 3);
    await log.flush();
    expect(await logIn(dir).log.load('acme')).toEqual([T, T + 1, T + 3]);
  });

  it('takes a file of something else for an empty one', async () => {
    const dir = await folder();
    await written(dir);
    await writeFile(fileIn(dir), 'this is text and no log of rates, whoever put it here');
    expect(await logIn(dir).log.load('acme')).toEqual([]);
  });

  it('drops what is over where the file has grown to twice its bound', async () => {
    const dir = await folder();
    const { log, faults } = logIn(dir);
    for (let index = 0; index < 3; index++) {
      for (let at = 0; at < 10; at++) log.append('acme', T + index * 600 + at);
      await log.flush();
    }
    expect((await stat(fileIn(dir))).size).toBe(80);
    expect((await log.load('acme'))[0]).toBe(T + 1_200);
    expect(faults).toEqual([]);
  });

  it('says that it cannot write, keeps its bound, and writes all of it when it can', async () => {
    const dir = await folder();
    await appendFile(join(dir, 'rates'), 'a file where the folder should be');
    const { log, faults } = logIn(dir);
    for (let at = 0; at < 12; at++) log.append('acme', T + at);
    await log.flush();
    expect(faults).toHaveLength(1);
    await rm(join(dir, 'rates'));
    log.append('acme', T + 12);
    await log.flush();
    expect(await log.load('acme')).toEqual(Array.from({ length: 10 }, (_, index) => T + 3 + index));
  });
});
