import { execFileSync } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { repackBundle } from '../../../src/export/jobs/ended-jobs.ts';
import type { RunJobOptions } from '../../../src/export/jobs/run-job.ts';
import { JobBench } from './job-bench.ts';

describe('repackBundle() (archive of an earlier export job)', () => {
  let bench: JobBench;

  beforeEach(async () => {
    bench = await JobBench.open();
    await bench.exported('one');
  });
  afterEach(() => bench.close());

  async function repack(changes: Partial<RunJobOptions> = {}, signal = new AbortController().signal): Promise<void> {
    await repackBundle(await bench.get('one'), bench.options(changes), signal);
  }
  const archive = async (): Promise<string> => {
    const { bundle } = await bench.get('one');
    return join(bench.folder.bundles, `${bundle?.sha256}.tar.gz`);
  };

  it('packs the same bytes as the original bundle, and leaves no work folder', async () => {
    const file = await archive();
    const before = await readFile(file);
    await rm(file);
    await repack();
    expect((await readFile(file)).equals(before)).toBe(true);
    expect(await readdir(bench.folder.work)).toEqual([]);
  });

  it('can run twice at the same time, as in two processes', async () => {
    const file = await archive();
    await rm(file);
    await Promise.all([repack(), repack()]);
    expect(execFileSync('sha256sum', [file]).toString()).toContain((await bench.get('one')).bundle?.sha256);
  });

  it.each<[what: string, damage: (bench: JobBench) => Promise<unknown>]>([
    ['the manifest is missing', ({ folder }) => rm(folder.manifests, { recursive: true })],
    ['a file is missing', ({ folder }) => rm(folder.files, { recursive: true })],
    [
      'a file has other bytes',
      async ({ folder }) => {
        for (const entry of await readdir(folder.files, { recursive: true, withFileTypes: true })) {
          if (entry.isFile()) await writeFile(join(entry.parentPath, entry.name), 'other').catch(() => undefined);
        }
      },
    ],
  ])('rejects with bundle_gone if %s', async (_, damage) => {
    await rm(await archive());
    await damage(bench);
    await expect(repack()).rejects.toMatchObject({ code: 'bundle_gone' });
    expect(await readdir(bench.folder.bundles)).toEqual([]);
    expect(await readdir(bench.folder.work)).toEqual([]);
  });

  it('does not reject with bundle_gone if the failure is temporary', async () => {
    await rm(await archive());
    await expect(repack({ jobEntry: new URL('data:text/javascript,process.exit(3)') })).rejects.not.toMatchObject({
      code: 'bundle_gone',
    });
    const aborted = AbortSignal.abort(new Error('stopping'));
    await expect(repack({}, aborted)).rejects.toThrow('stopping');
    expect(await readdir(bench.folder.work)).toEqual([]);
  });
});
