import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdir, readdir, readFile, rm, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { codesOf, faultOf, openBench, waitFor } from '../helpers/daemon.ts';
import { freePort } from '../helpers/free-ports.ts';
import { httpServer } from '../helpers/local-server.ts';
import { spawnProgram } from '../helpers/program.ts';
import { cases } from '../helpers/runs.ts';
import { runCommands, runShell, writePrograms } from '../helpers/shell.ts';
import { writeFiles } from '../helpers/write-files.ts';
import { bundle } from './bundles.ts';
import { crawlOf } from './crawl-service.ts';
import { exporterOf, organizations, SITE, startAgain, startExporter } from './export-service.ts';
import { skipped, smallVolume, whySkipped } from './small-volume.ts';

const bench = openBench(afterEach);
const seedBench = openBench(afterAll);
const JUNE = 'docs-2024-06-01.tar.gz';
const JULY = 'docs-2024-07-01.tar.gz';

/** A running daemon with two versions and one completed export. @returns its folder */
async function startOriginal(): Promise<string> {
  const folder = await bench.folder();
  await writeFiles(join(folder, 'site'), SITE);
  const exporter = await startExporter(bench, { staticExport: { enabled: true } }, { folder });
  for (const name of [JUNE, JULY]) {
    await writeFile(join(folder, name), bundle(name));
    expect(await bench.run(['bundle', 'import', name], { cwd: folder })).toMatchObject({ code: 0 });
  }
  await exporter.export('acme');
  return folder;
}

/** Imported homes by version and files, because each import starts a program. */
const seeds = new Map<string, Promise<string>>();

/** A folder with a config, one imported version, and `docshelf` in `bin`. */
async function openHome(version = '2024-06-01', files: Readonly<Record<string, string>> = {}): Promise<string> {
  const key = JSON.stringify([version, files]);
  const seed = seeds.get(key) ?? seedHome(version, files);
  seeds.set(key, seed);
  const folder = await bench.folder();
  await cp(await seed, folder, { recursive: true, preserveTimestamps: true });
  return folder;
}

async function seedHome(version: string, files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await seedBench.folder();
  writePrograms(folder);
  await seedBench.writeConfig(folder, {});
  await writeFile(join(folder, JUNE), bundle('one', files));
  const imported = await seedBench.run(['bundle', 'import', JUNE, '--version', version], { cwd: folder });
  expect(imported).toMatchObject({ code: 0 });
  return folder;
}

async function openEmptyHome(): Promise<string> {
  const folder = await bench.folder();
  writePrograms(folder);
  await bench.writeConfig(folder, {});
  return folder;
}

const backUp = (cwd: string, to = 'saved.tar') => bench.run(['backup', to, '--json'], { cwd });
const restore = (cwd: string, from: string) => bench.run(['restore', from, '--json'], { cwd });

/** Restores the backup into a new home. @returns its folder */
async function restoreOf(archive: string): Promise<string> {
  const other = await openEmptyHome();
  expect(await restore(other, archive)).toMatchObject({ code: 0 });
  return other;
}

async function versionsOf(cwd: string): Promise<string[]> {
  const list = await bench.run(['bundle', 'list', '--json'], { cwd });
  return list.json<{ versions: { version: string }[] }>().versions.map(({ version }) => version);
}

/** Backup of one version, for tests that only read it. */
let homeBackup: string | undefined;

async function saveHome(): Promise<string> {
  const folder = await openHome();
  const file = join(await seedBench.folder(), 'saved.tar');
  expect(await backUp(folder, file)).toMatchObject({ code: 0 });
  return file;
}

const savedIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name.startsWith('saved'));

/** Waits until a backup to `saved.tar` has created its partial file. */
async function untilStarted(folder: string): Promise<void> {
  await waitFor(
    async () => ((await savedIn(folder)).length > 0 ? true : null),
    () => 'the backup does not start',
  );
}

describe('docshelf backup and restore', () => {
  test('save and restore the jobs and bundles of an export service that serves no site', async () => {
    const exporter = await startExporter(bench);
    const { jobId } = await exporter.export('acme');
    const { folder } = exporter.daemon;
    const saved = await backUp(folder);
    expect(saved).toMatchObject({ code: 0 });
    expect((await stat(join(folder, 'saved.tar'))).mode & 0o777).toBe(0o600);
    await exporter.daemon.stop();
    await rm(join(folder, 'data'), { recursive: true });
    const restored = await restore(folder, 'saved.tar');
    expect({ ...restored.json(), code: restored.code }).toMatchObject({
      code: 0,
      files: saved.json<{ files: number }>().files,
    });
    const moved = await startAgain(bench, exporter);
    expect(await moved.job(jobId)).toMatchObject({ status: 'completed' });
    expect((await moved.download((await moved.bundle(jobId)).bundleUrl)).length).toBeGreaterThan(0);
  });

  test('store the content of a file only once if two versions contain this file, and restore both versions without a search index', async () => {
    const folder = await bench.folder();
    await bench.writeConfig(folder, {});
    const large = 'x'.repeat(3_000_000);
    for (const name of [JUNE, JULY]) {
      await writeFile(join(folder, name), bundle(name, { 'large.txt': large }));
      expect(await bench.run(['bundle', 'import', name], { cwd: folder })).toMatchObject({ code: 0 });
    }
    expect(await backUp(folder)).toMatchObject({ code: 0 });
    expect((await stat(join(folder, 'saved.tar'))).size).toBeLessThan(2 * large.length);
    const other = await restoreOf(join(folder, 'saved.tar'));
    for (const version of ['2024-06-01', '2024-07-01'])
      expect(await bench.run(['bundle', 'verify', version], { cwd: other })).toMatchObject({ code: 0 });
    const search = await bench.run(['search', 'july'], { cwd: other, env: { DOCSHELF__SEARCH__ENABLED: 'true' } });
    expect([search.code, search.stderr]).toEqual([69, expect.stringContaining('its index is not built yet')]);
  });

  test.each([
    ['a backup that was cut off', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2), 65, 'damaged_archive'],
    ['a backup that was cut off in an entry', (bytes: Buffer) => bytes.subarray(0, 1000), 65, 'damaged_archive'],
    ['an empty file', () => Buffer.alloc(0), 65, 'damaged_archive'],
    [
      'a backup of a newer docshelf',
      (bytes: Buffer) => Buffer.from(bytes.toString('latin1').replace('"format":1', '"format":2'), 'latin1'),
      78,
      'data_folder_newer',
    ],
    ['a tar of another program', () => bundle('other'), 65, 'damaged_archive'],
    ['a compressed backup', (bytes: Buffer) => gzipSync(bytes), 65, 'damaged_archive'],
    [
      'a backup with a changed page',
      (bytes: Buffer) => Buffer.from(bytes.toString('latin1').replaceAll('<p>one', '<p>two'), 'latin1'),
      65,
      'damaged_archive',
    ],
  ] as const)('reject an invalid backup file, and create no data folder: %s', async (_, change, code, fault) => {
    homeBackup ??= await saveHome();
    const other = await openEmptyHome();
    await writeFile(join(other, 'changed.tar'), change(await readFile(homeBackup)));
    const result = await restore(other, 'changed.tar');
    expect({ exit: result.code, code: result.json().code }).toEqual({ exit: code, code: fault });
    expect(result.json().error).toMatch(/: (?:it|its) [a-z]/);
    expect(existsSync(join(other, 'data'))).toBe(false);
    expect(await restore(other, homeBackup)).toMatchObject({ code: 0 });
  });

  test('do not overwrite a data folder that contains files or belongs to a running daemon', async () => {
    const folder = await openHome();
    await backUp(folder);
    await bench.start(null, { folder });
    const running = await restore(folder, 'saved.tar');
    expect(running.json()).toMatchObject({ code: 'in_use', error: expect.stringContaining('a daemon uses it') });
    const other = await openEmptyHome();
    await mkdir(join(other, 'data/sites/docs'), { recursive: true });
    await writeFile(join(other, 'data/sites/docs/active'), '{}');
    expect(codesOf(await restore(other, join(folder, 'saved.tar')))).toEqual([69, 'in_use']);
    expect(await readFile(join(other, 'data/sites/docs/active'), 'utf8')).toBe('{}');
  });

  test('report a missing data folder, and a backup file that cannot be written', async () => {
    const folder = await bench.folder();
    await bench.writeConfig(folder, {});
    expect(codesOf(await backUp(folder))).toEqual([69, 'cannot_read']);
    expect(await readdir(folder)).toEqual(['config.yaml']);
    expect(codesOf(await backUp(folder, 'missing/saved.tar'))).toEqual([73, 'cannot_write']);
  });

  test.each(['v1.lock', 'v1.sqlite'])(
    'save and restore files with any name, in a version that is named %s',
    async (version) => {
      const long = `${'long-name-'.repeat(20)}/${'ü'.repeat(100)}/page.html`;
      const names = ['lock', 'yarn.lock', 'a.sqlite', 'a.sqlite-wal', '.tmp-a/b.html', 'docs/lock/a.html', long];
      const others = ['search/a.html', 'spool/a.html', '.well-known/a.txt', 'releases/.a/b.html', 'rejected/a.html'];
      const files = Object.fromEntries([...names, ...others].map((name) => [name, `content of ${name}`]));
      const folder = await openHome(version, files);
      await runCommands('docshelf backup - > saved.tar', folder);
      const other = await openEmptyHome();
      await runCommands(`cat ${folder}/saved.tar | docshelf restore -`, other);
      expect(await bench.run(['bundle', 'verify', version], { cwd: other })).toMatchObject({ code: 0 });
      expect(await versionsOf(other)).toEqual([version]);
    },
  );

  test('save complete versions while other versions are imported, activated and removed', async () => {
    const folder = await startOriginal();
    const changes = new AbortController();
    const changing = (async () => {
      for (let round = 0; !changes.signal.aborted; round += 1) {
        await writeFile(join(folder, 'next.tar.gz'), bundle(`round ${round}`));
        await bench.run(['bundle', 'import', 'next.tar.gz', '--version', `v${round}`], { cwd: folder });
        await bench.run(['bundle', 'activate', '2024-07-01'], { cwd: folder });
        await bench.run(['bundle', 'remove', `v${round}`], { cwd: folder });
      }
    })();
    for (let backup = 0; backup < cases(3); backup += 1) {
      const saved = await backUp(folder);
      if (saved.code !== 0) {
        expect(saved.json()).toMatchObject({ code: 'cannot_read', next: 'Run the backup again.' });
        continue;
      }
      const other = await restoreOf(join(folder, 'saved.tar'));
      const versions = await versionsOf(other);
      expect(versions).toEqual(expect.arrayContaining(['2024-06-01', '2024-07-01']));
      for (const version of versions)
        expect(await bench.run(['bundle', 'verify', version], { cwd: other })).toMatchObject({ code: 0 });
    }
    changes.abort();
    await changing;
  });

  test('keep all pages and a running export if a backup is restored at another path', async () => {
    const folder = await bench.folder();
    let isOpen = false;
    const held = await httpServer((_, response) => {
      if (isOpen) response.setHeader('content-type', 'text/html').end('<!doctype html><title>Live</title><p>live</p>');
    });
    const [acme] = organizations(crawlOf(`${held.origin}/`));
    const exporter = await startExporter(
      bench,
      {
        staticExport: { enabled: true, serveVersions: 'kept', keep: 9 },
        organizations: [acme],
        exportApi: { browser: { verify: 'off' }, queue: { lease: '1s' } },
      },
      { folder },
    );
    const { jobId } = await exporter.start('acme');
    await exporter.until(jobId, ({ status }) => status === 'running');
    const swap = async (version: string) => {
      await writeFile(join(folder, `${version}.tar.gz`), bundle(version, { 'a.css': `b { color: ${version} }` }));
      const args = ['bundle', 'import', `${version}.tar.gz`, '--version', version];
      expect(await bench.run(args, { cwd: folder })).toMatchObject({ code: 0 });
    };
    await swap('v1');
    await swap('v2');
    const [saved] = await Promise.all([backUp(folder), swap('v3')]);
    expect(saved).toMatchObject({ code: 0 });

    const other = await bench.folder();
    const config = parse(await readFile(join(folder, 'config.yaml'), 'utf8'));
    const port = await freePort();
    await writeFile(
      join(other, 'config.yaml'),
      stringify({ ...config, storage: { dir: './moved/here' }, api: { ...config.api, port } }),
    );
    expect(await restore(other, join(folder, 'saved.tar'))).toMatchObject({ code: 0 });
    isOpen = true;
    const daemon = await bench.start(null, { folder: other });
    const { active } = await daemon.until(({ state }) => state === 'ready');
    expect(['v2', 'v3']).toContain(active?.version);
    // The backup can contain v3 as a version that was never active, because docshelf stores a version before it activates it.
    for (const version of active?.version === 'v3' ? ['v1', 'v2'] : ['v1']) {
      for (const path of ['/', '/guides/start', '/a.css', '/missing']) {
        const get = async (site: string) => {
          const response = await fetch(`${site}/_docshelf/v/${version}${path}`, { redirect: 'manual' });
          return [response.status, response.headers.get('etag'), await response.text()];
        };
        expect([version, path, await get(daemon.site)]).toEqual([version, path, await get(exporter.daemon.site)]);
      }
    }
    const page = async (path: string): Promise<string> => (await fetch(daemon.site + path)).text();
    expect(await page('/guides/start')).toContain(`<p>${active?.version}</p>`);
    expect(await page('/a.css')).toBe(`b { color: ${active?.version} }`);
    const moved = await exporterOf(daemon, port).ended(jobId);
    expect(moved).toMatchObject({ status: 'completed', error: null });
  });

  test('reject a backup file whose path is in the data folder', async () => {
    const folder = await openHome();
    expect(codesOf(await backUp(folder, 'data/saved.tar'))).toEqual([73, 'cannot_write']);
    expect(await readdir(join(folder, 'data'))).not.toContain('saved.tar');
    await runCommands('docshelf backup - > data/saved.tar; mv data/saved.tar saved.tar', folder);
    const other = await restoreOf(join(folder, 'saved.tar'));
    expect(await readdir(join(other, 'data'))).not.toContain('saved.tar');
  });

  test('report a symbolic link in the data folder, because a backup cannot contain symbolic links', async () => {
    const folder = await openHome();
    await symlink('/etc', join(folder, 'data/vectors'));
    expect(faultOf(await backUp(folder))).toMatchObject({
      exit: 69,
      error: expect.stringContaining('vectors": it is a symbolic link'),
    });
    expect(existsSync(join(folder, 'saved.tar'))).toBe(false);
  });

  test.each([
    ['named pipe', 'mkfifo pipe; cat pipe > saved.tar & docshelf backup pipe; wait; test -p pipe'],
    ['symbolic link', 'touch saved.tar; ln -s saved.tar link; docshelf backup link; test -L link'],
  ])('write a restorable backup through an existing %s, and keep the %s', async (_, commands) => {
    const folder = await openHome();
    await runCommands(commands, folder);
    await restoreOf(join(folder, 'saved.tar'));
  });

  test.each([
    ['a pipe that closes before the end of the backup', 'docshelf backup - | head -c 10 >&2; exit $PIPESTATUS', 73],
    ['a full disk behind standard output', 'docshelf backup - > /dev/full', 73],
    ['a folder in place of the backup file to write', 'mkdir saved; docshelf backup saved', 73],
    ['a folder in place of the backup file to read', 'rm -r data; docshelf restore bin', 69],
    ['--json together with a backup on standard output', 'docshelf backup - --json', 64],
  ])('report an error for a file, a pipe or an option that they cannot use: %s', async (_, commands, code) => {
    const folder = await openHome('2024-06-01', { 'large.txt': 'x'.repeat(3_000_000) });
    const result = await runShell(`set +e +o pipefail\n${commands}`, folder);
    expect(result.stdout + result.stderr).toMatch(/Cannot (?:write|read|use)/);
    expect(result.code).toBe(code);
  });

  test('report an error if the reader of the backup closes the pipe before the end', async () => {
    const files = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`page-${at}.txt`, 'x'.repeat(6_000)]));
    const folder = await openHome('2024-06-01', files);
    // The pipe is full when its reader ends.
    const commands = 'docshelf backup - | { head -c 1000000 >/dev/null; sleep 1; }; exit $PIPESTATUS';
    const result = await runShell(`set +e +o pipefail\n${commands}`, folder);
    expect(result).toMatchObject({ code: 73, stderr: expect.stringContaining('Cannot write the backup') });
  });

  test('report an error if the data folder is a file or a database is damaged', async () => {
    const folder = await openEmptyHome();
    await writeFile(join(folder, 'data'), '');
    expect(codesOf(await backUp(folder))).toEqual([69, 'cannot_read']);
    const saved = await openHome();
    await backUp(saved);
    expect(codesOf(await restore(folder, join(saved, 'saved.tar')))).toEqual([73, 'cannot_write']);
    await writeFiles(join(saved, 'data'), { 'exports/jobs.sqlite': 'no database '.repeat(100) });
    expect(faultOf(await backUp(saved))).toMatchObject({
      exit: 69,
      error: expect.stringMatching(/^Cannot back up ".*jobs\.sqlite": file is not a database$/),
    });
  });

  test('leave one complete backup if two backups are written to one file at the same time', async () => {
    const folder = await openHome();
    await writeFiles(join(folder, 'data'), { 'exports/bundles/large': '' });
    await truncate(join(folder, 'data/exports/bundles/large'), 128 * 1024 ** 2);
    const first = spawnProgram(['backup', 'saved.tar'], folder, {});
    const ended = once(first, 'exit');
    await untilStarted(folder);
    first.kill('SIGSTOP');
    expect(await backUp(folder)).toMatchObject({ code: 0 });
    first.kill('SIGCONT');
    expect(await ended).toEqual([0, null]);
    expect(await savedIn(folder)).toEqual(['saved.tar']);
    await restoreOf(join(folder, 'saved.tar'));
  });

  test('remove the partial backup if SIGINT interrupts the backup', async () => {
    const folder = await openHome();
    await mkdir(join(folder, 'data/exports/bundles'), { recursive: true });
    const large = join(folder, 'data/exports/bundles/large');
    await writeFile(large, '');
    await truncate(large, 4 * 1024 ** 3);
    const child = spawnProgram(['backup', 'saved.tar'], folder, {});
    await untilStarted(folder);
    child.kill('SIGINT');
    expect(await once(child, 'exit')).toEqual([69, null]);
    expect(await savedIn(folder)).toEqual([]);
  });

  test('restore into a data folder that contains the partial files of a killed restore', async () => {
    const folder = await openHome();
    await backUp(folder);
    const other = await openEmptyHome();
    const left = join(other, 'data/staging/restore-1/sites/docs/active');
    await mkdir(dirname(left), { recursive: true });
    await writeFile(left, '{}');
    expect(await restore(other, join(folder, 'saved.tar'))).toMatchObject({ code: 0 });
    expect(await versionsOf(other)).toEqual(['2024-06-01']);
    const again = await restore(other, join(folder, 'saved.tar'));
    expect(again.json()).toMatchObject({ code: 'in_use' });
  });
});

describe.skipIf(skipped)(`docshelf backup and restore on a volume${whySkipped}`, () => {
  test('restore into a mount point, and ignore lost+found', async () => {
    const folder = await openHome();
    await writeFiles(join(folder, 'data'), { 'lost+found/#12': 'not ours' });
    await backUp(folder);
    const volume = await smallVolume(bench, 8 * 1024 ** 2);
    await bench.writeConfig(volume, {});
    await writeFiles(join(volume, 'data'), { 'lost+found/#1': 'not ours' });
    expect(await restore(volume, join(folder, 'saved.tar'))).toMatchObject({ code: 0 });
    expect(await readdir(join(volume, 'data/lost+found'))).toEqual(['#1']);
    expect(await bench.run(['bundle', 'verify', '2024-06-01'], { cwd: volume })).toMatchObject({ code: 0 });
  });

  test('report an error if the temporary folder is full', async () => {
    const folder = await startOriginal();
    const volume = await smallVolume(bench, 16 * 1024);
    const env = { TMPDIR: join(volume, 'data'), NODE_DISABLE_COMPILE_CACHE: '1' };
    expect(faultOf(await bench.run(['backup', 'saved.tar', '--json'], { cwd: folder, env }))).toMatchObject({
      exit: 73,
      error: expect.stringContaining(`no space in the temporary folder "${join(volume, 'data')}"`),
    });
    expect(await readdir(folder)).not.toContain('saved.tar');
  });

  test('leave an empty data folder and no partial backup if the disk is full', async () => {
    const folder = await openHome('2024-06-01', { 'large.txt': 'x'.repeat(3_000_000) });
    const volume = await smallVolume(bench, 1024 ** 2);
    await bench.writeConfig(volume, {});
    expect(faultOf(await backUp(folder, join(volume, 'data/saved.tar')))).toMatchObject({
      exit: 73,
      error: 'Cannot write the backup: the disk is full',
    });
    expect(await readdir(join(volume, 'data'))).toEqual([]);
    await backUp(folder);
    expect(faultOf(await restore(volume, join(folder, 'saved.tar')))).toMatchObject({
      exit: 73,
      error: expect.stringContaining('the disk is full'),
    });
    expect(await readdir(join(volume, 'data'))).toEqual([]);
  });
});
