import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { freePort } from '../helpers/free-ports.ts';
import { httpServer } from '../helpers/local-server.ts';
import { manualPage } from '../helpers/manual-blocks.ts';
import { HAS_POSTGRES, PostgresServer } from '../helpers/postgres.ts';
import { runCommands } from '../helpers/shell.ts';
import { sha256Of } from './bundles.ts';
import { exporterOf, SITE } from './export-service.ts';

/** Home folders that a former build left when it was killed (test/fixtures/former-data-folder/write.ts), under this build. */
const bench = openBench(afterEach);
const FIXTURE = join(import.meta.dirname, '../fixtures/former-data-folder');
/** `dist/main.js` of the former build, to test the way back. The commit is named in write.ts. */
const FORMER_PROGRAM = process.env.DOCSHELF_TEST_FORMER ?? '';
const TOKEN = 'fixture-admin-token';
const SEARCH_KEY = 'svc_dsc_acme-assistant';

interface Expected {
  readonly key: string;
  readonly revokedKey: string;
  readonly jobs: readonly { readonly jobId: string; readonly status: string }[];
  readonly keys: readonly { readonly id: string }[];
  readonly audit: readonly object[];
  /** Digest of the body of each page, by path. Only for `sites`. */
  readonly pages: Readonly<Record<string, object>>;
  readonly sites: readonly SiteFacts[];
}

interface SiteFacts {
  readonly deployment: { readonly domain: string };
  readonly active: { readonly version: string; readonly digest: string };
  readonly versions: readonly { readonly version: string; readonly digest: string }[];
}

class FormerHome {
  readonly folder: string;
  readonly expected: Expected;
  readonly #apiPort: number;

  private constructor(folder: string, apiPort: number) {
    this.folder = folder;
    this.expected = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as Expected;
    this.#apiPort = apiPort;
  }

  /** The config is the former one, with free ports and a live site for the job that was running. */
  static async open(name: 'sites' | 'shared'): Promise<FormerHome> {
    const folder = await bench.folder();
    execFileSync('tar', ['-xzf', join(FIXTURE, 'homes.tar.gz'), '--strip-components=1', '-C', folder, name]);
    const site = await httpServer((request, response) => {
      const found = SITE[request.url === '/' ? 'index.html' : (request.url ?? '').slice(1)];
      const type = request.url?.endsWith('.css') === true ? 'text/css' : 'text/html';
      response.writeHead(found === undefined ? 404 : 200, { 'content-type': type }).end(found);
    });
    const apiPort = await freePort();
    const config = parse(await readFile(join(folder, 'config.yaml'), 'utf8'));
    config.api.port = apiPort;
    config.organizations[0].domains.slow.source.url = `${site.origin}/`;
    await writeFile(join(folder, 'config.yaml'), stringify(config));
    return new FormerHome(folder, apiPort);
  }

  start(program?: string): Promise<DaemonProcess> {
    return bench.start(null, { folder: this.folder, ...(program === undefined ? {} : { program }) });
  }

  async run(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await bench.run(args, { cwd: this.folder });
    expect([args, code, stdout + stderr]).toEqual([args, 0, expect.anything()]);
    return stdout + stderr;
  }

  api(daemon: DaemonProcess, key = this.expected.key) {
    return exporterOf(daemon, this.#apiPort).as(key);
  }

  /** Ended jobs are unchanged, the running one and the queued one complete, and the completed bundle is still stored. */
  async expectJobs(daemon: DaemonProcess): Promise<void> {
    const api = this.api(daemon);
    const before = this.expected.jobs;
    expect(before.map(({ status }) => status)).toEqual(['queued', 'running', 'failed', 'completed']);
    for (const { jobId } of before.slice(0, 2)) expect((await api.ended(jobId)).error).toBeNull();
    const { jobs } = await api.jobs();
    const completed = { status: 'completed', progress: 100, error: null };
    expect(jobs).toMatchObject(
      before.map((job) => (['queued', 'running'].includes(job.status) ? { jobId: job.jobId, ...completed } : job)),
    );
    for (const { jobId } of jobs.filter(({ status }) => status === 'completed')) {
      const link = await api.bundle(jobId);
      expect(sha256Of(await api.download(link.bundleUrl))).toBe(link.sha256);
    }
  }

  async expectKeys(daemon: DaemonProcess): Promise<void> {
    const { keys } = await this.#admin<{ keys: object[] }>(daemon, '/v1/keys');
    // The last use of a key reaches the disk a minute later, and the former build was killed before.
    const withoutUse = (key: object) => ({ ...key, lastUsedAt: null });
    expect(keys.map(withoutUse)).toMatchObject(this.expected.keys.map(withoutUse));
    expect((await this.api(daemon, this.expected.revokedKey).call('GET', '/v1/static-export/jobs')).status).toBe(401);
    const { lines } = await this.#admin<{ lines: object[] }>(daemon, '/v1/audit');
    expect(lines.slice(-this.expected.audit.length)).toMatchObject(this.expected.audit);
  }

  async expectPages(daemon: DaemonProcess): Promise<void> {
    const { pages, sites } = this.expected;
    const now = await daemon.until((status) => status.sites?.every(({ active }) => active !== null) === true);
    const facts = (given: readonly SiteFacts[]) =>
      given.map(({ deployment, active, versions }) => ({
        domain: deployment.domain,
        active: [active.version, active.digest],
        versions: versions.map(({ version, digest }) => [version, digest]),
      }));
    expect(facts(now.sites as unknown as readonly SiteFacts[])).toEqual(facts(sites));
    for (const [path, expected] of Object.entries(pages)) {
      const response = await fetch(daemon.site + path, { redirect: 'manual' });
      const { status, headers } = response;
      const found = { status, location: headers.get('location'), sha256: sha256Of(await response.bytes()) };
      expect([path, found]).toEqual([path, expected]);
    }
  }

  async #admin<T>(daemon: DaemonProcess, path: string): Promise<T> {
    const response = await fetch(daemon.admin + path, { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(response.status).toBe(200);
    return (await response.json()) as T;
  }
}

/** Format numbers of stored data, by the names that docs/upgrade.md gives it. */
async function formatsIn(data: string): Promise<Record<string, number>> {
  const versionOf = (file: string): number => {
    using database = new DatabaseSync(join(data, file), { readOnly: true });
    return Number(Object.values(database.prepare('PRAGMA user_version').get() ?? {})[0]);
  };
  const member = async (file: string, name: string): Promise<number> =>
    JSON.parse(await readFile(join(data, file), 'utf8'))[name];
  const { digest } = JSON.parse(await readFile(join(data, 'sites/acme/active'), 'utf8'));
  const release = `releases/${digest}`;
  return {
    releases: await member(`${release}/release.json`, 'formatVersion'),
    'keys.json': await member('keys.json', 'format'),
    'exports/jobs.sqlite': versionOf('exports/jobs.sqlite'),
    'search index': versionOf(`${release}/search/keyword.sqlite`),
  };
}

const INDEXED = /"event":"indexed"/g;

describe('this build, used in the home folder of a former build with two sites,', () => {
  test('serves the same pages and versions, completes queued jobs, keeps the keys, and finds pages by words and by meaning', async () => {
    const home = await FormerHome.open('sites');
    const sessionKey = await readFile(join(home.folder, 'data/session.key'));
    const daemon = await home.start();
    await home.expectPages(daemon);
    await home.expectJobs(daemon);
    await home.expectKeys(daemon);
    expect(await readFile(join(home.folder, 'data/session.key'))).toEqual(sessionKey);
    await daemon.untilLogged(/"site":"acme","event":"embedded"/);
    for (const [query, path] of [
      ['lantern', '/'],
      ['vehicle', '/guides/engine.html'],
    ] as const) {
      const answer = await home.api(daemon, SEARCH_KEY).call('POST', '/v1/search/acme', { body: { query } });
      expect(await answer.json()).toMatchObject([{ path }]);
    }
    for (const { deployment, versions } of home.expected.sites)
      for (const { version } of versions) await home.run('bundle', 'verify', version, '--site', deployment.domain);
  });

  test('rebuilds each search index once, serves the pages during the rebuild, and writes the data formats that docs/upgrade.md lists', async () => {
    const home = await FormerHome.open('sites');
    const data = join(home.folder, 'data');
    const former = await formatsIn(data);
    const daemon = await home.start();
    await home.expectPages(daemon);
    await home.expectJobs(daemon);
    for (const site of ['acme', 'handbook']) await daemon.untilLogged(new RegExp(`"site":"${site}","event":"indexed"`));
    expect(daemon.log().match(INDEXED)).toHaveLength(2);
    await daemon.stop();
    const formats = await formatsIn(data);
    const page = manualPage('upgrade');
    for (const [name, format] of Object.entries(formats))
      expect(page).toMatch(new RegExp(`^\\|[^|]*${name}[^|]*\\| ${format} \\|`, 'm'));
    // The former build rejects the store of jobs, and builds its own index.
    const kept = ({ 'exports/jobs.sqlite': _, 'search index': __, ...others }: Record<string, number>) => others;
    expect(kept(formats)).toEqual(kept(former));
    const again = await home.start();
    await home.expectPages(again);
    await again.until(({ sites }) => sites?.every(({ search }) => search?.keyword === 'ready') === true);
    expect(again.log()).not.toMatch(INDEXED);
  });

  test('backs up and restores the folder before the first start of the new daemon', async () => {
    const home = await FormerHome.open('sites');
    await home.run('backup', 'saved.tar');
    await runCommands('rm -r data', home.folder);
    await home.run('restore', 'saved.tar');
    const daemon = await home.start();
    await home.expectPages(daemon);
    await home.expectJobs(daemon);
    await home.expectKeys(daemon);
  });

  test.skipIf(FORMER_PROGRAM === '')(
    'leaves a folder that the former build rejects, but can serve again if the job store is moved away',
    async () => {
      const home = await FormerHome.open('sites');
      const daemon = await home.start();
      await home.expectJobs(daemon);
      await daemon.stop();
      const jobs = join(home.folder, 'data/exports/jobs.sqlite');
      const refused = await bench.run(['serve'], { cwd: home.folder, program: FORMER_PROGRAM });
      expect(refused.code).toBe(78);
      expect(refused.stderr).toContain(`Cannot open the job store "${jobs}": its format is version 4`);
      await runCommands(`mv data/exports/jobs.sqlite* .`, home.folder);
      const former = await home.start(FORMER_PROGRAM);
      await home.expectPages(former);
      await home.expectKeys(former);
      await former.untilLogged(/"site":"acme","event":"indexed"/);
    },
  );
});

describe.skipIf(!HAS_POSTGRES)('the home folder and the database of a former build', () => {
  test('keep their keys and jobs after the upgrade, and this build completes the jobs', async () => {
    const server = await PostgresServer.start();
    const home = await FormerHome.open('shared');
    const url = await server.createDatabase();
    await writeFile(join(home.folder, 'database-url'), url);
    await runCommands(
      `gunzip -c "${FIXTURE}/database.sql.gz" | psql --quiet --set ON_ERROR_STOP=1 "${url}"`,
      home.folder,
    );
    const daemon = await home.start();
    await home.expectJobs(daemon);
    await home.expectKeys(daemon);
    const [row] = await server.query('SELECT max(version) AS version FROM docshelf.migrations', url);
    expect(manualPage('upgrade')).toMatch(new RegExp(`^\\|[^|]*PostgreSQL[^|]*\\| ${row?.version} \\|`, 'm'));
    expect(existsSync(join(home.folder, 'data/exports/jobs.sqlite'))).toBe(false);
    expect(await readdir(join(home.folder, 'data/exports/bundles'))).not.toHaveLength(0);
    if (FORMER_PROGRAM === '') return;
    await daemon.stop();
    const refused = await bench.run(['serve'], { cwd: home.folder, program: FORMER_PROGRAM });
    expect(refused.code).toBe(78);
    expect(refused.stderr).toMatch(
      /its schema "docshelf" is version 6, but this docshelf supports only versions up to 5/,
    );
  });
});
