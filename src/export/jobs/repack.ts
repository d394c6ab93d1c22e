import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError, type ErrorCode } from '../../domain/errors.ts';
import { makeRepackFolder, storeFolders } from '../exports-folder.ts';
import type { StoredJob } from '../ports.ts';
import { openJobThread } from './job-thread.ts';
import type { RunJobOptions } from './run-job.ts';

/** Codes of packing where the manifest or a file is gone or damaged. */
const MISSING: ReadonlySet<ErrorCode> = new Set(['bundle_gone', 'cannot_read']);

/**
 * Packs the archive of a completed job anew, out of its manifest and the file store, and puts it into the bundle store.
 *
 * @throws DocshelfError `bundle_gone` where manifest or files are no longer there, or where this docshelf packs them to other
 *   bytes than the one that made the job (another version of zlib): a link must lead to what the job's digest says;
 *   `cannot_write` and others, which may pass
 */
export async function repackBundle(job: StoredJob, options: RunJobOptions, signal: AbortSignal): Promise<void> {
  const { folder, store, signatures } = options;
  const { bundle } = job;
  if (bundle === null) throw new Error(`job ${job.jobId} has no bundle`);
  const workDir = await makeRepackFolder(folder, job.jobId);
  try {
    const to = join(workDir, 'bundle.tar.gz');
    const packed = await pack(job, bundle.contentSha256, to, options, signal);
    if (packed.sha256 !== bundle.sha256) throw gone(job);
    if (!(await signatures.has(packed.sha256))) await signatures.sign(packed.sha256, to);
    await store.put({ ...packed, file: to }, signal);
  } finally {
    await rm(workDir, { recursive: true, force: true });
  }
}

async function pack(
  job: StoredJob,
  contentSha256: string,
  to: string,
  { folder, jobEntry }: RunJobOptions,
  signal: AbortSignal,
): Promise<{ readonly sha256: string; readonly sizeBytes: number }> {
  const thread = openJobThread(jobEntry, signal);
  const folders = storeFolders(folder);
  try {
    return await thread.call('pack', { ...folders, contentSha256, to });
  } catch (error) {
    throw error instanceof DocshelfError && MISSING.has(error.code) ? gone(job, error) : error;
  } finally {
    await thread.terminate();
  }
}

function gone({ jobId }: StoredJob, cause?: unknown): DocshelfError {
  return new DocshelfError('bundle_gone', `Cannot pack the bundle of "${jobId}" again: what it was made of is gone`, {
    next: 'Start a new export of the domain.',
    cause,
  });
}
