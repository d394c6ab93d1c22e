import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError, type ErrorCode } from '../../domain/errors.ts';
import { makeRepackFolder, storeFolders } from '../exports-folder.ts';
import type { StoredJob } from '../ports.ts';
import { openJobThread } from './job-thread.ts';
import type { RunJobOptions } from './run-job.ts';

const MISSING: ReadonlySet<ErrorCode> = new Set(['bundle_gone', 'cannot_read']);

/**
 * Packs a completed job's archive anew, out of its manifest and the file store, and puts it into the bundle store.
 * @throws DocshelfError `bundle_gone` where manifest or files are gone, or pack to other bytes than the job's (another
 *   version of zlib); `cannot_write` and others, which may pass
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
    const order = { ...storeFolders(folder), contentSha256: bundle.contentSha256, to };
    const { createdAt, ...packed } = await thread.call('pack', order).catch((error: unknown) => {
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
  return new DocshelfError('bundle_gone', `Cannot pack the bundle of "${jobId}" again: what it was made of is gone`, {
    next: 'Start a new export of the domain.',
    cause,
  });
}
