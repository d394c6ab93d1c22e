import { removePictures, storeFolders } from '../exports-folder.ts';
import { openJobThread } from './job-thread.ts';
import type { RunJobOptions } from './run-job.ts';

type RetentionOptions = Pick<RunJobOptions, 'queue' | 'store' | 'signatures' | 'folder' | 'jobEntry'> & {
  readonly signal: AbortSignal;
};

/** Longer than the longest deadline of a job (7 days). */
const UNUSED_MS = 8 * 24 * 3_600_000;

/** Ended jobs, then all that no job names any more. @param beforeMs Unix time. @returns how many jobs were removed */
export async function applyRetention(options: RetentionOptions, beforeMs: number): Promise<number> {
  const { queue, store, signatures, folder, jobEntry, signal } = options;
  const before = await queue.references();
  const removed = await queue.prune(beforeMs);
  if (removed === 0) return 0;
  const after = await queue.references();
  for (const sha256 of before.bundles) {
    if (after.bundles.has(sha256)) continue;
    await store.remove(sha256);
    await signatures.remove(sha256);
  }
  await removePictures(folder, async (jobId) => (await queue.get(jobId)) === null);
  const thread = openJobThread(jobEntry, signal);
  try {
    const folders = storeFolders(folder);
    const keep = [...after.contents];
    await thread.call('sweep', { ...folders, keep, recordsDir: folder.crawls, olderThanMs: UNUSED_MS });
  } finally {
    await thread.terminate();
  }
  return removed;
}
