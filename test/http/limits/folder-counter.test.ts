import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { FolderCounter } from '../../../src/http/limits/folder-counter.ts';
import { newFolder } from '../../helpers/new-folder.ts';

const run = promisify(execFile);
const PROCESS = join(import.meta.dirname, 'counting-process.ts');
const POLICY = { requestsMax: 3, windowMs: 1_000 };

function folderOf() {
  const root = newFolder();
  const dir = join(root, 'rates');
  vi.useFakeTimers({ toFake: ['Date'], now: 500_000_000 });
  const faults: unknown[] = [];
  const onFault = (error: unknown): void => {
    faults.push(error);
  };
  const open = (retryMs = 0) => {
    const counter = new FolderCounter({ dir, onFault, policy: POLICY, lockMsMax: 50, retryMs });
    onTestFinished(() => counter.close());
    const leftAfter = async () => (await counter.take('acme')).remaining;
    return { counter, leftAfter };
  };
  return { root, dir, file: join(dir, 'requests.sqlite'), faults, open };
}

describe('FolderCounter (rate limit in a shared folder)', () => {
  afterEach(() => void vi.useRealTimers());

  it('allows exactly the limit of 1,000 requests if three processes together send more requests', async () => {
    const { root } = folderOf();
    const shares = await Promise.all(
      [1, 7, 100].map((atOnce) => run(process.execPath, [PROCESS, root, '400', `${atOnce}`])),
    );
    expect(shares.map(({ stdout }) => Number(stdout)).reduce((sum, each) => sum + each)).toBe(1_000);
  });

  it.for<[string, (file: string) => Promise<void>]>([
    ['is not a database', (file) => writeFile(file, 'this is text, and no database of requests'.repeat(20))],
    ['has a damaged first page', (file) => overwrite(file, 100)],
    ['has a damaged last page', (file) => overwrite(file, 4_096)],
    ['was cut off', (file) => truncate(file, 50)],
  ])('creates a new file if the file %s, and reports the damage once', async ([, damage]) => {
    const { file, faults, open } = folderOf();
    const first = open();
    await first.leftAfter();
    first.counter.close();
    await damage(file);
    const { leftAfter } = open();
    expect([await leftAfter(), await leftAfter()]).toEqual([2, 1]);
    expect(faults).toMatchObject([{ code: 'cannot_read', message: expect.stringContaining('the file is damaged') }]);
  });

  it('uses the new file if another daemon has already replaced a damaged file', async () => {
    const { file, faults, open } = folderOf();
    const [one, other] = [open(), open()];
    await Promise.all([one.leftAfter(), other.leftAfter()]);
    await overwrite(file, 0);
    expect(await other.leftAfter()).toBe(1);
    expect([await one.leftAfter(), await one.leftAfter()]).toEqual([1, 0]);
    expect(faults).toHaveLength(1);
  });

  it.for<[string, (file: string) => Promise<() => Promise<void>>, string]>([
    ['its folder is a file', fileForFolder, 'rates'],
    ['its file is a symbolic link', linkForFile, 'it is a symbolic link'],
    ['another process holds the lock', lockedFile, 'database is locked'],
  ])(
    'counts requests in memory while %s, reports this failure once, and still includes these requests afterwards',
    async (row) => {
      const [, fail, state] = row;
      const { file, faults, open } = folderOf();
      const repair = await fail(file);
      const { leftAfter } = open();
      expect([await leftAfter(), await leftAfter()]).toEqual([2, 1]);
      expect(faults).toMatchObject([{ code: 'cannot_write', message: expect.stringContaining(state) }]);
      await repair();
      vi.setSystemTime(Date.now() + 500);
      expect([await leftAfter(), await leftAfter()]).toEqual([0, 0]);
      vi.setSystemTime(Date.now() + 500);
      expect(await leftAfter()).toBe(1);
      expect(faults).toHaveLength(1);
    },
  );

  it('continues in memory from the last stored count if the folder becomes unavailable', async () => {
    const { file, open } = folderOf();
    const { leftAfter } = open();
    expect([await leftAfter(), await leftAfter()]).toEqual([2, 1]);
    const repair = await lockedFile(file);
    expect([await leftAfter(), await leftAfter()]).toEqual([0, 0]);
    vi.setSystemTime(Date.now() + 1_000);
    expect(await leftAfter()).toBe(2);
    await repair();
  });

  it('still expires each earlier request separately while the folder is unavailable', async () => {
    const { file, open } = folderOf();
    const { leftAfter } = open();
    expect(await leftAfter()).toBe(2);
    vi.setSystemTime(Date.now() + 600);
    expect(await leftAfter()).toBe(1);
    const repair = await lockedFile(file);
    vi.setSystemTime(Date.now() + 500);
    expect([await leftAfter(), await leftAfter()]).toEqual([1, 0]);
    await repair();
  });

  it('counts a request once if another process reads the file while docshelf stores the request', async () => {
    const { file, open } = folderOf();
    const { leftAfter } = open();
    expect(await leftAfter()).toBe(2);
    const reader = new DatabaseSync(file);
    reader.exec('BEGIN; SELECT * FROM requests');
    const second = leftAfter();
    await delay(20);
    reader.close();
    expect([await second, await leftAfter(), await leftAfter()]).toEqual([1, 0, 0]);
  });

  it('waits after each failure before it retries the folder', async () => {
    const { file, open } = folderOf();
    const { leftAfter } = open(60_000);
    const repair = await lockedFile(file);
    expect(await leftAfter()).toBe(2);
    await repair();
    expect(await leftAfter()).toBe(1);
    expect(await open().leftAfter()).toBe(2);
  });

  it('does not write through a symbolic link', async () => {
    const { root, file, open } = folderOf();
    await linkForFile(file);
    await open().leftAfter();
    expect(await readFile(join(root, 'theirs'), 'utf8')).toBe('theirs');
  });
});

async function overwrite(file: string, at: number): Promise<void> {
  const bytes = await readFile(file);
  bytes.fill(0xff, at);
  await writeFile(file, bytes);
}

async function fileForFolder(file: string) {
  const dir = join(file, '..');
  await writeFile(dir, 'a file');
  return () => rm(dir);
}

async function linkForFile(file: string) {
  const target = join(file, '../../theirs');
  await writeFile(target, 'theirs');
  await mkdir(join(file, '..'));
  await symlink(target, file);
  return () => rm(file);
}

async function lockedFile(file: string) {
  await mkdir(join(file, '..'), { recursive: true });
  const other = new DatabaseSync(file);
  other.exec('BEGIN EXCLUSIVE');
  return async () => other.close();
}
