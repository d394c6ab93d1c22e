import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { blocksOf, manualPage } from '../helpers/manual-blocks.ts';
import { bundle, folderOf } from './bundles.ts';
import { startOrigin } from './origin.ts';
import { PageShell } from './page-shell.ts';

/** `docs/many-sites.md`, word for word: a daemon uses its configs, and a shell runs its commands. */
const bench = openBench(afterEach);
const page = manualPage('many-sites');
const [THREE = '', SINGLE = '', LIST = ''] = blocksOf(page, 'yaml');
const COMMANDS = blocksOf(page, 'sh');
const [
  START = '',
  IMPORT = '',
  ASK = '',
  LOOK = '',
  RELOAD = '',
  REMOVE = '',
  STATUS = '',
  SEARCH = '',
  SEARCH_ALL = '',
] = COMMANDS;

/** More sites than the three of the page, because a company has a dozen. Their bundles are in the default folders. */
const TEAMS = Array.from({ length: 9 }, (_, at) => `team-${at + 1}`);
const TWELVE = THREE.replace(
  /^search:/m,
  `${TEAMS.map((team) => `  - { domain: ${team}, hosts: [inside.acme.internal], basePath: /${team}, staticExport: { enabled: true } }\n`).join('')}$&`,
);

const PAGE =
  '<!doctype html><html lang="en"><title>Holidays</title><main><h1>Holidays</h1><p>Ask for holidays.</p></main>';
/** The config of the page contains its digest. */
const SEARCH_KEY = 'foo';

/** Opens a shell with the archives of the page, and the server of its links. */
async function openShelf() {
  const origin = await startOrigin({
    '/acme-export-2026-11-01.tar.gz': bundle('acme'),
    '/handbook-export-2026-11-01.tar.gz': bundle('handbook', { 'holidays.html': PAGE }),
  });
  const shell = await PageShell.open(bench, { SEARCH_KEY });
  for (const domain of ['acme', 'runbooks'])
    await writeFile(join(shell.folder, `${domain}-export-2026-11-01.tar.gz`), bundle(domain));
  for (const team of TEAMS)
    await folderOf(join(shell.folder, 'bundles', team), { [`${team}-export-2026-11-01.tar.gz`]: bundle(team) });
  const configure = (config: string) => shell.configure(config.replaceAll('https://storage.example', origin.origin));
  return { origin, configure, start: () => shell.start(), sh: (commands: string) => shell.sh(commands) };
}

const versionsOf = async (daemon: DaemonProcess) =>
  Object.fromEntries(
    (await daemon.status()).sites?.map((each) => [each.deployment.domain, each.active?.version]) ?? [],
  );

describe('the commands of docs/many-sites.md', () => {
  test('configure twelve sites, remove and restore a site, and delete a removed site', async () => {
    const shelf = await openShelf();
    await shelf.configure(TWELVE);
    const [check = '', serve] = START.trim().split('\n');
    expect(serve).toBe('docshelf serve --config config.yaml');
    await shelf.sh(check);
    const daemon = await shelf.start();
    await daemon.until(({ sites }) => sites?.filter(({ state }) => state === 'ready').length === 11);
    expect(await shelf.sh(IMPORT)).toMatch(/^SITE .*(?:\n\S+ +ready +2026-11-01 .*){12}\n$/m);
    expect(await shelf.sh(ASK)).toMatch(/acme[\s\S]*handbook[\s\S]*runbooks/);

    expect(await shelf.sh(LOOK)).toMatch(/Acme Docs[\s\S]*Handbook[\s\S]*Runbooks/);
    expect((await shelf.sh(STATUS)).split('\n')).toEqual(
      expect.arrayContaining([
        '["acme","ready","2026-11-01",null]',
        '["handbook","ready","2026-11-01",null]',
        '["runbooks","ready","2026-11-01",null]',
        'docshelf_state{site="acme",state="ready"} 1',
      ]),
    );
    expect(await shelf.sh(SEARCH)).toMatch(/\/handbook\/holidays[\s\S]*"path":"\/handbook\/holidays/);

    expect(await shelf.sh(SEARCH_ALL)).toMatch(/handbook › Holidays[\s\S]*\/handbook\/holidays/);

    const fetched = shelf.origin.requests.length;
    const without = TWELVE.replace(/^ {2}- domain: handbook\n(?: {4}.*\n)*/m, '');
    await shelf.configure(without);
    await shelf.sh(RELOAD);
    expect(Object.keys(await versionsOf(daemon))).toEqual(['acme', 'runbooks', ...TEAMS]);
    await shelf.configure(TWELVE);
    await shelf.sh(RELOAD);
    await daemon.until(({ sites }) => sites?.every(({ state }) => state === 'ready') === true);
    expect(await versionsOf(daemon)).toMatchObject({ handbook: '2026-11-01' });

    await shelf.configure(without);
    await shelf.sh(RELOAD);
    expect(await shelf.sh('docshelf sites')).toMatch(/handbook +left the config/);
    await shelf.sh(REMOVE);
    expect(await shelf.sh('docshelf sites')).not.toContain('handbook');
    expect(await versionsOf(daemon)).toEqual(
      Object.fromEntries(['acme', 'runbooks', ...TEAMS].map((domain) => [domain, '2026-11-01'])),
    );
    expect(shelf.origin.requests.length - fetched).toBeLessThanOrEqual(1);
  });

  test('change from one site to several sites and back, and keep all versions', async () => {
    const shelf = await openShelf();
    await shelf.configure(SINGLE);
    let daemon = await shelf.start();
    await shelf.sh('docshelf bundle import acme-export-2026-11-01.tar.gz');
    expect((await daemon.status()).active?.version).toBe('2026-11-01');
    await shelf.configure(LIST);
    await shelf.sh(RELOAD);
    expect((await daemon.status()).pending).toEqual(['sites']);
    await daemon.stop();

    daemon = await shelf.start();
    await daemon.until(({ sites }) => sites?.[0]?.state === 'ready');
    expect(await versionsOf(daemon)).toMatchObject({ acme: '2026-11-01' });
    await daemon.stop();

    await shelf.configure(SINGLE);
    daemon = await shelf.start();
    await daemon.untilServing('2026-11-01');
    expect(shelf.origin.requests).toEqual([]);
  });

  test('are in as many code blocks as this test file executes', () => {
    expect(COMMANDS).toHaveLength(9);
  });
});
