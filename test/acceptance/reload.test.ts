import { existsSync } from 'node:fs';
import { appendFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import type { StatusReport } from '../../src/domain/status.ts';
import { type DaemonProcess, openBench, withDefaults } from '../helpers/daemon.ts';
import { bundle } from './bundles.ts';
import { startServing } from './start.ts';

const bench = openBench(afterEach);
const TOKEN = 'a-long-random-token';

/** Starts a daemon with two stored versions, `2024-06-01` pinned. */
async function startWithTwo(from = bench): Promise<DaemonProcess> {
  const archives = { 'docs-2024-06-01.tar.gz': bundle('june'), 'docs-2024-07-01.tar.gz': bundle('july') };
  const config = { staticExport: { version: '2024-06-01' }, admin: { token: TOKEN } };
  const daemon = await startServing(from, archives, config);
  await daemon.until(({ versions }) => versions.length === 2);
  return daemon;
}

/** Text of the config of `startWithTwo` with this version. */
const configOf = (version: string): string =>
  stringify(withDefaults({ staticExport: { version }, admin: { token: TOKEN } }));

const homePage = async (daemon: DaemonProcess): Promise<string> => (await fetch(`${daemon.site}/`)).text();

/** Waits for a reload after the one in this status. */
const untilReloaded = (daemon: DaemonProcess, { lastReload }: StatusReport): Promise<StatusReport> =>
  daemon.until((status) => status.lastReload !== null && status.lastReload.at !== lastReload?.at);

const postReload = (daemon: DaemonProcess): Promise<Response> =>
  fetch(`${daemon.admin}/v1/reload`, { method: 'POST', headers: { authorization: `Bearer ${TOKEN}` } });

describe('a running daemon', () => {
  const ofAll = openBench(afterAll);
  let daemon: DaemonProcess;
  beforeAll(async () => {
    daemon = await startWithTwo(ofAll);
  });

  test('reloads its config if another file replaces the config file', async () => {
    expect((await daemon.status()).lastReload).toBeNull();
    await daemon.rewriteConfig({ staticExport: { version: '2024-07-01' } });
    const { lastReload, active } = await daemon.untilServing('2024-07-01');
    expect(lastReload).toMatchObject({ ok: true, error: null });
    expect(Date.parse(lastReload?.at ?? '')).toBeLessThanOrEqual(Date.parse(active?.activatedAt ?? ''));
    expect(await homePage(daemon)).toContain('july');
  });

  test('reloads its config after SIGHUP', async () => {
    const before = await daemon.status();
    daemon.signal('SIGHUP');
    expect((await untilReloaded(daemon, before)).lastReload).toMatchObject({ ok: true });
    expect(await daemon.status()).toMatchObject({ state: 'ready', active: { version: '2024-07-01' } });
  });

  test('reloads its config after POST /v1/reload, and responds once the reload is complete', async () => {
    await daemon.rewriteConfig({ staticExport: { version: '2024-06-01' } });
    const answer = await postReload(daemon);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ ok: true, error: null });
    expect(await daemon.status()).toMatchObject({ state: 'ready', active: { version: '2024-06-01' } });
  });
});

test('a daemon applies a change of its config that is written while the daemon starts', async () => {
  const folder = await bench.folder();
  await bench.writeConfig(folder, {});
  const starting = bench.start(null, { folder });
  await expect.poll(() => existsSync(join(folder, 'data/daemons')), { interval: 2, timeout: 30_000 }).toBe(true);
  await bench.writeConfig(folder, { staticExport: { version: '2024-06-01' } });
  const daemon = await starting;
  await daemon.until(({ lastReload }) => lastReload?.ok === true);
});

test('a running daemon applies every change of its config, even if the previous reload still runs', async () => {
  const daemon = await startWithTwo();
  for (let change = 1; change <= 15; change += 1) {
    const version = change % 2 === 1 ? '2024-07-01' : '2024-06-01';
    await daemon.rewriteConfig({ staticExport: { version } });
    // The pin has changed, but its reload still runs.
    await daemon.until(({ pinned }) => pinned === version);
  }
  await daemon.untilServing('2024-07-01');
  expect(await homePage(daemon)).toContain('july');
});

describe('the config file of a running daemon', () => {
  const ofAll = openBench(afterAll);
  const JULY = configOf('2024-07-01');
  let daemon: DaemonProcess;
  beforeAll(async () => {
    daemon = await startWithTwo(ofAll);
  });
  beforeEach(async () => {
    await daemon.replaceConfig(configOf('2024-06-01'));
    await daemon.untilServing('2024-06-01');
  });

  test('causes an error without a change of the served version if it is invalid, and is applied after a fix', async () => {
    const before = await daemon.status();
    const page = await homePage(daemon);
    await daemon.replaceConfig('staticExport: { enabled: true, verison: "2024-07-01" }');
    const status = await untilReloaded(daemon, before);
    const fault = expect.stringMatching(/verison.*staticExport\.version/);
    expect(status.lastReload).toMatchObject({ ok: false, error: fault });
    expect(status).toMatchObject({ active: before.active, pinned: before.pinned, state: 'ready' });
    expect(status.lastError?.code).toMatch(/^config_/);
    expect(await homePage(daemon)).toBe(page);
    const answer = await postReload(daemon);
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ code: expect.stringMatching(/^config_/), error: expect.any(String) });
    await daemon.replaceConfig(JULY);
    expect(await daemon.untilRecovered('2024-07-01')).toMatchObject({ lastReload: { ok: true } });
  });

  test('does not change the served version if it is deleted, and is applied when it is back', async () => {
    const before = await daemon.status();
    await rm(daemon.configFile);
    const status = await untilReloaded(daemon, before);
    expect(status).toMatchObject({ lastReload: { ok: false }, active: before.active });
    await daemon.replaceConfig(JULY);
    await daemon.untilRecovered('2024-07-01');
  });

  /** Statuses of the site until the action has ended. */
  async function statusesDuring(act: () => Promise<unknown>): Promise<Set<number>> {
    const statuses = new Set<number>();
    let isOver = false;
    const done = act().finally(() => {
      isOver = true;
    });
    while (!isOver) {
      statuses.add((await fetch(`${daemon.site}/`)).status);
      await sleep(10);
    }
    await done;
    return statuses;
  }

  test('does not stop the site while it contains only comments, because docshelf rejects the reload', async () => {
    const before = await daemon.status();
    await writeFile(daemon.configFile, '# generated, do not edit\n---\n');
    const status = await untilReloaded(daemon, before);
    expect(status).toMatchObject({ state: 'ready', active: before.active, lastReload: { ok: false } });
    expect(status.lastReload?.error).toMatch(/no settings/);
    for (const send of [() => postReload(daemon).then(({ status }) => status), hangUp]) {
      expect(await send()).toBe(422);
      expect((await fetch(`${daemon.site}/`)).status).toBe(200);
    }
    await appendFile(daemon.configFile, JULY);
    await daemon.untilRecovered('2024-07-01');
  });

  /** Sends SIGHUP. @returns the status that POST /v1/reload would have returned */
  async function hangUp(): Promise<number> {
    const before = await daemon.status();
    daemon.signal('SIGHUP');
    return (await untilReloaded(daemon, before)).lastReload?.ok === false ? 422 : 200;
  }

  test('does not stop the site while parts are appended to it, even if it is a valid config after each part', async () => {
    const statuses = await statusesDuring(async () => {
      await writeFile(daemon.configFile, '');
      for (const piece of ['server: { port: 0 }\n', 'search: { enabled: false }\n', 'admin: { port: 0 }\n']) {
        await sleep(400);
        await appendFile(daemon.configFile, piece);
      }
      await sleep(400);
      await appendFile(daemon.configFile, 'staticExport: { enabled: true, version: 2024-07-01 }\n');
      await daemon.untilServing('2024-07-01');
    });
    expect([...statuses]).toEqual([200]);
  });

  test('does not stop the site if a client requests a reload while only the first part of the file is written', async () => {
    const statuses = await statusesDuring(async () => {
      await writeFile(daemon.configFile, `admin: { port: 0, token: ${TOKEN} }\n`);
      const asked = postReload(daemon);
      await sleep(150);
      await writeFile(daemon.configFile, JULY);
      expect((await asked).status).toBe(200);
      await daemon.untilServing('2024-07-01');
    });
    expect([...statuses]).toEqual([200]);
  });

  test('stops the site if it disables the site and is complete, whether it is written in place or replaced', async () => {
    const disabled = stringify(withDefaults({ staticExport: { enabled: false } }));
    for (const write of [() => writeFile(daemon.configFile, disabled), () => daemon.replaceConfig(disabled)]) {
      await write();
      const { lastReload } = await daemon.until((status) => status.state === 'off' && status.lastReload !== null);
      expect(lastReload).toMatchObject({ ok: true });
      await daemon.replaceConfig(configOf('2024-06-01'));
      await daemon.untilServing('2024-06-01');
    }
  });
});

test('the status lists a changed setting that needs a restart, and no longer lists the setting once the change is reverted', async () => {
  const daemon = await startWithTwo();
  await daemon.rewriteConfig({
    server: { port: 18080 },
    storage: { dir: './elsewhere' },
    staticExport: { version: '2024-07-01' },
  });
  const status = await daemon.untilServing('2024-07-01');
  expect(status.pending).toEqual(['server.port', 'storage.dir']);
  await daemon.rewriteConfig({ server: { port: 0 }, storage: { dir: './data' } });
  const before = await daemon.until(({ pending }) => pending.length === 0);
  await daemon.rewriteConfig({
    log: { level: 'debug', access: false },
    admin: { token: 'another-random-token' },
    server: { trailingSlash: 'always' },
  });
  expect((await untilReloaded(daemon, before)).pending).toEqual([]);
  expect((await postReload(daemon)).status).toBe(401);
});
