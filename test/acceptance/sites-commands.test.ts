import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Diagnosis } from '../../src/app/doctor/diagnosis.ts';
import { type Bench, type CommandResult, type ConfigFile, type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { sideBySide } from '../helpers/side-by-side.ts';
import { bundle, folderOf } from './bundles.ts';

const bench = openBench(afterEach);
const TOKEN = 'a-long-random-token';

const SITES = [
  { domain: 'acme', title: 'Acme Docs', hosts: ['acme.test'], staticExport: { enabled: true, keep: 5 } },
  { domain: 'globex', basePath: '/globex/', staticExport: { enabled: true } },
];
const [ACME, GLOBEX] = SITES;

interface Versions {
  readonly active: { readonly version: string } | null;
  readonly versions: readonly { readonly version: string }[];
}
type ListedSites<Row> = { readonly sites: readonly (Row & { readonly domain: string })[] };
interface SiteRow {
  readonly domain: string;
  readonly state: string | null;
  readonly version: string | null;
  readonly configured: boolean;
}

/** A folder with a config of two sites, and archives next to it. */
class Shelf {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async open(from: Bench): Promise<Shelf> {
    const shelf = new Shelf(await from.folder());
    await folderOf(shelf.folder, {
      'docs-2024-06-01.tar.gz': bundle('june'),
      'docs-2024-07-01.tar.gz': bundle('july'),
    });
    await shelf.configure({ sites: SITES, search: {} });
    return shelf;
  }

  async configure(config: ConfigFile): Promise<void> {
    await bench.writeConfig(this.folder, { staticExport: null, admin: { token: TOKEN }, ...config });
  }

  run(...args: readonly string[]): Promise<CommandResult> {
    return bench.run(args, { cwd: this.folder });
  }

  /** Exit code and problem of a failed command. */
  async fault(...args: readonly string[]) {
    const result = await this.run(...args, '--json');
    return { exit: result.code, ...result.json<{ code: string; error: string; next: string }>() };
  }

  /** Active version and stored versions of each site. */
  async versions(): Promise<Record<string, [string | null, string[]]>> {
    const { sites } = (await this.run('bundle', 'list', '--json')).json<ListedSites<Versions>>();
    return Object.fromEntries(
      sites.map(({ domain, active, versions }) => [
        domain,
        [active?.version ?? null, versions.map(({ version }) => version).sort()],
      ]),
    );
  }

  async sites(...args: readonly string[]): Promise<readonly SiteRow[]> {
    return (await this.run('sites', '--json', ...args)).json<ListedSites<SiteRow>>().sites;
  }
}

describe('commands for a config with two sites and a daemon', () => {
  const ofAll = openBench(afterAll);
  /** Each test continues with the state of the test before it. */
  let shelf: Shelf;
  let daemon: DaemonProcess;

  beforeAll(async () => {
    shelf = await Shelf.open(ofAll);
    daemon = await ofAll.start(null, { folder: shelf.folder });
  });

  test('require the name of an existing site', async () => {
    const unnamed = [
      ['bundle', 'import', 'docs-2024-06-01.tar.gz'],
      ['bundle', 'inspect', '2024-06-01'],
      ['bundle', 'verify', '2024-06-01'],
      ['bundle', 'audit', '2024-06-01'],
      ['bundle', 'activate', '2024-06-01'],
      ['bundle', 'rollback'],
      ['bundle', 'remove', '2024-06-01'],
      ['search', 'june', '--release', '2024-06-01'],
      ['transfer', 'unpack', 'transfer'],
    ];
    await sideBySide(unnamed, 2, async (command) => {
      const fault = await shelf.fault(...command);
      expect({ command, ...fault }).toMatchObject({ command, exit: 64, code: 'site_needed' });
      expect(fault.next).toContain('acme, globex');
    });
    await sideBySide([['bundle', 'rollback'], ['bundle', 'list'], ['features']], 2, async (command) => {
      const fault = await shelf.fault(...command, '--site', 'initech');
      expect({ command, ...fault }).toMatchObject({ command, exit: 69, code: 'not_found' });
      expect(fault.next).toContain('acme, globex');
    });
    expect(await shelf.versions()).toEqual({ acme: [null, []], globex: [null, []] });
  });

  test('run from another machine, whatever the config on that machine contains', async () => {
    const away = await ofAll.folder();
    await bench.writeConfig(away, { admin: { token: TOKEN } });
    await writeFile(join(away, 'docs-2024-06-01.tar.gz'), bundle('june'));
    const runJson = (...args: string[]) => bench.run([...args, '--json', '--admin-url', daemon.admin], { cwd: away });
    expect((await runJson('bundle', 'import', 'docs-2024-06-01.tar.gz')).json()).toMatchObject({ code: 'site_needed' });
    expect((await runJson('bundle', 'import', 'docs-2024-06-01.tar.gz', '--site', 'acme')).code).toBe(0);
    expect((await runJson('bundle', 'list')).json()).toMatchObject({
      sites: [
        { domain: 'acme', active: { version: '2024-06-01' } },
        { domain: 'globex', active: null },
      ],
    });
    expect((await runJson('bundle', 'list', '--site', 'initech')).json()).toMatchObject({ code: 'not_found' });
    expect((await runJson('sites')).json()).toMatchObject({ sites: [{ domain: 'acme', state: 'ready' }, {}] });
  });

  test('change only the named site', async () => {
    const july = ['bundle', 'import', 'docs-2024-07-01.tar.gz', '--site'];
    expect((await shelf.run(...july, 'acme', '--json')).json()).toMatchObject({
      version: '2024-07-01',
      activated: true,
    });
    expect((await shelf.run(...july, 'globex')).code).toBe(0);
    expect(await shelf.versions()).toEqual({
      acme: ['2024-07-01', ['2024-06-01', '2024-07-01']],
      globex: ['2024-07-01', ['2024-07-01']],
    });

    const activate = ['bundle', 'activate', '2024-06-01', '--site'];
    expect((await shelf.run(...activate, 'acme', '--json')).json()).toMatchObject({ version: '2024-06-01' });
    expect(await shelf.fault(...activate, 'globex')).toMatchObject({ exit: 69, code: 'version_not_found' });
    expect((await shelf.versions()).acme?.[0]).toBe('2024-06-01');
    const rollback = await shelf.run('bundle', 'rollback', '--site', 'acme', '--json');
    expect(rollback.json()).toMatchObject({ version: '2024-07-01' });
    expect(await shelf.fault('bundle', 'remove', '2024-07-01', '--site', 'acme')).toMatchObject({ code: 'in_use' });
    expect((await shelf.run(...activate, 'acme')).code).toBe(0);
    expect((await shelf.run('bundle', 'remove', '2024-07-01', '--site', 'acme')).code).toBe(0);
    expect(await shelf.versions()).toEqual({
      acme: ['2024-06-01', ['2024-06-01']],
      globex: ['2024-07-01', ['2024-07-01']],
    });
  });

  test('read only the named site', async () => {
    const list = (await shelf.run('bundle', 'list', '--site', 'acme', '--json')).json<Versions>();
    expect(list).toMatchObject({ active: { version: '2024-06-01' }, versions: [{ version: '2024-06-01' }] });
    expect((await shelf.run('bundle', 'list')).stdout).toMatch(
      /^SITE .*\nacme +2024-06-01 +active.*\nglobex +2024-07-01/,
    );

    for (const verb of ['inspect', 'verify', 'audit']) {
      expect((await shelf.run('bundle', verb, '2024-06-01', '--site', 'acme')).code).toBe(0);
      const other = await shelf.fault('bundle', verb, '2024-06-01', '--site', 'globex');
      expect(other).toMatchObject({ exit: 69, code: 'version_not_found' });
    }
    expect((await shelf.run('search', 'july', '--site', 'globex')).stdout).toContain('july');
    expect((await shelf.run('search', 'july', '--site', 'acme')).stdout).not.toContain('july');
    const all = (await shelf.run('search', 'home', '--json')).json<{ site: string; path: string }[]>();
    expect(all.map(({ site, path }) => [site, path]).sort()).toEqual([
      ['acme', '/'],
      ['globex', '/globex/'],
    ]);
  });

  test('list a removed site, and delete its data with sites remove only if no config and no daemon uses the site', async () => {
    // The site gets the release of the other site, and no other data.
    await shelf.run('bundle', 'import', 'docs-2024-06-01.tar.gz', '--site', 'globex');
    expect((await shelf.run('bundle', 'remove', '2024-07-01', '--site', 'globex')).code).toBe(0);
    const acme = { domain: 'acme', title: 'Acme Docs', hosts: ['acme.test'], basePath: '/', pages: 2 };
    const june = { state: 'ready', version: '2024-06-01', configured: true };
    expect(await shelf.sites()).toMatchObject([
      { ...acme, ...june },
      { domain: 'globex', title: null, hosts: [], basePath: '/globex/', ...june },
    ]);
    const configured = await shelf.fault('sites', 'remove', 'globex');
    expect(configured).toMatchObject({
      exit: 69,
      code: 'in_use',
      error: expect.stringContaining('the config contains it'),
    });

    const other = join(shelf.folder, 'other.yaml');
    await writeFile(other, 'sites: [{ domain: acme }]\nstorage: { dir: ./data }\n');
    expect(await shelf.fault('sites', 'remove', 'globex', '--config', other)).toMatchObject({
      exit: 69,
      code: 'in_use',
      error: expect.stringMatching(/the daemon \d+ on .* serves/),
    });
    expect(await shelf.sites('--config', other)).toMatchObject([
      { domain: 'acme', configured: true },
      { domain: 'globex', configured: false, state: 'ready' },
    ]);

    await shelf.configure({ sites: [ACME] });
    await daemon.until(({ sites }) => sites?.length === 1);
    expect(await shelf.sites()).toMatchObject([
      { domain: 'acme', ...june },
      { domain: 'globex', state: null, version: '2024-06-01', pages: 2, configured: false },
    ]);
    expect((await shelf.run('sites')).stdout).toMatch(/globex +left the config +2024-06-01/);

    const removed = await shelf.run('sites', 'remove', 'globex', '--json');
    expect(removed.json()).toEqual({ domain: 'globex', digests: [expect.stringMatching(/^[0-9a-f]{64}$/)] });
    expect((await shelf.sites()).map(({ domain }) => domain)).toEqual(['acme']);
    // The other site has the same release.
    expect((await shelf.run('bundle', 'verify', '2024-06-01')).code).toBe(0);
    expect(await shelf.fault('sites', 'remove', 'globex')).toMatchObject({ exit: 69, code: 'not_found' });
  });

  test('check all sites with doctor and healthcheck', async () => {
    const dead = { enabled: true, bundleUrl: 'http://127.0.0.1:1/docs.tar.gz' };
    await shelf.configure({ sites: [ACME, { ...GLOBEX, staticExport: dead }], network: { proxy: 'off' } });
    const { checks } = (await shelf.run('doctor', '--json')).json<{ checks: Diagnosis[] }>();
    const stateOf = (subject: string) => checks.find((each) => each.subject === subject)?.state;
    expect(stateOf('acme: staticExport.preload')).toBe('ok');
    expect(stateOf('acme: the bundle')).toBe('ok');
    expect(stateOf('globex: staticExport.bundleUrl')).toBe('fault');
    expect(stateOf('staticExport.preload')).toBeUndefined();
    expect(stateOf('acme: the running daemon')).toBe('ok');
    expect((await shelf.run('healthcheck')).code).toBe(0);
  });
});

test('without a daemon, commands for a config with two sites read and change only the named site', async () => {
  const shelf = await Shelf.open(bench);
  for (const [date, site] of [
    ['2024-06-01', 'acme'],
    ['2024-07-01', 'acme'],
    ['2024-07-01', 'globex'],
  ] as const) {
    expect((await shelf.run('bundle', 'import', `docs-${date}.tar.gz`, '--site', site)).code).toBe(0);
  }
  expect(await shelf.fault('bundle', 'rollback')).toMatchObject({ exit: 64, code: 'site_needed' });
  expect(await shelf.fault('bundle', 'rollback', '--site', 'initech')).toMatchObject({ exit: 69, code: 'not_found' });
  expect((await shelf.run('bundle', 'rollback', '--site', 'acme')).code).toBe(0);
  expect((await shelf.run('bundle', 'remove', '2024-07-01', '--site', 'acme')).code).toBe(0);
  expect(await shelf.versions()).toEqual({
    acme: ['2024-06-01', ['2024-06-01']],
    globex: ['2024-07-01', ['2024-07-01']],
  });
  const found = (await shelf.run('search', 'home', '--json')).json<{ site: string }[]>();
  expect(found.map(({ site }) => site).sort()).toEqual(['acme', 'globex']);
  expect((await shelf.run('features', '--json')).json()).toMatchObject({
    sites: [{ domain: 'acme' }, { domain: 'globex' }],
  });

  await shelf.configure({ sites: [ACME] });
  expect(await shelf.sites()).toMatchObject([
    { domain: 'acme', state: null, configured: true },
    { domain: 'globex', state: null, version: '2024-07-01', configured: false },
  ]);
  expect((await shelf.run('sites', 'remove', 'globex')).code).toBe(0);
  expect((await shelf.sites()).map(({ domain }) => domain)).toEqual(['acme']);
});

test('the only site can be named by its domain if the config has no list of sites', async () => {
  const shelf = await Shelf.open(bench);
  await shelf.configure({ deployment: { domain: 'acme' }, staticExport: { enabled: true } });
  const importArgs = ['bundle', 'import', 'docs-2024-06-01.tar.gz', '--site'];
  expect(await shelf.fault(...importArgs, 'globex')).toMatchObject({ exit: 69, code: 'not_found' });
  expect((await shelf.run(...importArgs, 'acme')).code).toBe(0);
  expect(await shelf.sites()).toMatchObject([{ domain: 'acme', version: '2024-06-01', configured: true }]);
  const daemon = await bench.start(null, { folder: shelf.folder });
  await daemon.untilServing('2024-06-01');
  expect((await shelf.run('bundle', 'rollback', '--site', 'globex')).code).toBe(69);
  expect((await shelf.run('bundle', 'activate', '2024-06-01', '--site', 'acme')).code).toBe(0);
  expect(await shelf.fault('sites', 'remove', 'acme')).toMatchObject({ code: 'in_use' });
});
