import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from 'vitest';
import { type ConfigFile, openBench } from '../helpers/daemon.ts';
import { spawnProgram } from '../helpers/program.ts';
import { bundle, folderOf, sha256Of } from './bundles.ts';

const bench = openBench(afterEach);
const JUNE = bundle('june');
const JULY = bundle('july');

interface SlowImport {
  /** Sends the rest of the archive, and waits until the command ends. */
  finish(): Promise<{ readonly code: number | null; readonly output: string }>;
}

/** Starts `bundle import -`. It has found no daemon, and waits in the middle of its archive. */
async function importSlowly(folder: string, archive: Buffer, version: string): Promise<SlowImport> {
  const configFile = join(folder, 'config.yaml');
  const child = spawnProgram(
    ['bundle', 'import', '-', '--version', version, '--config', configFile, '--json'],
    folder,
    {},
  );
  bench.onEnd(() => child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  child.stdin?.write(archive.subarray(0, 64));
  // The command writes the archive to the data folder now.
  await expect.poll(() => readdir(join(folder, 'data/staging')).catch(() => [])).not.toEqual([]);
  return {
    finish: async () => {
      child.stdin?.end(archive.subarray(64));
      return { code: await ended, output };
    },
  };
}

async function home(config: ConfigFile = {}): Promise<string> {
  const folder = await bench.folder();
  await bench.writeConfig(folder, { deployment: { type: 'air-gapped', domain: 'acme' }, ...config });
  return folder;
}

describe('an archive that is imported while the daemon starts', () => {
  test('is served if the import command began before the daemon started', async () => {
    const folder = await home();
    const slow = await importSlowly(folder, JUNE, 'v1.0.0');
    const daemon = await bench.start(null, { folder });
    await daemon.until(({ lastError }) => lastError?.code === 'no_version');
    const { code, output } = await slow.finish();
    expect({ code, result: JSON.parse(output) }).toMatchObject({
      code: 0,
      result: { version: 'v1.0.0', digest: sha256Of(JUNE), activated: true },
    });
    const { lastError } = await daemon.untilServing('v1.0.0');
    expect(lastError).toBeNull();
    expect(await (await fetch(`${daemon.site}/`)).text()).toContain('june');
  });

  test('replaces the version that the start activated, and a rollback restores that version', async () => {
    const folder = await home();
    await folderOf(join(folder, 'bundles'), { 'acme-export-2024-06-01.tar.gz': JUNE });
    const slow = await importSlowly(folder, JULY, '2024-07-01');
    const daemon = await bench.start(null, { folder });
    await daemon.untilServing('2024-06-01');
    expect((await slow.finish()).code).toBe(0);
    await daemon.untilServing('2024-07-01');
    expect((await bench.run(['bundle', 'rollback'], { cwd: folder })).code).toBe(0);
    await daemon.untilServing('2024-06-01');
  });

  test('is served by a daemon that waits for this archive as its pinned version', async () => {
    const folder = await home({ staticExport: { enabled: true, version: 'v1.0.0' } });
    const slow = await importSlowly(folder, JUNE, 'v1.0.0');
    const daemon = await bench.start(null, { folder });
    await daemon.untilError('version_not_found');
    const { code, output } = await slow.finish();
    expect({ code, result: JSON.parse(output) }).toMatchObject({ code: 0, result: { activated: true } });
    await daemon.untilServing('v1.0.0');
  });

  // Delays from before the program reads its config until after it listens.
  test.each([0, 250, 600])('is served if the import begins %d ms after the daemon starts', async (delayMs) => {
    const folder = await home({ admin: { port: 0, token: 'a-long-random-token' } });
    const starting = bench.start(null, { folder });
    await sleep(delayMs);
    const imported = await bench.run(['bundle', 'import', '-', '--version', 'v1.0.0', '--json'], {
      cwd: folder,
      input: JUNE,
    });
    expect({ code: imported.code, ...imported.json() }).toMatchObject({ code: 0, activated: true });
    await (await starting).untilServing('v1.0.0');
  });
});
