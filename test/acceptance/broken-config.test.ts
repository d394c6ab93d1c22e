import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type CommandResult, codesOf, type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { bundle, folderOf } from './bundles.ts';
import { siteEntry, startWithVersions } from './start.ts';

const bench = openBench(afterEach);

const run = (daemon: DaemonProcess, ...args: string[]): Promise<CommandResult> =>
  bench.run([...args, '--json'], { cwd: daemon.folder });

const BREAKS: Readonly<Record<string, (text: string) => string | null>> = {
  'an unclosed bracket at its end': (text) => `${text}features: [\n`,
  'an unclosed bracket at its start': (text) => `features: [\n${text}`,
  'a tab before a key': (text) => text.replace('\nstorage:', '\n\tfeatures: on\nstorage:'),
  'an unknown key': (text) => `${text}servr: {}\n`,
  'the name of a missing file': (text) => `${text}database: { urlFile: ./missing }\n`,
  'text that is not YAML': () => '<!doctype html>\n<title>Not found</title>\n',
  'an empty file': () => '',
  'a deleted file': () => null,
};

async function breakConfig(daemon: DaemonProcess, how: (text: string) => string | null): Promise<string> {
  const before = await daemon.status();
  const sound = await readFile(daemon.configFile, 'utf8');
  const text = how(sound);
  if (text === null) await rm(daemon.configFile);
  else await daemon.replaceConfig(text);
  await daemon.until(({ lastReload }) => lastReload !== null && lastReload.at !== before.lastReload?.at);
  return sound;
}

describe('a config that becomes invalid while the daemon runs', () => {
  const ofAll = openBench(afterAll);
  /** Serves July and stores June, in a folder that is not the default. Each test restores the config. */
  let daemon: DaemonProcess;
  beforeAll(async () => {
    const versions = { '2024-06-01': bundle('june'), '2024-07-01': bundle('july') };
    ({ daemon } = await startWithVersions(ofAll, versions, { storage: { dir: './shelf' } }));
    await folderOf(daemon.folder, { 'docs-2024-08-01.tar.gz': bundle('august') });
  });

  test.each(Object.entries(BREAKS))(
    'does not prevent bundle rollback through the daemon, but causes a warning: %s',
    async (_, how) => {
      const sound = await breakConfig(daemon, how);
      const back = await run(daemon, 'bundle', 'rollback');
      expect({ code: back.code, stdout: back.json(), stderr: back.stderr }).toEqual({
        code: 0,
        stdout: expect.objectContaining({ version: '2024-06-01' }),
        stderr: expect.stringMatching(/warning: .*config\.yaml[\s\S]*last good config of the daemon/),
      });
      await daemon.untilServing('2024-06-01');
      await daemon.replaceConfig(sound);
      await daemon.until(({ lastReload }) => lastReload?.ok === true);
      const forward = await run(daemon, 'bundle', 'activate', '2024-07-01');
      expect([forward.code, forward.stderr]).toEqual([0, expect.not.stringContaining('warning')]);
    },
  );

  test('does not affect commands that the running daemon executes, but makes commands about the config exit with 78', async () => {
    const sound = await breakConfig(daemon, (text) => `features: [\n${text}`);
    for (const args of [
      ['bundle', 'list'],
      ['bundle', 'import', 'docs-2024-08-01.tar.gz', '--no-activate'],
      ['bundle', 'preview', '2024-08-01'],
      ['bundle', 'activate', '2024-06-01'],
      ['bundle', 'remove', '2024-08-01'],
      ['bundle', 'inspect', '2024-07-01'],
      ['bundle', 'verify', '2024-07-01'],
      ['bundle', 'diff', '2024-06-01', '2024-07-01'],
      ['sites'],
      ['features'],
      ['healthcheck'],
    ]) {
      const { code, json, stderr } = await run(daemon, ...args);
      expect([args, code, stderr]).toEqual([args, 0, expect.stringContaining('last good config')]);
      expect(json()).toBeTypeOf('object');
    }
    for (const args of [['config', 'check'], ['config', 'print'], ['reload'], ['doctor']]) {
      expect([args, (await run(daemon, ...args)).code]).toEqual([args, 78]);
    }
    await daemon.stop();
    for (const args of [['bundle', 'rollback'], ['bundle', 'list'], ['healthcheck']]) {
      const { code, json } = await run(daemon, ...args);
      expect([args, code, json().code]).toEqual([args, 78, 'config_invalid']);
    }
    await daemon.replaceConfig(sound);
    daemon = await ofAll.start(null, { folder: daemon.folder });
  });

  test('does not prevent commands for one of several sites if the config file becomes empty', async () => {
    const config = { storage: { dir: './shelf' }, staticExport: null, sites: [siteEntry('acme'), siteEntry('beta')] };
    const { daemon: ofSites, importBundle } = await startWithVersions(bench, {}, config);
    for (const version of ['2024-06-01', '2024-07-01']) await importBundle(version, bundle(version), '--site', 'beta');
    await breakConfig(ofSites, () => '# lost\n');
    const back = await run(ofSites, 'bundle', 'rollback', '--site', 'beta');
    expect([back.code, back.json()]).toEqual([0, expect.objectContaining({ version: '2024-06-01' })]);
    expect((await run(ofSites, 'bundle', 'rollback', '--site', 'gamma')).json().code).toBe('not_found');
    const { code, json } = await run(ofSites, 'reload');
    expect([code, json().code]).toEqual([78, 'config_invalid']);
    const checked = await run(ofSites, 'config', 'check');
    expect(checked.json().warnings).toEqual([expect.stringContaining('no settings')]);
  });

  test('makes a command exit with 78 if --config names an invalid config, even while the daemon runs with a valid config', async () => {
    const { active } = await daemon.untilServing('2024-06-01');
    await writeFile(join(daemon.folder, 'other.yaml'), 'storage: { dir: ./shelf }\nservr: {}\n');
    expect(codesOf(await run(daemon, 'bundle', 'rollback', '--config', 'other.yaml'))).toEqual([78, 'config_invalid']);
    expect((await daemon.status()).active).toEqual(active);
  });
});
