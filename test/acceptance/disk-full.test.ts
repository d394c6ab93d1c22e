import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { rawTar } from '../helpers/archives.ts';
import { codesOf, type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { bundle, largeBundle } from './bundles.ts';
import { startOrigin } from './origin.ts';
import { skipped, smallVolume, whySkipped } from './small-volume.ts';

const bench = openBench(afterEach);
const VOLUME_BYTES = 8 * 1024 ** 2;
/** Archive that fits on the volume only once, either packed or unpacked. */
const TOO_LARGE_TWICE_BYTES = 5 * 1024 ** 2;

async function leftIn(daemon: DaemonProcess, folder: string): Promise<string[]> {
  return (await readdir(join(daemon.dataDir, folder))).filter((name) => name !== 'lock');
}

/** @param spoolBefore files that the fetch of June left in the spool for other daemons on the folder */
async function expectJuneServedAndNothingLeft(daemon: DaemonProcess, spoolBefore: readonly string[]): Promise<void> {
  expect(await (await fetch(`${daemon.site}/`)).text()).toContain('june');
  expect(await daemon.status()).toMatchObject({
    active: { version: '2024-06-01' },
    versions: [{ version: '2024-06-01' }],
  });
  expect(await leftIn(daemon, 'staging')).toEqual([]);
  expect(await leftIn(daemon, 'spool')).toEqual(spoolBefore);
  expect(await leftIn(daemon, 'releases')).toHaveLength(1);
}

describe.skipIf(skipped)(`docshelf on a full disk${whySkipped}`, () => {
  test('rejects an archive before it writes any file if the unpacked files need more than the free space', async () => {
    const { origin } = await startOrigin({
      '/docs-2024-06-01.tar.gz': bundle('june'),
      '/docs-2024-07-01.tar': largeBundle('july', TOO_LARGE_TWICE_BYTES),
    });
    const folder = await smallVolume(bench, VOLUME_BYTES);
    const config = { staticExport: { bundleUrl: `${origin}/docs-2024-06-01.tar.gz` }, network: { retries: 0 } };
    const daemon = await bench.start(config, { folder });
    await daemon.untilServing('2024-06-01');
    const spool = await leftIn(daemon, 'spool');
    await daemon.rewriteConfig({ staticExport: { bundleUrl: `${origin}/docs-2024-07-01.tar` } });
    const { message, next } = await daemon.untilError('not_enough_space');
    expect(message).toMatch(/\d MiB/);
    expect(next).toContain('storage.dir');
    await expectJuneServedAndNothingLeft(daemon, spool);

    // The daemon must notice by itself that the volume is larger.
    execFileSync('mount', ['-o', `remount,size=${8 * VOLUME_BYTES}`, join(folder, 'data')]);
    await daemon.untilServing('2024-07-01');
  });

  test('imports an archive that needs more than the free space if most of its files can be linked to files of the previous version', async () => {
    const folder = await smallVolume(bench, VOLUME_BYTES);
    const bytes = createHash('shake256', { outputLength: 3 * 1024 ** 2 })
      .update('same')
      .digest();
    const parts = [0, 1, 2, 3, 4, 5].map((n) => ({
      name: `${n}.bin`,
      body: bytes.subarray(n * 2 ** 19, (n + 1) * 2 ** 19),
    }));
    const outside = await bench.folder();
    const daemon = await bench.start({ search: { enabled: false } }, { folder });
    for (const version of ['1', '2']) {
      const archive = join(outside, `docs-${version}.tar`);
      await writeFile(archive, rawTar([{ name: 'index.html', body: `<title>${version}</title>` }, ...parts]));
      const result = await bench.run(['bundle', 'import', archive, '--version', version, '--json'], { cwd: folder });
      expect(result.json()).toMatchObject({ version });
    }
    await daemon.untilServing('2');
  });

  test('exits with 73 for bundle import, while the daemon keeps serving', async () => {
    const folder = await smallVolume(bench, VOLUME_BYTES);
    const archive = join(await bench.folder(), 'docs-2024-07-01.tar');
    const june = join(await bench.folder(), 'docs-2024-06-01.tar.gz');
    await writeFile(archive, largeBundle('july', TOO_LARGE_TWICE_BYTES));
    await writeFile(june, bundle('june'));
    const daemon = await bench.start({}, { folder });
    await bench.run(['bundle', 'import', june], { cwd: folder });
    await daemon.untilServing('2024-06-01');
    expect(codesOf(await bench.run(['bundle', 'import', archive, '--json'], { cwd: folder }))).toEqual([
      73,
      'not_enough_space',
    ]);
    await expectJuneServedAndNothingLeft(daemon, []);
  });
});
