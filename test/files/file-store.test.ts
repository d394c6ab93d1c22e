import { type ChildProcess, fork } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { access, readdir, readFile, rm, stat, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from 'vitest';
import { FileStore } from '../../src/files/file-store.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { folderElsewhere } from '../helpers/other-file-system.ts';

const sha256 = (bytes: string | Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const HOUR_MS = 3_600_000;
const KEEP_NONE: ReadonlySet<string> = new Set();

let dir: string;
let store: FileStore;

beforeEach(() => {
  dir = newFolder();
  store = new FileStore(join(dir, 'files'));
});

async function storedNames(): Promise<string[]> {
  const entries = await readdir(join(dir, 'files'), { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

async function age(path: string, ms: number): Promise<void> {
  const then = new Date(Date.now() - ms);
  await utimes(path, then, then);
}

it.each(['put', 'putBlocking'] as const)('FileStore.%s() stores bytes under their digest, read-only', async (act) => {
  const stored = await store[act](Buffer.from('hello'));
  expect(stored).toEqual({ sha256: sha256('hello'), size: 5 });
  expect(await readFile(store.pathOf(stored.sha256), 'utf8')).toBe('hello');
  expect((await stat(store.pathOf(stored.sha256))).mode & 0o222).toBe(0);
  expect(await storedNames()).toEqual([stored.sha256]);
  expect(store.pathOf(stored.sha256)).toBe(join(dir, 'files', stored.sha256.slice(0, 2), stored.sha256));
});

describe('FileStore.put()', () => {
  it.each([
    ['an empty file', 0],
    ['a small file', 1000],
    ['a large file', 3 * 1024 ** 2 + 17],
  ])('stores the bytes of %s on disk unchanged', async (_case, size) => {
    const bytes = randomBytes(size);
    await writeFile(join(dir, 'a.bin'), bytes);
    const stored = await store.put({ file: join(dir, 'a.bin') });
    expect(stored).toEqual({ sha256: sha256(bytes), size });
    expect((await readFile(store.pathOf(stored.sha256))).equals(bytes)).toBe(true);
  });

  it.each([
    ['small', 10],
    ['large', 2 * 1024 ** 2],
  ])('does not write again if a %s file is already stored', async (_case, size) => {
    const file = join(dir, 'a.bin');
    await writeFile(file, randomBytes(size));
    const { sha256: digest } = await store.put({ file });
    const { ino } = await stat(store.pathOf(digest));
    await store.put({ file });
    expect((await stat(store.pathOf(digest))).ino).toBe(ino);
    expect(await storedNames()).toEqual([digest]);
  });

  it('replaces a stored file that a power failure left with another size', async () => {
    const { sha256: digest } = await store.put(Buffer.from('whole'));
    await truncate(store.pathOf(digest), 0);
    await store.put(Buffer.from('whole'));
    expect(await readFile(store.pathOf(digest), 'utf8')).toBe('whole');
  });

  it('stores bytes that match their digest, even if another process writes to the source', async () => {
    const file = join(dir, 'busy.bin');
    await writeFile(file, randomBytes(4 * 1024 ** 2));
    let isBusy = true;
    const writing = (async () => {
      for (let round = 0; isBusy; round++) await writeFile(file, randomBytes(1024 ** 2 + round), { flag: 'r+' });
    })();
    for (let round = 0; round < 5; round++) {
      const { sha256: digest, size } = await store.put({ file });
      const bytes = await readFile(store.pathOf(digest));
      expect([sha256(bytes), bytes.length]).toEqual([digest, size]);
    }
    isBusy = false;
    await writing;
  });

  it('rejects with cannot_read for a missing file, and leaves no file in the store', async () => {
    await expect(store.put({ file: join(dir, 'none') })).rejects.toMatchObject({ code: 'cannot_read' });
    await expect(store.put({ file: dir })).rejects.toMatchObject({ code: 'cannot_read' });
    await expect(access(join(dir, 'files'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('stores the same content once for concurrent calls', async () => {
    const stores = Array.from({ length: 4 }, () => new FileStore(join(dir, 'files')));
    const puts = stores.flatMap((each) => Array.from({ length: 8 }, (_, at) => each.put(Buffer.from(`file ${at}`))));
    await Promise.all(puts);
    expect((await storedNames()).length).toBe(8);
  });
});

describe('FileStore.putBlocking()', () => {
  it('updates only the time of last use if the bytes are already stored', async () => {
    const { sha256: digest } = store.putBlocking(Buffer.from('hello'));
    await age(store.pathOf(digest), HOUR_MS);
    const { ino } = await stat(store.pathOf(digest));
    store.putBlocking(Buffer.from('hello'));
    const info = await stat(store.pathOf(digest));
    expect(info.ino).toBe(ino);
    expect(info.mtimeMs).toBeGreaterThan(Date.now() - HOUR_MS / 2);
  });

  it('creates the folders of the store again if they were deleted', async () => {
    store.putBlocking(Buffer.from('hello'));
    await rm(join(dir, 'files'), { recursive: true });
    const stored = store.putBlocking(Buffer.from('hello'));
    expect(await readFile(store.pathOf(stored.sha256), 'utf8')).toBe('hello');
  });
});

describe('FileStore.link()', () => {
  it('links the stored file to another path, and creates missing folders', async () => {
    const { sha256: digest } = await store.put(Buffer.from('x'));
    const to = join(dir, 'work/site/a/b.html');
    await store.link(digest, to);
    expect((await stat(to)).ino).toBe((await stat(store.pathOf(digest))).ino);
  });

  it('rejects a target path that already exists, and a digest that the store does not contain', async () => {
    const { sha256: digest } = await store.put(Buffer.from('x'));
    await store.link(digest, join(dir, 'a'));
    await expect(store.link(digest, join(dir, 'a'))).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(store.link(sha256('none'), join(dir, 'b'))).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('copies the file if the target path is on another file system', async ({ skip }) => {
    const other = folderElsewhere();
    if (other === null) return skip();
    const { sha256: digest } = await store.put(Buffer.from('far'));
    await store.link(digest, join(other, 'a/b'));
    expect(await readFile(join(other, 'a/b'), 'utf8')).toBe('far');
  });
});

describe('FileStore.sweep()', () => {
  it('removes old files that are not in use, and returns the number and the size of removed files', async () => {
    const [kept, gone, fresh] = await Promise.all(
      ['kept', 'gone!', 'fresh'].map((text) => store.put(Buffer.from(text))),
    );
    for (const { sha256: digest } of [kept, gone] as { sha256: string }[]) await age(store.pathOf(digest), 2 * HOUR_MS);
    expect(await store.sweep(new Set([kept?.sha256 ?? '']), HOUR_MS)).toEqual({ files: 1, bytes: 5 });
    expect((await storedNames()).sort()).toEqual([kept?.sha256, fresh?.sha256].sort());
    expect(gone?.size).toBe(5);
  });

  it('keeps an old file if put() stores the same bytes again, or if the file has links', async () => {
    for (const text of ['again', 'linked'])
      await age(store.pathOf((await store.put(Buffer.from(text))).sha256), 2 * HOUR_MS);
    await store.put(Buffer.from('again'));
    await store.link(sha256('linked'), join(dir, 'linked'));
    expect(await store.sweep(KEEP_NONE, HOUR_MS)).toEqual({ files: 0, bytes: 0 });
    expect((await storedNames()).length).toBe(2);
  });

  it('removes no file, and causes no error, if the folder of the store is missing', async () => {
    expect(await store.sweep(KEEP_NONE, 0)).toEqual({ files: 0, bytes: 0 });
  });

  it('never removes a file whose put() has resolved', async () => {
    // Each put finds an old file that a sweep is about to remove.
    const path = store.pathOf(sha256('wanted'));
    for (let round = 0; round < 60; round++) {
      await store.put(Buffer.from('wanted'));
      await age(path, 2 * HOUR_MS);
      const sweeping = store.sweep(KEEP_NONE, HOUR_MS);
      if (round % 3 > 0) await sleep(0);
      await store.put(Buffer.from('wanted'));
      await sweeping;
      expect(await readFile(path, 'utf8'), `round ${round}`).toBe('wanted');
    }
  });
});

describe('FileStore after its process was killed', () => {
  const SCRIPT = `
    import { FileStore } from ${JSON.stringify(new URL('../../src/files/file-store.ts', import.meta.url).href)};
    const store = new FileStore(process.argv[2]);
    for (let at = 0; ; at++) {
      await Promise.all(Array.from({ length: 4 }, (_, lane) => store.put(Buffer.alloc(200_000 + lane, 'x' + at))));
      process.send(at);
    }`;

  it('contains no partial file, and removes leftovers by age', async () => {
    await writeFile(join(dir, 'run.mjs'), SCRIPT);
    for (let round = 0; round < 4; round++) {
      const child: ChildProcess = fork(join(dir, 'run.mjs'), [join(dir, 'files')]);
      await once(child, 'message');
      await sleep(round * 7);
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    const names = await readdir(join(dir, 'files'));
    let whole = 0;
    for (const shard of names.filter((name) => name !== 'incoming')) {
      for (const name of await readdir(join(dir, 'files', shard))) {
        expect(sha256(await readFile(join(dir, 'files', shard, name)))).toBe(name);
        whole += 1;
      }
    }
    expect(whole).toBeGreaterThan(0);
    await writeFile(join(dir, 'files/incoming/half'), 'half');
    await store.sweep(KEEP_NONE, HOUR_MS);
    expect(await readdir(join(dir, 'files/incoming'))).toContain('half');
    await store.sweep(KEEP_NONE, -1000);
    expect(await storedNames()).toEqual([]);
  });
});
