import {
  appendFile,
  copyFile,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { Inbox, type SiteStore } from '../../src/deploy/index.ts';
import type { DocshelfError } from '../../src/domain/errors.ts';
import { copyOf, fault, newStore, putInto, type SettingsOf, seedShelf, startDaemon, until } from './workbench.ts';

const seed = await seedShelf();

type Delivering = ConstructorParameters<typeof Inbox>[0]['deployment'];

/** An inbox over a deployment with the given responses, and the recorded deliveries. */
function inboxOver(store: SiteStore, deliver: () => Promise<unknown>) {
  const delivered: (string | null)[] = [];
  const failures: string[] = [];
  const deployment = {
    deliver: (delivery: { fileName: string | null }) => {
      delivered.push(delivery.fileName);
      return deliver();
    },
    journal: { failed: (_: string, error: DocshelfError) => failures.push(error.code) },
  } as unknown as Delivering;
  const inbox = new Inbox({ paths: store.paths, deployment });
  inbox.start();
  return { inbox, delivered, failures };
}

/** Starts a daemon and its inbox. */
async function startWithInbox(store: SiteStore, settings?: SettingsOf) {
  const daemon = await startDaemon(store, settings);
  const inbox = new Inbox({ paths: store.paths, deployment: daemon.deployment });
  inbox.start();
  return { daemon, inbox };
}

const filesIn = async (folder: string) => (await readdir(folder)).filter((name) => !name.startsWith('.')).sort();

// Concurrent, because each test waits for seconds.
describe.concurrent('the inbox', () => {
  test('imports an archive, serves it and deletes it', async ({ expect }) => {
    const store = await copyOf(seed);
    const { daemon, inbox } = await startWithInbox(store);
    await putInto(store.paths.inbox, seed.february);
    await until(async () => expect(await filesIn(store.paths.inbox)).toEqual([]));
    await inbox.stop();
    expect(daemon.site.active?.version).toBe('2024-02-01');
    expect(await filesIn(store.paths.rejected)).toEqual([]);
  });

  test('imports the archives that exist at its start, whatever its polling interval', async ({ expect }) => {
    const store = await copyOf(seed);
    const daemon = await startDaemon(store);
    await putInto(store.paths.inbox, seed.february);
    const inbox = new Inbox({ paths: store.paths, deployment: daemon.deployment, pollMs: 600_000 });
    inbox.start();
    await until(async () => expect(await filesIn(store.paths.inbox)).toEqual([]));
    await inbox.stop();
    expect(daemon.site.active?.version).toBe('2024-02-01');
  });

  test('imports archives that are complete at the same time in the order of their versions', async ({ expect }) => {
    const store = await newStore();
    const names = ['acme-1.10.0.zip', 'acme-1.9.0.zip', 'acme-1.11.0-rc.1.zip', 'acme-1.11.0.zip', 'acme-1.2.0.zip'];
    for (const name of names) await writeFile(join(store.paths.inbox, name), 'text');
    const { inbox, delivered } = inboxOver(store, () => Promise.resolve());
    await until(async () => expect(await filesIn(store.paths.inbox)).toEqual([]));
    await inbox.stop();
    expect(delivered).toEqual(['1.2.0', '1.9.0', '1.10.0', '1.11.0-rc.1', '1.11.0'].map((name) => `acme-${name}.zip`));
  });

  test('moves a rejected archive, writes the reason to a file next to it, and keeps the served version', async ({
    expect,
  }) => {
    const store = await copyOf(seed);
    const { daemon, inbox } = await startWithInbox(store, { version: '2024-01-01' });
    await writeFile(join(store.paths.inbox, 'broken.zip'), 'no archive');
    const broken = ['broken.zip', 'broken.zip.reason.txt'];
    await until(async () => expect(await filesIn(store.paths.rejected)).toEqual(broken));
    await inbox.stop();
    expect(await filesIn(store.paths.inbox)).toEqual([]);
    expect(await readFile(join(store.paths.rejected, 'broken.zip.reason.txt'), 'utf8')).toContain('unknown_format');
    expect(daemon.site.active?.version).toBe('2024-01-01');
    expect(daemon.deployment.journal.lastError?.code).toBe('unknown_format');
  });

  test.each(['a\u202egz.zip', 'a\nb.zip', 'a\u0085b.zip'])(
    'gives the rejected archive %j a printable name',
    async (name) => {
      const store = await copyOf(seed);
      const { daemon, inbox } = await startWithInbox(store, { version: '2024-01-01' });
      await copyFile(seed.february.file, join(store.paths.inbox, name));
      const shown = name.replace(/[^a-z.]/, '_');
      await until(async () => expect(await filesIn(store.paths.rejected)).toEqual([shown, `${shown}.reason.txt`]));
      await inbox.stop();
      const reason = await readFile(join(store.paths.rejected, `${shown}.reason.txt`), 'utf8');
      expect(reason).toContain('code: name_control');
      expect(reason).not.toContain(name);
      expect(daemon.deployment.journal.lastError).toMatchObject({ code: 'name_control' });
      expect(JSON.stringify(daemon.events)).not.toContain(name);
    },
  );

  test('keeps only the 20 newest rejected archives with their signatures and reason files, and never deletes unrelated files', async ({
    expect,
  }) => {
    const store = await newStore();
    const { rejected } = store.paths;
    const seconds = (count: number) => new Date(1_700_000_000_000 + count * 1000);
    for (let at = 0; at < 40; at += 1) {
      for (const end of ['', '.minisig', '.reason.txt']) {
        await writeFile(join(rejected, `old-${at}.zip${end}`), 'text');
        await utimes(join(rejected, `old-${at}.zip${end}`), seconds(at), seconds(at));
      }
    }
    await writeFile(join(rejected, 'notes.txt'), 'of an operator');
    await utimes(join(rejected, 'notes.txt'), seconds(0), seconds(0));
    const { inbox } = inboxOver(store, () => Promise.reject(fault('truncated')));
    await until(async () => expect(await filesIn(rejected)).toHaveLength(20 * 3 + 1));
    await writeFile(join(store.paths.inbox, 'new.zip'), 'text');
    await until(async () => expect(await filesIn(rejected)).toContain('new.zip'));
    await until(async () => expect(await filesIn(rejected)).toHaveLength(19 * 3 + 2 + 1));
    await inbox.stop();
    const kept = await filesIn(rejected);
    expect(kept).toEqual(
      expect.arrayContaining(['notes.txt', 'new.zip.reason.txt', 'old-39.zip', 'old-21.zip.minisig']),
    );
    expect(kept.filter((name) => /^old-(?:\d|1\d|20)\./.test(name))).toEqual([]);
  });

  test('keeps the newest rejected archive whatever its size, and deletes older archives if the total exceeds 8 GiB', async ({
    expect,
  }) => {
    const store = await newStore();
    const { rejected } = store.paths;
    const sizes = { 'a.zip': 5 * 1024 ** 3, 'b.zip': 3 * 1024 ** 3, 'c.zip': 9 * 1024 ** 3 };
    for (const [at, [name, size]] of Object.entries(sizes).entries()) {
      await writeFile(join(rejected, name), '');
      await truncate(join(rejected, name), size);
      await writeFile(join(rejected, `${name}.reason.txt`), 'text');
      await utimes(join(rejected, `${name}.reason.txt`), at, at);
    }
    const { inbox } = inboxOver(store, async () => undefined);
    await until(async () => expect(await filesIn(rejected)).toEqual(['c.zip', 'c.zip.reason.txt']));
    await inbox.stop();
  });

  test('does not write the file with the reason of a rejection through a symbolic link', async ({ expect }) => {
    const store = await newStore();
    const target = join(store.paths.dir, 'theirs');
    await writeFile(target, 'theirs');
    await symlink(target, join(store.paths.rejected, 'broken.zip.reason.txt'));
    const { inbox } = inboxOver(store, () => Promise.reject(fault('truncated')));
    await writeFile(join(store.paths.inbox, 'broken.zip'), 'text');
    await until(async () => expect(await filesIn(store.paths.rejected)).toContain('broken.zip'));
    await inbox.stop();
    expect(await readFile(target, 'utf8')).toBe('theirs');
    expect(await readFile(join(store.paths.rejected, 'broken.zip.reason.txt'), 'utf8')).toContain('truncated');
  });

  test('ignores unfinished files, hidden files and folders', async ({ expect }) => {
    const store = await newStore();
    const { inbox, delivered } = inboxOver(store, async () => undefined);
    const alone = ['.hidden.zip', 'copying.zip.part', '._whole.zip', 'Thumbs.db', 'desktop.ini'];
    for (const name of alone) await writeFile(join(store.paths.inbox, name), 'text');
    await mkdir(join(store.paths.inbox, 'folder'));
    await writeFile(join(store.paths.inbox, 'whole.zip'), 'text');
    await until(() => expect(delivered).toEqual(['whole.zip']));
    await rename(join(store.paths.inbox, 'copying.zip.part'), join(store.paths.inbox, 'copied.zip'));
    await until(() => expect(delivered).toEqual(['whole.zip', 'copied.zip']));
    await inbox.stop();
    expect((await readdir(store.paths.inbox)).sort()).toEqual([
      '._whole.zip',
      '.hidden.zip',
      'Thumbs.db',
      'desktop.ini',
      'folder',
    ]);
  });

  test('does not import an archive that still grows', async ({ expect }) => {
    const store = await newStore();
    const { inbox, delivered } = inboxOver(store, async () => undefined);
    const file = join(store.paths.inbox, 'growing.zip');
    for (let written = 0; written < 7; written += 1) {
      await appendFile(file, 'more');
      await sleep(500);
    }
    expect(delivered).toEqual([]);
    await until(() => expect(delivered).toEqual(['growing.zip']));
    await inbox.stop();
  });

  test('imports an archive only after its copy is complete, even if the copy pauses', async ({ expect }) => {
    const store = await copyOf(seed);
    const file = join(store.paths.inbox, seed.march.fileName);
    const { deployment, site } = await startDaemon(store);
    const pausing: Delivering = Object.assign(Object.create(deployment), {
      // The file grows again while its first half is read.
      deliver: async (...delivery: Parameters<typeof deployment.deliver>) => {
        const delivering = deployment.deliver(...delivery);
        await delivering.catch(() => copyFile(seed.march.file, file));
        return delivering;
      },
    });
    const inbox = new Inbox({ paths: store.paths, deployment: pausing });
    inbox.start();
    await copyFile(seed.march.file, file);
    await truncate(file, 100);
    await until(() => expect(site.active?.version).toBe('2024-03-01'));
    await inbox.stop();
    expect(await filesIn(store.paths.rejected)).toEqual([]);
    expect(deployment.journal.lastError).toBeNull();
  });

  test('keeps an archive whose import fails for a reason such as a full disk, and waits before the next attempt', async ({
    expect,
  }) => {
    const store = await newStore();
    const { inbox, delivered, failures } = inboxOver(store, () => Promise.reject(fault('not_enough_space')));
    await writeFile(join(store.paths.inbox, 'large.zip'), 'text');
    await until(() => expect(failures).toEqual(['not_enough_space']));
    await sleep(2_500);
    await inbox.stop();
    expect(delivered).toHaveLength(1);
    expect(await filesIn(store.paths.inbox)).toEqual(['large.zip']);
    expect(await filesIn(store.paths.rejected)).toEqual([]);
  });

  test('keeps a rejected archive that it cannot move, and waits before it imports that archive again', async ({
    expect,
  }) => {
    const store = await newStore();
    await rm(store.paths.rejected, { recursive: true });
    const { inbox, delivered, failures } = inboxOver(store, () => Promise.reject(fault('truncated')));
    await writeFile(join(store.paths.inbox, 'broken.zip'), 'text');
    await until(() => expect(failures[0]).toBe('truncated'));
    await sleep(2_500);
    await inbox.stop();
    expect(delivered).toHaveLength(1);
    expect(await filesIn(store.paths.inbox)).toEqual(['broken.zip']);
  });

  test('leaves an archive for the next start if docshelf is stopping', async ({ expect }) => {
    const store = await newStore();
    const { inbox, delivered, failures } = inboxOver(store, () => Promise.reject(fault('stopping')));
    await writeFile(join(store.paths.inbox, 'whole.zip'), 'text');
    await until(() => expect(delivered).toEqual(['whole.zip']));
    await inbox.stop();
    expect(failures).toEqual([]);
    expect(await filesIn(store.paths.inbox)).toEqual(['whole.zip']);
  });
});
