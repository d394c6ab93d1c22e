import { expect, it } from 'vitest';
import { readVolume, volumeNotices } from '../../src/app/daemon.ts';
import { load } from '../config/folder.ts';

const [FULL, ROOMY] = [
  { freeBytes: 9 * 1024 ** 2, sizeBytes: 100 * 1024 ** 2 },
  { freeBytes: 10 * 1024 ** 2, sizeBytes: 100 * 1024 ** 2 },
];

it('a notice warns before a volume is full, and names the setting that frees space', async () => {
  const [plain, exporting] = [await load(''), await load('exportApi: { enabled: true }')];
  expect(volumeNotices(ROOMY, exporting.config)).toEqual([]);
  expect(volumeNotices(null, exporting.config)).toEqual([]);
  expect(volumeNotices(FULL, exporting.config)).toEqual([
    expect.stringMatching(/has 9 MiB free of 100 MiB\..*exportApi\.retention/),
  ]);
  expect(volumeNotices(FULL, plain.config)).toEqual([expect.stringContaining('staticExport.keep')]);
});

it('readVolume() returns the size and free space of a volume, or null for a missing path', async () => {
  const volume = await readVolume(import.meta.dirname);
  expect(volume?.sizeBytes).toBeGreaterThan(volume?.freeBytes ?? Number.NaN);
  expect(await readVolume('/nowhere/at/all')).toBeNull();
});
