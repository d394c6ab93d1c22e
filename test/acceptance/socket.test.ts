import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { codesOf, DaemonProcess, faultOf, openBench, waitFor } from '../helpers/daemon.ts';
import { PROGRAM } from '../helpers/program.ts';
import { bundle, folderOf } from './bundles.ts';

const bench = openBench(afterEach);
const [JUNE, JULY] = [bundle('june'), bundle('july')];

const runProgram = promisify(execFile);

interface Mark {
  readonly owner: { readonly pid: number };
  readonly socket: string;
}

/** Heartbeat files of the daemons on a data folder. */
async function marksIn(dataDir: string): Promise<Mark[]> {
  const names = (await readdir(join(dataDir, 'daemons'))).filter((name) => name.endsWith('.json'));
  return Promise.all(
    names.map(async (name) => JSON.parse(await readFile(join(dataDir, 'daemons', name), 'utf8')) as Mark),
  );
}

const bundleCommand = (folder: string, ...args: string[]) => bench.run(['bundle', ...args, '--json'], { cwd: folder });

async function home(): Promise<string> {
  const folder = await bench.folder();
  await folderOf(folder, { 'docs-2024-06-01.tar.gz': JUNE, 'docs-2024-07-01.tar.gz': JULY });
  return folder;
}

describe('the socket of a daemon', () => {
  test('is in the data folder with access only for its owner, is recorded in the heartbeat file, and is removed when the daemon stops', async () => {
    const daemon = await bench.start({}, { folder: await home() });
    const [mark] = await marksIn(daemon.dataDir);
    expect(mark?.socket).toMatch(new RegExp(`^${daemon.dataDir}/daemons/[0-9a-f]{16}\\.sock$`));
    expect((await stat(mark?.socket ?? '')).mode & 0o777).toBe(0o600);
    await daemon.stop();
    expect(await readdir(join(daemon.dataDir, 'daemons'))).toEqual([]);
  });

  test('is removed even if the daemon is stopped right after the socket was created', async () => {
    const folder = await home();
    const daemon = new DaemonProcess(await bench.writeConfig(folder, {}), {});
    bench.onEnd(() => daemon.kill());
    const marks = () => readdir(join(folder, 'data/daemons')).catch(() => []);
    await waitFor(
      async () => ((await marks()).length > 0 ? true : null),
      () => `no mark: ${daemon.log()}`,
    );
    expect({ code: await daemon.stop(), marks: await marks() }).toEqual({ code: 0, marks: [] });
  });

  test('is in the folder for temporary files if its path in the data folder would exceed 100 bytes', async () => {
    const folder = join(await bench.folder(), 'a-folder-with-a-long-name-'.repeat(4));
    await mkdir(folder);
    await folderOf(folder, { 'docs-2024-06-01.tar.gz': JUNE });
    const daemon = await bench.start({}, { folder });
    const [mark] = await marksIn(daemon.dataDir);
    const place = join(tmpdir(), `docshelf-${process.getuid?.()}`);
    expect(mark?.socket).toMatch(new RegExp(`^${place}/[0-9a-f]{16}-[0-9a-f]{16}\\.sock$`));
    expect([(await stat(place)).mode & 0o777, (await stat(mark?.socket ?? '')).mode & 0o777]).toEqual([0o700, 0o600]);
    expect((await bundleCommand(folder, 'import', 'docs-2024-06-01.tar.gz')).json()).toMatchObject({ activated: true });
    await daemon.untilServing('2024-06-01');
    await daemon.kill();
    // Looking for a daemon removes the files of the killed one.
    expect((await bundleCommand(folder, 'list')).code).toBe(0);
    await expect(stat(mark?.socket ?? '')).rejects.toThrow('ENOENT');
    expect(await readdir(join(daemon.dataDir, 'daemons'))).toEqual([]);
  });

  test('is replaced by the socket of the next daemon after the daemon was killed, and commands reach the next daemon', async () => {
    const folder = await home();
    const first = await bench.start({}, { folder });
    await first.kill();
    expect((await readdir(join(first.dataDir, 'daemons'))).filter((name) => name.endsWith('.sock'))).toHaveLength(1);
    const second = await bench.start(null, { folder });
    expect((await bundleCommand(folder, 'import', 'docs-2024-06-01.tar.gz')).json()).toMatchObject({ activated: true });
    await second.untilServing('2024-06-01');
    expect((await marksIn(second.dataDir)).map(({ owner }) => owner.pid)).toEqual([second.pid]);
    expect((await readdir(join(second.dataDir, 'daemons'))).filter((name) => name.endsWith('.sock'))).toHaveLength(1);
  });
});

describe('two daemons that share a folder', () => {
  test('both reload their config on docshelf reload, while bundle commands with --pid reach only one daemon', async () => {
    const folder = await home();
    const [one, other] = [await bench.start({}, { folder }), await bench.start(null, { folder })];
    const before = (await Promise.all([one.status(), other.status()])).map(({ lastReload }) => lastReload?.at);
    const reloaded = await bench.run(['reload', '--json'], { cwd: folder });
    expect({ code: reloaded.code, ok: reloaded.json<{ ok: boolean }[]>().map(({ ok }) => ok) }).toEqual({
      code: 0,
      ok: [true, true],
    });
    for (const [index, daemon] of [one, other].entries()) {
      expect((await daemon.status()).lastReload?.at).not.toBe(before[index]);
    }
    await bundleCommand(folder, 'import', 'docs-2024-06-01.tar.gz', '--no-activate', '--pid', String(one.pid));
    for (const daemon of [one, other]) {
      const { code } = await bundleCommand(folder, 'activate', '2024-06-01', '--pid', String(daemon.pid));
      expect(code).toBe(0);
      await daemon.untilServing('2024-06-01');
    }
    const nobody = await bundleCommand(folder, 'rollback', '--pid', '999999');
    expect([nobody.code, nobody.json().code]).toEqual([69, 'daemon_unreachable']);
    expect(nobody.json().next).toContain(String(one.pid));
  });
});

describe('a docshelf command', () => {
  test('exits with 69 without a change to the data folder if only a daemon on another host uses that folder', async () => {
    const folder = await home();
    await bench.writeConfig(folder, {});
    await mkdir(join(folder, 'data/daemons'), { recursive: true });
    const mark = { owner: { host: `${hostname()}-other`, pid: 1, startTicks: null }, adminUrl: null, sites: [] };
    await writeFile(join(folder, 'data/daemons/0123456789abcdef.json'), JSON.stringify(mark));
    for (const args of [['import', 'docs-2024-06-01.tar.gz'], ['activate', 'v1'], ['rollback'], ['remove', 'v1']]) {
      const { code, json } = await bundleCommand(folder, ...args);
      expect([code, json().code]).toEqual([69, 'daemon_unreachable']);
    }
    expect(await readdir(join(folder, 'data'))).toEqual(['daemons']);
  });

  test('reaches a daemon on another host with --admin-url and the token of a config or the environment', async () => {
    const token = 'a-long-random-token';
    const daemon = await bench.start({ admin: { token } }, { folder: await home() });
    const cwd = await home();
    const importAt = (admin: string, env: Record<string, string> = {}) =>
      bench.run(['bundle', 'import', 'docs-2024-06-01.tar.gz', '--json', '--admin-url', admin], { cwd, env });
    expect(faultOf(await importAt(daemon.admin))).toMatchObject({
      exit: 77,
      next: expect.stringContaining('set DOCSHELF__ADMIN__TOKEN'),
    });
    const imported = await importAt(daemon.admin, { DOCSHELF__ADMIN__TOKEN: token });
    expect(imported.json()).toMatchObject({ activated: true });
    expect((await daemon.untilServing('2024-06-01')).versions[0]?.source).toBe('upload');
    expect(faultOf(await importAt('http://127.0.0.1:1'))).toMatchObject({
      exit: 69,
      next: expect.stringContaining('Check the URL'),
    });
    await bench.writeConfig(cwd, { admin: { token } });
    expect((await importAt(daemon.admin)).code).toBe(0);
    await bench.writeConfig(cwd, { admin: { token: 'another-random-token' } });
    expect(faultOf(await importAt(daemon.admin))).toMatchObject({ exit: 77, code: 'unauthorized' });
    expect(faultOf(await bundleCommand(cwd, 'rollback', '--admin-url', daemon.admin))).toMatchObject({ exit: 77 });
    expect(await readdir(cwd)).not.toContain('data');
  });

  test('rejects a signature in place of an archive, and a file name with control characters, with and without a daemon', async () => {
    const folder = await home();
    await bench.writeConfig(folder, {});
    const names = { 'docs.zip.minisig': 'unknown_format', 'docs\u202egz.zip': 'name_control' };
    for (const name of Object.keys(names)) await writeFile(join(folder, name), 'untrusted comment: x');
    const codes = async () => {
      const found: Record<string, unknown> = {};
      for (const name of Object.keys(names)) {
        const { code, ...result } = await bundleCommand(folder, 'import', name);
        found[name] = result.json().code;
        expect(code).toBe(65);
        expect(result.stdout + result.stderr).not.toContain('\u202e');
      }
      return found;
    };
    expect(await codes()).toEqual(names);
    await bench.start(null, { folder });
    expect(await codes()).toEqual(names);
  });
});

/** Starts a daemon that serves July and stores June, and restores a backup of its folder. */
async function copied(cpOptions: string, from?: string): Promise<{ daemon: DaemonProcess; copy: string }> {
  const folder = from ?? (await home());
  const daemon = await bench.start({}, { folder });
  for (const date of ['2024-06-01', '2024-07-01']) {
    expect((await bundleCommand(folder, 'import', `docs-${date}.tar.gz`)).code).toBe(0);
  }
  await daemon.untilServing('2024-07-01');
  const copy = join(await bench.folder(), 'restored');
  await runProgram('cp', [cpOptions, folder, copy]);
  return { daemon, copy };
}

const versionsIn = async (folder: string): Promise<{ active: string | undefined; versions: string[] }> => {
  const { active, versions } = (await bundleCommand(folder, 'list')).json<{
    active: { version: string } | null;
    versions: { version: string }[];
  }>();
  return { active: active?.version, versions: versions.map(({ version }) => version).sort() };
};

describe('a copy of the data folder of a running daemon', () => {
  test.each(['-a', '-al'])(
    'is changed by commands without effect on the versions of the daemon (cp %s)',
    async (cpOptions) => {
      const { daemon, copy } = await copied(cpOptions);
      const before = await daemon.status();
      const untouched = { active: '2024-07-01', versions: ['2024-06-01', '2024-07-01'] };
      for (const [args, after] of [
        [['rollback'], { ...untouched, active: '2024-06-01' }],
        [['activate', '2024-07-01'], untouched],
        [['remove', '2024-06-01'], { active: '2024-07-01', versions: ['2024-07-01'] }],
        [['import', 'docs-2024-06-01.tar.gz', '--version', 'v9'], { active: 'v9', versions: ['2024-07-01', 'v9'] }],
      ] as const) {
        const done = await bundleCommand(copy, ...args);
        expect([args[0], done.code]).toEqual([args[0], 0]);
        expect(await versionsIn(daemon.folder)).toEqual(untouched);
        expect(await versionsIn(copy)).toEqual(after);
        expect(done.json()).toMatchObject({ folder: join(copy, 'data'), daemon: null });
        expect(done.stderr).toBe('');
      }
      expect((await bench.run(['reload', '--json'], { cwd: copy })).json().code).toBe('daemon_unreachable');
      expect((await daemon.status()).lastReload).toEqual(before.lastReload);
      expect(await marksIn(join(copy, 'data'))).toEqual([]);
    },
  );

  test('does not connect commands to the daemon, even if the socket of the daemon is in the folder for temporary files', async () => {
    const folder = join(await bench.folder(), 'a-folder-with-a-long-name-'.repeat(4));
    await mkdir(folder);
    await folderOf(folder, { 'docs-2024-06-01.tar.gz': JUNE, 'docs-2024-07-01.tar.gz': JULY });
    const { daemon, copy } = await copied('-a', folder);
    expect((await bundleCommand(copy, 'remove', '2024-06-01')).code).toBe(0);
    expect((await daemon.status()).versions.map(({ version }) => version)).toContain('2024-06-01');
    expect((await stat((await marksIn(daemon.dataDir))[0]?.socket ?? '')).isSocket()).toBe(true);
  });

  test('does not cause commands on the copy to delete the socket of the running daemon', async () => {
    const { daemon, copy } = await copied('-a');
    const [name = ''] = (await readdir(join(copy, 'data/daemons'))).filter((each) => each.endsWith('.json'));
    const file = join(copy, 'data/daemons', name);
    const mark = JSON.parse(await readFile(file, 'utf8')) as Mark;
    await writeFile(file, JSON.stringify({ ...mark, owner: { ...mark.owner, pid: 2 ** 22 + 1 } }));
    expect((await bundleCommand(copy, 'list')).code).toBe(0);
    expect((await stat(mark.socket)).isSocket()).toBe(true);
    expect((await bundleCommand(daemon.folder, 'rollback')).code).toBe(0);
    await daemon.untilServing('2024-06-01');
  });
});

describe('a data folder whose path changes after its daemon has started', () => {
  test('can be used by commands through a symbolic link', async () => {
    const { daemon } = await copied('-a');
    const elsewhere = await bench.folder();
    await symlink(daemon.dataDir, join(elsewhere, 'linked'));
    await bench.writeConfig(elsewhere, { storage: { dir: './linked' } });
    const done = await bench.run(['bundle', 'rollback'], { cwd: elsewhere });
    expect({ code: done.code, stdout: done.stdout }).toEqual({
      code: 0,
      stdout: expect.stringContaining(`Using the daemon ${daemon.pid} on "${join(elsewhere, 'linked')}".`),
    });
    await daemon.untilServing('2024-06-01');
  });

  test('makes commands fail with daemon_unreachable after it was moved, also in a copy at the old path', async () => {
    const { daemon } = await copied('-a');
    const [old, other] = [join(daemon.folder, 'old'), await bench.folder()];
    await rename(daemon.dataDir, old);
    await runProgram('cp', ['-a', old, daemon.dataDir]);
    await bench.writeConfig(other, { storage: { dir: old } });
    for (const cwd of [other, daemon.folder]) {
      for (const args of [['remove', '2024-06-01'], ['rollback']]) {
        expect(codesOf(await bundleCommand(cwd, ...args))).toEqual([69, 'daemon_unreachable']);
      }
    }
    for (const dir of [old, daemon.dataDir]) {
      expect((await readdir(join(dir, 'sites/docs/versions'))).sort()).toEqual(['2024-06-01', '2024-07-01']);
    }
    await daemon.stop();
    await rm(old, { recursive: true });
  });
});

/** Process namespaces need privileges that a test runner may lack. */
const canUnshare = await runProgram('unshare', ['--pid', '--fork', '--mount-proc', 'true']).then(
  () => true,
  () => false,
);

test.skipIf(!canUnshare)('a command in another container with the same host name reaches the daemon', async () => {
  const { daemon } = await copied('-a');
  const command = [process.execPath, PROGRAM, 'bundle', 'rollback', '--json'];
  const options = ['--pid', '--fork', '--mount-proc', ...command];
  const { stdout } = await runProgram('unshare', options, { cwd: daemon.folder });
  expect(JSON.parse(stdout)).toMatchObject({ version: '2024-06-01' });
  await daemon.untilServing('2024-06-01');
  expect((await marksIn(daemon.dataDir)).map(({ owner }) => owner.pid)).toEqual([daemon.pid]);
});
