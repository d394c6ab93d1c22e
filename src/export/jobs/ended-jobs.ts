import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError, type ErrorCode } from '../../domain/errors.ts';
import { makeRepackFolder, removePictures, storeFolders } from '../exports-folder.ts';
import type { OldJobs, StoredJob } from '../ports.ts';
import { openJobThread, type RunJobOptions } from './run-job.ts';

const MISSING: ReadonlySet<ErrorCode> = new Set(['bundle_gone', 'cannot_read']);

/**
 * Packs the archive of a completed job again from its stored files. @throws DocshelfError `bundle_gone` if data is missing or
 * another zlib version writes different bytes; `cannot_write`, which can be temporary
 */
export async function repackBundle(job: StoredJob, options: RunJobOptions, signal: AbortSignal): Promise<void> {
  const { folder, store, shared, signatures, jobEntry } = options;
  const { bundle, jobId } = job;
  if (bundle === null) throw new Error(`job ${jobId} has no bundle`);
  const workDir = await makeRepackFolder(folder, jobId);
  const thread = openJobThread(jobEntry, signal);
  try {
    const to = join(workDir, 'bundle.tar.gz');
    await shared?.fetchContent(bundle.contentSha256, signal);
    const command = { ...storeFolders(folder), contentSha256: bundle.contentSha256, to };
    const { createdAt, ...packed } = await thread.call('pack', command).catch((error: unknown) => {
      throw error instanceof DocshelfError && MISSING.has(error.code) ? gone(job, error) : error;
    });
    await thread.terminate();
    if (packed.sha256 !== bundle.sha256) throw gone(job);
    if (!(await signatures.has(packed.sha256))) await signatures.sign(packed.sha256, to, { ...job, createdAt }, signal);
    await store.put({ ...packed, file: to }, signal);
  } finally {
    await thread.terminate();
    await rm(workDir, { recursive: true, force: true });
  }
}

function gone({ jobId }: StoredJob, cause?: unknown): DocshelfError {
  return new DocshelfError('bundle_gone', `Cannot pack the bundle of "${jobId}" again: its files no longer exist`, {
    next: 'Start a new export. If another daemon ran this export, set exportApi.store.kind to s3 for all daemons, or give them one shared storage.dir.',
    cause,
  });
}

type RetentionOptions = Pick<RunJobOptions, 'queue' | 'store' | 'shared' | 'signatures' | 'folder' | 'jobEntry'> & {
  readonly signal: AbortSignal;
};

/** Age at which docshelf removes unused data. A running job may need the data for 7 days, its longest deadline. */
const UNUSED_MS = 8 * 24 * 3_600_000;

/** Removes old ended jobs, then all data that no job uses. @returns number of removed jobs */
export async function applyRetention(options: RetentionOptions, old: OldJobs): Promise<number> {
  const { queue, store, shared, signatures, folder, jobEntry, signal } = options;
  const before = await queue.references();
  const removed = await queue.prune(old);
  // If daemons share jobs, continue even if `removed` is 0: another daemon may have removed jobs whose files are on this disk.
  if (removed === 0 && shared === null) return 0;
  const { bundles, contents } = await queue.references();
  const isGone = async (jobId: string): Promise<boolean> => (await queue.get(jobId)) === null;
  for (const sha256 of before.bundles) {
    if (bundles.has(sha256)) continue;
    await store.remove(sha256);
    await signatures.remove(sha256);
  }
  if (removed > 0) await shared?.sweep(contents, isGone, UNUSED_MS, signal);
  await removePictures(folder, isGone);
  const thread = openJobThread(jobEntry, signal);
  try {
    const folders = storeFolders(folder);
    const keep = shared === null ? [...contents] : [];
    await thread.call('sweep', { ...folders, keep, recordsDir: folder.crawls, olderThanMs: UNUSED_MS });
  } finally {
    await thread.terminate();
  }
  return removed;
}
