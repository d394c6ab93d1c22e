import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { openBench } from '../helpers/daemon.ts';
import { bundle, bundleWithManifest, folderOf } from './bundles.ts';

const bench = openBench(afterEach);

test('the preload folder is imported at the start, and the archive with the newest creation time is served', async () => {
  const folder = await bench.folder();
  await folderOf(join(folder, 'bundles'), {
    'a-2024-06-01.tar.gz': bundleWithManifest('june', { version: 'v2', createdAt: '2025-01-01T00:00:00.000Z' }),
    'b-2024-08-01.tar.gz': bundle('august'),
    'c-2024-07-01.tar.gz': bundle('july'),
  });
  const daemon = await bench.start({ staticExport: { keep: 9 } }, { folder });
  const { versions } = await daemon.untilServing('v2');
  expect(versions.map(({ version, source }) => [version, source])).toEqual([
    ['v2', 'preload'],
    ['2024-08-01', 'preload'],
    ['2024-07-01', 'preload'],
  ]);
});

test('an archive in the inbox is imported, served and deleted', async () => {
  const daemon = await bench.start({});
  await daemon.untilError('no_version');
  const inbox = join(daemon.dataDir, 'inbox');
  await writeFile(join(inbox, 'acme-export-2024-06-01.tar.gz'), bundle('june'));
  expect(await daemon.untilServing('2024-06-01')).toMatchObject({
    lastError: null,
    versions: [{ version: '2024-06-01', source: 'inbox' }],
  });
  // The daemon serves an archive a moment before it deletes it.
  await expect.poll(async () => (await readdir(inbox)).filter((name) => !name.startsWith('.'))).toEqual([]);
  expect(await (await fetch(`${daemon.site}/`)).text()).toContain('june');
});
