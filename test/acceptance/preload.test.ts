import { utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type DaemonProcess, openBench } from '../helpers/daemon.ts';
import { bundle, bundleWithManifest, folderOf } from './bundles.ts';

const bench = openBench(afterEach);
const ARCHIVES = {
  'docs-2024-06-01.tar.gz': bundle('june'),
  'docs-2024-08-01.tar.gz': bundle('august'),
  'docs-2024-07-01.tar.gz': bundle('july'),
};

async function start(
  archives: Readonly<Record<string, Uint8Array>>,
  staticExport: object = {},
): Promise<DaemonProcess> {
  const folder = await bench.folder();
  await folderOf(join(folder, 'bundles'), archives);
  return bench.start({ staticExport: { keep: 9, ...staticExport } }, { folder });
}

const imports = (daemon: DaemonProcess): unknown[] =>
  daemon
    .lines()
    .filter(({ event }) => event === 'taken-in')
    .map(({ version }) => version);

describe('the preload folder', () => {
  test('is imported at the start, and its newest archive is served whatever the order of the names', async () => {
    const daemon = await start(ARCHIVES);
    const { versions } = await daemon.untilServing('2024-08-01');
    expect(versions.map(({ version, source }) => [version, source])).toEqual([
      ['2024-08-01', 'preload'],
      ['2024-07-01', 'preload'],
      ['2024-06-01', 'preload'],
    ]);
  });

  test('is imported, and its pinned version is served even if a newer archive exists', async () => {
    const daemon = await start(ARCHIVES, { version: '2024-06-01' });
    await daemon.untilServing('2024-06-01');
    expect(await (await fetch(`${daemon.site}/`)).text()).toContain('june');
  });

  test('is ordered by the creation time in each manifest, or by the date in the file name if there is no manifest', async () => {
    const daemon = await start({
      'a-2024-06-01.tar.gz': bundleWithManifest('june', { version: 'v2', createdAt: '2025-01-01T00:00:00.000Z' }),
      'b-2024-08-01.tar.gz': bundle('august'),
    });
    await daemon.untilServing('v2');
  });

  test('is imported again at the next start, and an added archive becomes active only if it is newer than the active version', async () => {
    const first = await start({ 'docs-2024-07-01.tar.gz': ARCHIVES['docs-2024-07-01.tar.gz'] });
    await first.untilServing('2024-07-01');
    await first.stop();
    await writeFile(join(first.folder, 'bundles/docs-2024-06-01.tar.gz'), ARCHIVES['docs-2024-06-01.tar.gz']);
    const second = await bench.start(null, { folder: first.folder });
    await second.untilServing('2024-07-01');
    await second.until(({ versions }) => versions.length === 2);
    await second.stop();
    await writeFile(join(first.folder, 'bundles/docs-2024-08-01.tar.gz'), ARCHIVES['docs-2024-08-01.tar.gz']);
    const third = await bench.start(null, { folder: first.folder });
    await third.untilServing('2024-08-01');
  });

  test('is not hashed again if size, modification time and inode of its archives are unchanged', async () => {
    const first = await start({ 'docs-2024-06-01.tar.gz': bundle('june') });
    await first.untilServing('2024-06-01');
    await first.stop();
    const file = join(first.folder, 'bundles/docs-2024-06-01.tar.gz');
    const aDay = new Date('2024-06-01T00:00:00.000Z');
    await utimes(file, aDay, aDay);
    const second = await bench.start(null, { folder: first.folder });
    await second.untilServing('2024-06-01');
    expect(imports(second)).toEqual([]);
    await second.stop();

    // Replace the archives by invalid bytes of the same size: reading them would fail.
    await writeFile(file, Buffer.alloc(bundle('june').length), { flag: 'r+' });
    await utimes(file, aDay, aDay);
    const third = await bench.start(null, { folder: first.folder });
    expect(await third.untilServing('2024-06-01')).toMatchObject({ lastError: null });
    await third.stop();

    await utimes(file, aDay, new Date('2024-06-02T00:00:00.000Z'));
    const fourth = await bench.start(null, { folder: first.folder });
    await fourth.untilError('unknown_format');
    expect(await fourth.status()).toMatchObject({ active: { version: '2024-06-01' } });
  });

  test('is imported without its invalid archives, which are reported', async () => {
    const daemon = await start({
      'a.tar.gz': Buffer.from('<html>'),
      'b-2024-06-01.tar.gz': bundle('june'),
      'c.zip': bundle('cut').subarray(0, 60),
      'd.part': Buffer.from('unfinished'),
    });
    await daemon.untilServing('2024-06-01');
    const { lastError } = await daemon.until((status) => status.lastError !== null);
    expect(lastError?.code).toBe('truncated');
    expect(daemon.lines().filter(({ event }) => event === 'failed')).toHaveLength(2);
  });

  test('causes the exit code 78 at the start if it is missing, except for the default folder', async () => {
    const folder = await bench.folder();
    await bench.writeConfig(folder, { staticExport: { preload: './nowhere' } });
    const result = await bench.run(['serve', '--json'], { cwd: folder });
    expect(result.code).toBe(78);
    expect(result.json()).toMatchObject({ faults: [{ key: 'staticExport.preload' }] });
    const daemon = await bench.start({});
    await daemon.untilError('no_version');
  });
});
