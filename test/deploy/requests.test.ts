import { copyFile, mkdir, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type DaemonRequest, draftRequest, type ReleaseStore } from '../../src/deploy/index.ts';
import { answerRequests } from '../../src/deploy/requests.ts';
import { thisProcess } from '../../src/files/owner.ts';
import { runAside } from './processes.ts';
import { codeOf, copyOf, type Seed, seedShelf, startDaemon, type TestDaemon, until } from './workbench.ts';

let seed: Seed;
let store: ReleaseStore;
let daemon: TestDaemon;
beforeAll(async () => {
  seed = await seedShelf();
});
beforeEach(async () => {
  store = await copyOf(seed);
  daemon = await startDaemon(store);
});

const requestsFolder = () => join(store.paths.inbox, '.requests');
const answer = () => answerRequests(store.paths, daemon.deployment);

/** Hands a request over, and lets the daemon look once it is there. */
async function ask(request: DaemonRequest, archive?: string): Promise<unknown> {
  const draft = await draftRequest(store.paths);
  if (archive !== undefined) await copyFile(archive, draft.archive);
  const submitted = draft.submit(request);
  const outcome = submitted.catch(() => undefined);
  const file = join(draft.archive, '..', 'request.json');
  await until(() => stat(file));
  await answer();
  await outcome;
  return submitted;
}

/** A request as a killed command leaves it: handed over, and nobody waits. */
async function abandoned(name: string, request: unknown): Promise<string> {
  const folder = join(requestsFolder(), name);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'request.json'), JSON.stringify(request));
  return folder;
}

const verdictIn = async (folder: string) => JSON.parse(await readFile(join(folder, 'verdict.json'), 'utf8'));
const [V1, V2] = ['2024-01-01', '2024-02-01'] as const;

describe('a request to a running daemon', () => {
  test('imports an archive, and leaves nothing in the inbox', async () => {
    const request = {
      action: 'import',
      fileName: seed.march.fileName,
      version: 'spring',
      signature: null,
      activate: true,
    } as const;
    expect(await ask(request, seed.march.file)).toMatchObject({
      version: 'spring',
      digest: seed.march.digest,
      activated: true,
    });
    expect(daemon.site.active?.version).toBe('spring');
    expect(await readdir(requestsFolder())).toEqual([]);
  });

  test('only stores it where that is asked', async () => {
    const request = {
      action: 'import',
      fileName: seed.march.fileName,
      version: null,
      signature: null,
      activate: false,
    } as const;
    expect(await ask(request, seed.march.file)).toMatchObject({ activated: false });
    expect(daemon.site.active).toBeNull();
  });

  test('takes up what another process has stored, and no release that is not there', async () => {
    const { digest } = seed.february;
    expect(await ask({ action: 'take-up', version: V2, digest, activate: true })).toBe(true);
    expect(daemon.site.active?.version).toBe(V2);
    // As a delivery and not as an operator's choice: it ends with the next one.
    expect((await store.active())?.heldAgainst).toBeNull();
    expect(await ask({ action: 'take-up', version: V1, digest: seed.january.digest, activate: false })).toBe(false);
    expect(daemon.site.active?.version).toBe(V2);
    expect(await codeOf(ask({ action: 'take-up', version: V1, digest, activate: true }))).toBe('version_not_found');
  });

  test('activates, rolls back and removes', async () => {
    expect(await ask({ action: 'activate', version: V1 })).toEqual({ version: V1, digest: seed.january.digest });
    await ask({ action: 'activate', version: V2 });
    expect(await ask({ action: 'rollback' })).toMatchObject({ version: V1 });
    expect(await ask({ action: 'remove', version: V2 })).toBeNull();
    expect(await store.label(V2)).toBeNull();
  });

  test("fails with the daemon's own error", async () => {
    expect(await codeOf(ask({ action: 'activate', version: 'v9' }))).toBe('version_not_found');
    const archive = join(store.paths.dir, 'no-archive');
    await writeFile(archive, 'no archive');
    const request = { action: 'import', fileName: 'x.zip', version: null, signature: null, activate: true } as const;
    expect(await codeOf(ask(request, archive))).toBe('unknown_format');
    expect(await readdir(requestsFolder())).toEqual([]);
  });

  test('fails when the daemon is gone', async () => {
    await daemon.stop();
    const draft = await draftRequest(store.paths);
    expect(await codeOf(draft.submit({ action: 'rollback' }))).toBe('daemon_unreachable');
    expect(await readdir(requestsFolder())).toEqual([]);
  });

  test('gets the verdict that a daemon wrote before it stopped', async () => {
    await daemon.stop();
    const draft = await draftRequest(store.paths);
    await writeFile(join(draft.archive, '..', 'verdict.json'), '{"ok":true,"result":"done"}');
    expect(await draft.submit({ action: 'rollback' })).toBe('done');
  });
});

describe('answerRequests()', () => {
  test('leaves a draft alone until it is handed over', async () => {
    const draft = await draftRequest(store.paths);
    await copyFile(seed.march.file, draft.archive);
    await answer();
    expect(await readdir(join(draft.archive, '..'))).toEqual(['archive']);
    await draft.discard();
    expect(await readdir(requestsFolder())).toEqual([]);
  });

  test('answers once, and keeps no archive that nobody came back for', async () => {
    const folder = await abandoned('abc', { action: 'activate', version: V1 });
    await writeFile(join(folder, 'archive'), '');
    await answer();
    await daemon.deployment.activate(V2);
    await answer();
    expect(daemon.site.active?.version).toBe(V2);
    expect(await verdictIn(folder)).toMatchObject({ ok: true });
    expect(await readdir(folder)).not.toContain('archive');
  });

  test.each([
    ['an action that it does not know', { action: 'reboot' }, 'bad_request'],
    ['a version that leads out of the folder', { action: 'remove', version: '../active' }, 'version_not_found'],
  ])('refuses %s', async (_, request, code) => {
    await daemon.deployment.activate(V1);
    const folder = await abandoned('abc', request);
    await answer();
    expect(await verdictIn(folder)).toMatchObject({ ok: false, error: { code } });
    expect(await store.active()).not.toBeNull();
  });

  test('carries out what a killed daemon had claimed, and not what a living one has', async () => {
    const other = await runAside(`
      const { thisProcess } = await deploy('../files/owner.ts');
      say(JSON.stringify(thisProcess()));`);
    const dead = await abandoned('dead', { action: 'activate', version: V1 });
    await writeFile(join(dead, 'claim'), other.line);
    const mine = await abandoned('mine', { action: 'activate', version: V2 });
    await writeFile(join(mine, 'claim'), JSON.stringify(thisProcess()));
    await answer();
    expect(daemon.site.active).toBeNull();
    await other.kill();
    await answer();
    expect(daemon.site.active?.version).toBe(V1);
    expect(await readdir(mine)).not.toContain('verdict.json');
  });

  test('carries out what a daemon had claimed that was killed before it signed', async () => {
    const folder = await abandoned('abc', { action: 'activate', version: V1 });
    const claim = join(folder, 'claim');
    await writeFile(claim, '');
    await answer();
    expect(daemon.site.active).toBeNull();
    const before = new Date(Date.now() - 11_000);
    await utimes(claim, before, before);
    await answer();
    expect(daemon.site.active?.version).toBe(V1);
  });

  test('of two daemons lets one carry it out', async () => {
    const folder = await abandoned('abc', { action: 'activate', version: V1 });
    const second = await startDaemon(store);
    await Promise.all([answer(), answerRequests(store.paths, second.deployment)]);
    expect([daemon, second].flatMap(({ events }) => events.filter((event) => event.kind === 'activated'))).toHaveLength(
      1,
    );
    expect(await verdictIn(folder)).toMatchObject({ ok: true });
  });

  test('clears what nobody came back for after a day', async () => {
    const folder = await abandoned('abc', { action: 'activate', version: V1 });
    await answer();
    const before = new Date(Date.now() - 25 * 3600_000);
    await utimes(folder, before, before);
    await answer();
    expect(await readdir(requestsFolder())).toEqual([]);
    await rm(requestsFolder(), { recursive: true });
    await expect(answer()).resolves.toBeUndefined();
  });
});
