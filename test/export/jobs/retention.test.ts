import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readPicture } from '../../../src/export/exports-folder.ts';
import { applyRetention, repackBundle } from '../../../src/export/jobs/ended-jobs.ts';
import { JobBench } from './job-bench.ts';

const DAY_MS = 24 * 3_600_000;

describe('applyRetention()', () => {
  let bench: JobBench;

  beforeEach(async () => {
    bench = await JobBench.open();
  });
  afterEach(() => bench.close());

  const apply = () =>
    applyRetention(
      { ...bench.options(), signal: new AbortController().signal },
      { beforeMs: bench.clocks.wallMs() - DAY_MS },
    );
  const change = (text: string) => bench.write({ 'index.html': `<!doctype html><title>${text}</title>` });

  /** Makes files look unused for a number of days. */
  async function age(folder: 'files' | 'manifests', days: number): Promise<void> {
    const at = new Date(Date.now() - days * DAY_MS);
    for (const entry of await readdir(bench.folder[folder], { recursive: true, withFileTypes: true })) {
      if (entry.isFile()) await utimes(join(entry.parentPath, entry.name), at, at);
    }
  }

  it('removes old jobs, and the bundles and files that only these jobs use', async () => {
    const old = await bench.exported('old', 'acme');
    await change('next');
    bench.clocks.wait(1_000);
    const kept = await bench.exported('kept', 'acme');
    expect(kept.sha256).not.toBe(old.sha256);
    const files = await bench.files('files');
    await age('files', 9);
    await age('manifests', 9);
    bench.clocks.wait(2 * DAY_MS);

    expect(await apply()).toBe(1);
    expect(await bench.queue.get((await bench.get('kept')).jobId)).not.toBeNull();
    expect(await bench.files('bundles')).toEqual([`${kept.sha256}.tar.gz`]);
    expect(await bench.files('manifests')).toEqual([`${kept.contentSha256}.json`]);
    expect((await bench.files('files')).length).toBeLessThan(files.length);
    // The remaining files are exactly those of the kept bundle.
    await bench.store.remove(kept.sha256);
    await repackBundle(await bench.get('kept'), bench.options(), new AbortController().signal);
    expect(await bench.store.has(kept.sha256)).toBe(true);
  });

  it('removes the screenshots of removed jobs, and keeps the screenshots of other jobs', async () => {
    await bench.exported('old', 'acme');
    const { jobId: old } = await bench.get('old');
    await change('next');
    bench.clocks.wait(1_000);
    await bench.exported('kept', 'acme');
    const { jobId: kept } = await bench.get('kept');
    for (const jobId of [old, kept]) {
      await mkdir(join(bench.folder.pictures, jobId));
      await writeFile(join(bench.folder.pictures, jobId, '1-live.png'), 'a picture');
    }
    bench.clocks.wait(2 * DAY_MS);
    await apply();
    expect(await readdir(bench.folder.pictures)).toEqual([kept]);
    expect(String(await readPicture(bench.folder, kept, '1-live.png'))).toBe('a picture');
    expect(await readPicture(bench.folder, kept, '../1-live.png')).toBeNull();
    expect(await readPicture(bench.folder, old, '1-live.png')).toBeNull();
  });

  it('keeps recently used files, which a running job may need', async () => {
    await bench.exported('old', 'acme');
    await change('next');
    await bench.exported('kept', 'acme');
    const before = [await bench.files('files'), await bench.files('manifests')];
    await age('files', 7);
    await age('manifests', 7);
    bench.clocks.wait(2 * DAY_MS);
    expect(await apply()).toBe(1);
    expect([await bench.files('files'), await bench.files('manifests')]).toEqual(before);
  });

  it('keeps a bundle that a newer job shares', async () => {
    const { sha256 } = await bench.exported('old', 'acme');
    expect((await bench.exported('kept', 'acme')).sha256).toBe(sha256);
    bench.clocks.wait(2 * DAY_MS);
    expect(await apply()).toBe(1);
    expect(await bench.store.has(sha256)).toBe(true);
  });

  it('keeps the newest completed job of each domain, and recent jobs', async () => {
    await bench.exported('acme');
    await bench.exported('globex');
    bench.clocks.wait(5 * DAY_MS);
    expect(await apply()).toBe(0);
    await bench.exported('again', 'acme');
    expect(await apply()).toBe(1);
    expect(await bench.queue.counts()).toEqual({ queued: 0, running: 0 });
    expect((await bench.queue.list({ organizationId: 'acme', limit: 10 })).jobs).toHaveLength(2);
  });
});
