import { chmod, chown, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, test } from 'vitest';
import type { Diagnosis } from '../../src/app/doctor/diagnosis.ts';
import { startS3Server, storeAt } from '../export/stores/s3-server.ts';
import { type CommandResult, type ConfigFile, openBench } from '../helpers/daemon.ts';
import { TestIdentityProvider } from '../helpers/identity-provider.ts';
import { httpServer, tlsServer } from '../helpers/local-server.ts';
import { HAS_POSTGRES, PostgresServer } from '../helpers/postgres.ts';
import { bundle } from './bundles.ts';
import { startOrigin } from './origin.ts';

const bench = openBench(afterEach);
const TLS = join(import.meta.dirname, '../fixtures/tls');

interface Answer {
  readonly ok: boolean;
  readonly checks: readonly Diagnosis[];
}

async function doctor(config: ConfigFile, prepare?: (folder: string) => Promise<unknown>): Promise<CommandResult> {
  const folder = await bench.folder();
  await prepare?.(folder);
  await bench.writeConfig(folder, { network: { proxy: 'off' }, ...config });
  return bench.run(['doctor', '--json'], { cwd: folder });
}

/** A folder with this config and an imported version `v9`. */
async function withVersion(config: ConfigFile): Promise<string> {
  const folder = await bench.folder();
  await bench.writeConfig(folder, config);
  await writeFile(join(folder, 'docs.tar.gz'), bundle('one'));
  await bench.run(['bundle', 'import', 'docs.tar.gz', '--version', 'v9'], { cwd: folder });
  return folder;
}

function about(result: CommandResult, check: string, subject: RegExp = /./): Diagnosis[] {
  return result.json<Answer>().checks.filter((each) => each.check === check && subject.test(each.subject));
}

describe('docshelf doctor', () => {
  test('reports no problem for a sound deployment, and lists its checks', async () => {
    const origin = await startOrigin({ '/docs-2024-06-01.tar.gz': bundle('one') });
    const config = { staticExport: { bundleUrl: `${origin.origin}/docs-2024-06-01.tar.gz?sig=hidden-word` } };
    const result = await doctor(config);
    expect({ code: result.code, ok: result.json<Answer>().ok }).toEqual({ code: 0, ok: true });
    const seen = new Set(result.json<Answer>().checks.map(({ check }) => check));
    expect([...seen]).toEqual(expect.arrayContaining(['config', 'folder', 'space', 'port', 'reach', 'clock']));
    expect(about(result, 'reach')).toMatchObject([{ state: 'ok', subject: 'staticExport.bundleUrl' }]);
  });

  test('warns about a data folder that other users can read, but not about a folder with mode 750', async () => {
    const open = (mode: number) => async (folder: string) => {
      await mkdir(join(folder, 'data'));
      await chmod(join(folder, 'data'), mode);
    };
    const warned = about(await doctor({ staticExport: {} }, open(0o755)), 'folder', /storage/);
    expect(warned).toMatchObject([{ state: 'ok' }, { state: 'warning', next: expect.stringContaining('chmod o-rwx') }]);
    expect(about(await doctor({ staticExport: {} }, open(0o750)), 'folder', /storage/)).toMatchObject([
      { state: 'ok' },
    ]);
  });

  test.skipIf(process.getuid?.() !== 0)('names entries of the data folder that belong to another user', async () => {
    const result = await doctor({}, async (folder) => {
      const data = join(folder, 'data');
      for (const path of ['releases/root', 'releases/own', 'daemons', 'lost+found'])
        await mkdir(join(data, path), { recursive: true });
      for (const path of ['', 'releases', 'releases/own']) await chown(join(data, path), 65_532, 65_533);
      await chmod(data, 0o700);
    });
    const [, warned] = about(result, 'folder', /storage/);
    expect(warned).toMatchObject({ state: 'warning', next: expect.stringContaining('sudo chown -R 65532:65533 "/') });
    expect(warned?.message).toContain('2 entries of other users, such as "daemons", "releases/root".');
  });

  test('warns if no version is stored and no source is configured', async () => {
    const nothing = await doctor({ staticExport: {} });
    expect(nothing.code).toBe(0);
    expect(about(nothing, 'bundle')).toMatchObject([{ state: 'warning', next: expect.stringContaining('import') }]);
    const pinned = await doctor({ staticExport: { version: 'v9' } });
    expect(about(pinned, 'bundle')).toMatchObject([{ state: 'warning', subject: 'staticExport.version' }]);
    const folder = await withVersion({ staticExport: { version: 'v9' } });
    const stored = await bench.run(['doctor', '--json'], { cwd: folder });
    expect(about(stored, 'bundle')).toMatchObject([{ state: 'ok', subject: 'staticExport.version' }]);
  });

  test.each([
    [99, 'data_folder_newer'],
    [1, 'release_damaged'],
  ])('reports a stored version whose format number is %i, with the error code %s', async (formatVersion, code) => {
    const folder = await withVersion({ staticExport: { enabled: true } });
    const [digest = ''] = await readdir(join(folder, 'data/releases'));
    const record = join(folder, 'data/releases', digest, 'release.json');
    await writeFile(record, JSON.stringify({ ...JSON.parse(await readFile(record, 'utf8')), formatVersion }));
    const result = await bench.run(['doctor', '--json'], { cwd: folder });
    expect(result.code).not.toBe(0);
    expect(about(result, 'bundle')).toMatchObject([{ state: 'fault', code, next: expect.any(String) }]);
  });

  test.each([
    ['clean', (database: DatabaseSync) => database.close()],
    ['with a log, as after a crash', () => undefined],
  ])('reports export jobs that a newer docshelf stored, and does not change their folder: %s', async (_, end) => {
    const folder = await bench.folder();
    const exports = join(folder, 'data/exports');
    await mkdir(exports, { recursive: true });
    await bench.writeConfig(folder, { exportApi: { enabled: true } });
    const database = new DatabaseSync(join(exports, 'jobs.sqlite'));
    bench.onEnd(() => database.isOpen && database.close());
    database.exec('PRAGMA journal_mode = WAL; PRAGMA user_version = 99');
    end(database);
    const before = await readdir(exports);
    const result = await bench.run(['doctor', '--json'], { cwd: folder });
    expect(about(result, 'folder', /jobs/)).toMatchObject([
      { state: 'fault', code: 'data_folder_newer', next: expect.any(String) },
    ]);
    expect(result.code).toBe(78);
    expect(await readdir(exports)).toEqual(before);
  });

  test('reports a missing folder of an export source', async () => {
    const domains = {
      built: { source: { kind: 'folder', path: './none' } },
      generated: { source: { kind: 'command', workDir: './none', command: ['true'], output: 'dist' } },
      sound: { source: { kind: 'command', workDir: '.', command: ['true'], output: 'dist' } },
    };
    const organizations = [{ id: 'acme', plan: 'enterprise', domains }];
    const result = await doctor({ exportApi: { enabled: true }, organizations });
    const found = about(result, 'folder', /source/).map(({ subject, state }) => [subject, state]);
    expect(found).toEqual([
      ['the source of built', 'fault'],
      ['the source of generated', 'fault'],
      ['the source of sound', 'ok'],
    ]);
  });

  test('never prints a credential, as text or JSON', async () => {
    const folder = await bench.folder();
    const bundleUrl = 'http://127.0.0.1:1/docs.tar.gz?sig=hidden-word&Expires=100';
    await bench.writeConfig(folder, { staticExport: { bundleUrl }, admin: { token: 'hidden-word-hidden' } });
    for (const args of [['doctor'], ['doctor', '--json']]) {
      const { stdout, stderr } = await bench.run(args, { cwd: folder });
      expect(stdout).toContain('127.0.0.1:1/docs.tar.gz');
      expect(stdout + stderr).not.toContain('hidden-word');
    }
  });

  test('reports config errors, and exits with 78', async () => {
    const result = await doctor({ server: { prot: 1 } });
    expect(result.code).toBe(78);
    expect(about(result, 'config')).toMatchObject([{ state: 'fault', subject: 'server.prot', code: 'config_invalid' }]);
  });

  test('exits with 73 if it cannot write to the data folder', async () => {
    const result = await doctor({ storage: { dir: './file/data' } }, (folder) => writeFile(join(folder, 'file'), ''));
    expect(result.code).toBe(73);
    expect(about(result, 'folder', /storage/)).toMatchObject([{ state: 'fault', code: 'cannot_write' }]);
  });

  test('does not change the data folder', async () => {
    const result = await doctor({});
    expect(about(result, 'folder', /storage/)).toMatchObject([{ state: 'ok' }]);
    const folder = await bench.folder();
    await mkdir(join(folder, 'data'));
    await bench.writeConfig(folder, {});
    await bench.run(['doctor'], { cwd: folder });
    expect(await readdir(join(folder, 'data'))).toEqual([]);
  });

  test('names the port that another program uses, and exits with 69', async () => {
    const occupied = await httpServer((_, response) => response.end());
    const port = Number(occupied.host.split(':')[1]);
    const result = await doctor({ server: { host: '127.0.0.1', port } });
    expect(result.code).toBe(69);
    expect(about(result, 'port', /server/)).toMatchObject([{ state: 'fault', code: 'port_taken' }]);
  });

  test('checks that the identity provider reports the configured issuer', async () => {
    const provider = await TestIdentityProvider.start();
    await provider.serve({ redirectUris: ['http://127.0.0.1/_docshelf/oidc/callback'] });
    const withIssuer = (issuer: string): Promise<CommandResult> => {
      const auth = { kind: 'oidc', issuer, clientId: 'docs', allowedGroups: ['docs'] };
      return doctor({ server: { publicUrl: 'http://127.0.0.1', auth } });
    };
    const sound = await withIssuer(`${provider.issuer}/`);
    expect(about(sound, 'reach')).toMatchObject([{ state: 'ok', subject: 'server.auth.issuer' }]);
    // The same provider with another name, and a path without a provider.
    for (const [issuer, reported] of [
      [provider.issuer.replace('127.0.0.1', 'localhost'), `names the issuer "${provider.issuer}"`],
      [`${provider.issuer}/realms/docs`, 'returned 404'],
    ] as const) {
      const result = await withIssuer(issuer);
      expect(result.code).toBe(69);
      expect(about(result, 'reach')).toMatchObject([{ state: 'fault', message: expect.stringContaining(reported) }]);
    }
  });

  test('queries a running daemon, and does not check whether the ports of this daemon are free', async () => {
    const daemon = await bench.start({ staticExport: { enabled: false } });
    const result = await bench.run(['doctor', '--json'], { cwd: daemon.folder });
    const { programVersion } = await daemon.status();
    const message = `The daemon is docshelf ${programVersion}, with process id ${daemon.pid}.`;
    expect(about(result, 'daemon')).toMatchObject([{ state: 'ok', message }, { state: 'ok' }]);
    expect(about(result, 'port')).toEqual([]);
  });

  test('reads the bucket of exports with the configured key, and reports a missing bucket or a wrong key', async () => {
    const store = await startS3Server();
    const check = async (changes: object): Promise<Diagnosis[]> => {
      const exportApi = { enabled: true, store: { ...storeAt(store.endpoint), ...changes } };
      return about(await doctor({ exportApi }), 'reach', /store/);
    };
    expect(await check({})).toMatchObject([{ state: 'ok', subject: 'exportApi.store' }]);
    expect(await check({ bucket: 'missing-bucket' })).toMatchObject([
      { state: 'fault', code: 'store_failed', message: expect.stringContaining('the bucket does not exist') },
    ]);
    expect(await check({ accessKeyId: 'unknown' })).toMatchObject([{ state: 'fault', code: 'store_failed' }]);
  });

  test.runIf(HAS_POSTGRES)('connects to the database, and reports a server that is down', async () => {
    const server = await PostgresServer.start();
    const config = { database: { urlFile: './database-url' } };
    const url = await server.createDatabase();
    const writeUrl = (folder: string) => writeFile(join(folder, 'database-url'), url, { mode: 0o600 });
    expect(about(await doctor(config, writeUrl), 'reach', /database/)).toMatchObject([{ state: 'ok' }]);
    await server.query('CREATE SCHEMA docshelf', url);
    await server.query('CREATE TABLE docshelf.migrations AS SELECT 99 AS version', url);
    const newer = about(await doctor(config, writeUrl), 'reach', /database/);
    expect(newer).toMatchObject([{ state: 'fault', code: 'database_unfit' }]);
    await server.stop();
    const result = await doctor(config, writeUrl);
    expect(about(result, 'reach', /database/)).toMatchObject([{ state: 'fault', code: 'database_unavailable' }]);
    expect(result.code).toBe(69);
  });

  test('warns about a secret file that everybody can read', async () => {
    const prepare = async (folder: string): Promise<void> => {
      await writeFile(join(folder, 'link'), `file://${folder}/bundles/docs.tar.gz`);
      await chmod(join(folder, 'link'), 0o644);
    };
    const result = await doctor({ staticExport: { bundleUrlFile: './link' } }, prepare);
    const [found] = about(result, 'file', /bundleUrlFile/);
    expect(found).toMatchObject({ state: 'warning', next: expect.stringContaining('chmod 600') });
  });

  describe('for bundleUrl', () => {
    test('exits with 69 and reports an expired link if the query of the link contains a past expiry date', async () => {
      const origin = await startOrigin({ '/docs.tar.gz': bundle('one') });
      const result = await doctor({ staticExport: { bundleUrl: `${origin.origin}/docs.tar.gz?Expires=100` } });
      expect(result.code).toBe(69);
      expect(about(result, 'link')).toMatchObject([{ state: 'fault', code: 'link_expired' }]);
      // The server is available nevertheless.
      expect(about(result, 'reach')).toMatchObject([{ state: 'ok' }]);
    });

    test('only warns about an expired link if the pinned version is stored, because docshelf does not need the link', async () => {
      const bundleUrl = 'http://127.0.0.1:1/docs.tar.gz?Expires=100';
      const folder = await withVersion({ staticExport: { version: 'v9', bundleUrl }, network: { proxy: 'off' } });
      const result = await bench.run(['doctor', '--json'], { cwd: folder });
      expect(about(result, 'link')).toMatchObject([{ state: 'warning', code: 'link_expired' }]);
    });

    test('reports why the server rejected the request', async () => {
      const server = await httpServer((_, response) =>
        response.writeHead(403).end('<Code>SignatureDoesNotMatch</Code>'),
      );
      const result = await doctor({ staticExport: { bundleUrl: `${server.origin}/docs.tar.gz?sig=1` } });
      expect(about(result, 'reach')).toMatchObject([{ state: 'fault', code: 'link_refused' }]);
    });

    test('reports that the host name does not resolve', async () => {
      const result = await doctor({ staticExport: { bundleUrl: 'https://docs.invalid/docs.tar.gz' } });
      expect(result.code).toBe(69);
      expect(about(result, 'name')).toMatchObject([{ state: 'fault', code: 'source_unreachable' }]);
    });

    test('contacts only hosts in network.allowedHosts in an air-gapped deployment', async () => {
      const requestedUrls: string[] = [];
      const server = await httpServer((request, response) => {
        requestedUrls.push(request.url ?? '');
        response.end();
      });
      const config = {
        deployment: { type: 'air-gapped' },
        staticExport: { bundleUrlFile: './link' },
      };
      const link = (folder: string) => writeFile(join(folder, 'link'), `${server.origin}/docs.tar.gz`, { mode: 0o600 });
      const result = await doctor(config, link);
      expect(result.code).toBe(78);
      expect(about(result, 'config')).toMatchObject([{ state: 'fault', subject: 'staticExport.bundleUrlFile' }]);
      expect(requestedUrls).toEqual([]);

      const inside = await doctor({ ...config, network: { proxy: 'off', allowedHosts: [server.host] } }, link);
      expect(about(inside, 'reach')).toMatchObject([{ state: 'ok' }]);
      expect(requestedUrls.length).toBeGreaterThan(0);
    });
  });

  test('reports the time difference if the clock of the bundle server is an hour ahead', async () => {
    const server = await httpServer((_, response) => {
      response.sendDate = false;
      response.setHeader('date', new Date(Date.now() + 3_600_000).toUTCString());
      response.end('bundle');
    });
    const result = await doctor({ staticExport: { bundleUrl: `${server.origin}/docs.tar.gz` } });
    expect(about(result, 'clock')).toMatchObject([
      { state: 'warning', message: expect.stringMatching(/3[56]\d\d s behind/) },
    ]);
  });

  test('reports when the certificate of the bundle server expires, and suggests network.caFile if the certificate is not trusted', async () => {
    const [key, cert] = await Promise.all(
      ['key.pem', 'certificate.pem'].map((name) => readFile(join(TLS, name), 'utf8')),
    );
    const server = await tlsServer({ key: key ?? '', cert: cert ?? '' }, (_, response) => response.end('bundle'));
    const caFile = join(TLS, 'certificate.pem');
    const config = { staticExport: { bundleUrl: `${server.origin}/docs.tar.gz` }, network: { proxy: 'off', caFile } };
    const result = await doctor(config);
    expect(about(result, 'certificate', /^https:/)).toMatchObject([
      { state: 'ok', message: expect.stringContaining('expires on 2') },
    ]);
    expect(about(result, 'certificate', /caFile/)).toMatchObject([{ state: 'ok' }]);

    const untrusted = await doctor({ ...config, network: { proxy: 'off' } });
    expect(about(untrusted, 'reach')).toMatchObject([
      { state: 'fault', code: 'source_unreachable', next: expect.stringContaining('network.caFile') },
    ]);
  });
});
