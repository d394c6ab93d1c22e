import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Secret } from '../../../src/domain/secret.ts';
import { openExportsFolder, readPicture } from '../../../src/export/exports-folder.ts';
import { applyRetention, repackBundle } from '../../../src/export/jobs/ended-jobs.ts';
import type { RunJobOptions } from '../../../src/export/jobs/run-job.ts';
import { SharedJobs } from '../../../src/export/jobs/shared-jobs.ts';
import { Signatures } from '../../../src/export/signatures.ts';
import type { S3BundleStore } from '../../../src/export/stores/s3-bundle-store.ts';
import { S3Upload } from '../../../src/export/stores/s3-objects.ts';
import { SECRET_KEY } from '../../helpers/minisign.ts';
import { type S3Server, s3StoreAt, startS3Server } from '../stores/s3-server.ts';
import { endless, JobBench } from './job-bench.ts';

const NEVER = new AbortController().signal;

describe('export jobs of daemons with a shared bucket and separate disks', () => {
  let bench: JobBench;
  let server: S3Server;
  let store: S3BundleStore;

  beforeEach(async () => {
    bench = await JobBench.open();
    server = await startS3Server();
    store = s3StoreAt(server.endpoint);
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await bench.close();
    await store.close();
    await server.close();
  });

  /** A daemon with an empty disk. */
  async function daemon(name: string) {
    const folder = await openExportsFolder(join(bench.folder.dir, name));
    const shared = new SharedJobs(store.shared, folder);
    const signatures = new Signatures(folder.signatures, () => new Secret(SECRET_KEY), shared);
    return { folder, shared, signatures, store } satisfies Partial<RunJobOptions>;
  }

  const exported = (name: string, by: Partial<RunJobOptions>) => bench.exported(name, 'docs', by);

  it('upload nothing for an unchanged site, even on another daemon', async () => {
    const send = vi.spyOn(S3Upload.prototype, 'send');
    const bundle = await exported('one', await daemon('a'));
    expect(send).toHaveBeenCalled();
    send.mockClear();
    expect(await exported('two', await daemon('b'))).toEqual(bundle);
    expect(send).not.toHaveBeenCalled();
  });

  it('upload only the changed files of a changed site, and its bundle', async () => {
    const send = vi.spyOn(S3Upload.prototype, 'send');
    await exported('one', await daemon('a'));
    send.mockClear();
    await bench.write({ 'more.html': '<!doctype html><title>More</title>' });
    await exported('two', await daemon('b'));
    // The daemon sends the page, the table of the site, the manifest, the signature, and the bundle.
    expect(send).toHaveBeenCalledTimes(5);
  });

  it('reuse the archive of an earlier job on any daemon if the content is the same', async () => {
    const bundle = await exported('one', await daemon('a'));
    await bench.write({ 'more.html': '<!doctype html><title>More</title>' });
    await exported('two', await daemon('a'));
    await bench.remove('more.html');
    expect(await exported('three', await daemon('b'))).toEqual(bundle);
  });

  it('resume on another daemon from the last checkpoint', async () => {
    const search = endless();
    await bench.add('one', 'docs');
    const first = bench.run({ ...(await daemon('a')), searchData: search });
    await search.begun;
    await first.stop();
    await bench.write({ 'later.html': '<!doctype html><title>Later</title>' });
    bench.run(await daemon('b'));
    expect(await bench.ended('one')).toMatchObject({ status: 'completed', pageCount: 2, attempt: 2 });
  });

  it('start from the beginning if a file of the checkpoint is missing', async () => {
    const search = endless();
    await bench.add('one', 'docs');
    const first = bench.run({ ...(await daemon('a')), searchData: search });
    await search.begun;
    await first.stop();
    for await (const { name } of store.shared.list('files/')) await store.shared.remove(`files/${name}`);
    await bench.write({ 'later.html': '<!doctype html><title>Later</title>' });
    bench.run(await daemon('b'));
    expect(await bench.ended('one')).toMatchObject({ status: 'completed', pageCount: 3 });
  });

  it('let any daemon read the signature of a bundle, and pack the bundle again', async () => {
    const bundle = await exported('one', await daemon('a'));
    const other = await daemon('b');
    expect(await other.signatures.read(bundle.sha256)).toContain('trusted comment');
    await store.remove(bundle.sha256);
    await repackBundle(await bench.get('one'), bench.options(other), NEVER);
    expect(await store.has(bundle.sha256)).toBe(true);
  });

  it('have screenshots that any daemon can read', async () => {
    const { folder, shared } = await daemon('a');
    await mkdir(join(folder.pictures, 'se_1'));
    await writeFile(join(folder.pictures, 'se_1', '1-live.png'), 'PNG');
    await shared.keepPictures('se_1', NEVER);
    const other = await daemon('b');
    const read = (name: string) => other.shared.readFile(name, NEVER);
    expect(Buffer.from((await readPicture(other.folder, 'se_1', '1-live.png', read)) ?? []).toString()).toBe('PNG');
    expect(await readPicture(other.folder, 'se_1', '2-live.png', read)).toBeNull();
  });

  it('leave no unused objects in the bucket', async () => {
    const { shared, ...first } = await daemon('a');
    const gone = await exported('one', { ...first, shared });
    await bench.write({ 'index.html': '<!doctype html><title>Anew</title>' });
    await exported('two', { ...first, shared });
    const namesOf = async (folder: string): Promise<number> => {
      let count = 0;
      for await (const { name } of store.shared.list(folder)) count += name === '' ? 0 : 1;
      return count;
    };
    const before = await namesOf('files/');
    await shared.sweep(new Set([gone.contentSha256]), async () => true, -60_000, NEVER);
    expect(await namesOf('manifests/')).toBe(1);
    expect(await namesOf('files/')).toBeLessThan(before);
    // Young files may belong to a running job.
    await applyRetention({ ...bench.options({ ...first, shared }), signal: NEVER }, { beforeMs: Date.now() + 1000 });
    expect(await namesOf('manifests/')).toBe(1);
  });
});
