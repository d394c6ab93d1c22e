import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { DaemonProcess, openBench, waitFor } from '../helpers/daemon.ts';
import { bundle, folderOf } from './bundles.ts';

const bench = openBench(afterEach);
const [JUNE, JULY] = [bundle('june'), bundle('july')];

interface Mark {
  readonly owner: { readonly pid: number };
  readonly socket: string;
}

/** The marks of the daemons on a data folder. */
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
  test('is in the data folder for its owner alone, named in the mark, and gone with the daemon', async () => {
    const daemon = await bench.start({}, { folder: await home() });
    const [mark] = await marksIn(daemon.dataDir);
    expect(mark?.socket).toMatch(new RegExp(`^${daemon.dataDir}/daemons/[0-9a-f]{16}\\.sock$`));
    expect((await stat(mark?.socket ?? '')).mode & 0o777).toBe(0o600);
    await daemon.stop();
    expect(await readdir(join(daemon.dataDir, 'daemons'))).toEqual([]);
  });

  test('is gone, too, where the daemon is told to stop the moment it is there', async () => {
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

  test('lies among the temporary files where its path would be over 100 bytes', async () => {
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
    // Looking for a daemon clears what the killed one left.
    expect((await bundleCommand(folder, 'list')).code).toBe(0);
    await expect(stat(mark?.socket ?? '')).rejects.toThrow('ENOENT');
    expect(await readdir(join(daemon.dataDir, 'daemons'))).toEqual([]);
  });

  test('of a killed daemon is cleared, and commands speak to the one that follows', async () => {
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
  async function two(): Promise<[string, DaemonProcess, DaemonProcess]> {
    const folder = await home();
    const one = await bench.start({}, { folder });
    return [folder, one, await bench.start(null, { folder })];
  }

  test('are both told to reload, and of others the one that --pid names', async () => {
    const [folder, one, other] = await two();
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

describe('a command', () => {
  test('ends with 69 where only a daemon of another host is alive on the folder, and changes nothing', async () => {
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

  test('reaches a daemon elsewhere by --admin-url and the token', async () => {
    const daemon = await bench.start({ admin: { token: 'a-long-random-token' } }, { folder: await home() });
    const elsewhere = await home();
    await bench.writeConfig(elsewhere, { admin: { token: 'a-long-random-token' } });
    const args = ['import', 'docs-2024-06-01.tar.gz', '--admin-url', daemon.admin];
    expect((await bundleCommand(elsewhere, ...args)).json()).toMatchObject({ activated: true });
    expect((await daemon.untilServing('2024-06-01')).versions[0]?.source).toBe('upload');
    await bench.writeConfig(elsewhere, { admin: { token: 'another-random-token' } });
    const refused = await bundleCommand(elsewhere, 'rollback', '--admin-url', daemon.admin);
    expect([refused.code, refused.json().code]).toEqual([77, 'unauthorized']);
    const unread = await bundleCommand(elsewhere, ...args);
    expect([unread.code, unread.json().code]).toEqual([77, 'unauthorized']);
  });

  test('refuses a signature and a name that cannot be shown, with a daemon and without one', async () => {
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

  test('is refused by the daemon in its own words, before and after the archive is sent', async () => {
    const daemon = await bench.start({}, { folder: await home() });
    await writeFile(join(daemon.folder, 'page.tar.gz'), '<html>'.repeat(100_000));
    const page = await bundleCommand(daemon.folder, 'import', 'page.tar.gz');
    expect([page.code, page.json().code]).toEqual([65, 'unknown_format']);
    const missing = await bundleCommand(daemon.folder, 'activate', 'v9');
    expect([missing.code, missing.json().code]).toEqual([69, 'version_not_found']);
  });
});
