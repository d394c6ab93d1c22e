import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { openBench } from '../helpers/daemon.ts';
import { writeFiles } from '../helpers/write-files.ts';
import { SITE, startExporter } from './export-service.ts';
import { skipped, smallVolume, whySkipped } from './small-volume.ts';

const bench = openBench(afterEach);
const VOLUME_BYTES = 8 * 1024 ** 2;

describe.skipIf(skipped)(`an export on a full disk${whySkipped}`, () => {
  test('fails with a message, leaves no partial file, and does not prevent a later export that fits', async () => {
    const folder = await smallVolume(bench, VOLUME_BYTES);
    const large = Object.fromEntries(
      Array.from({ length: 12 }, (_, n) => [`large-${n}.bin`, randomBytes(VOLUME_BYTES / 8)]),
    );
    const service = await startExporter(bench, {}, { folder, site: { ...SITE, ...large } });
    const job = await service.ended((await service.start()).jobId);
    expect(job).toMatchObject({ status: 'failed', error: expect.stringMatching(/^Cannot write .*full.*storage\.dir/) });
    const exports = join(service.daemon.dataDir, 'exports');
    expect(await readdir(join(exports, 'work'))).toEqual([]);
    expect(await readdir(join(exports, 'bundles'))).toEqual([]);
    expect(await readdir(join(exports, 'files/incoming')).catch(() => [])).toEqual([]);

    for (const name of Object.keys(large)) await rm(join(folder, 'site', name));
    execFileSync('mount', ['-o', `remount,size=${2 * VOLUME_BYTES}`, service.daemon.dataDir]);
    await writeFiles(join(folder, 'site'), { 'index.html': '<!doctype html><title>Small</title>' });
    expect((await service.export()).pageCount).toBe(2);
  });
});
