import { removePictures, storeFolders } from '../exports-folder.ts';
import { openJobThread } from './job-thread.ts';
import type { RunJobOptions } from './run-job.ts';

type RetentionOptions = Pick<RunJobOptions, 'queue' | 'store' | 'shared' | 'signatures' | 'folder' | 'jobEntry'> & {
  readonly signal: AbortSignal;
};

/** Longer than the longest deadline of a job (7 days). */
const UNUSED_MS = 8 * 24 * 3_600_000;

/** Ended jobs, then all that no job names any more. @param beforeMs Unix time. @returns how many jobs were removed */
export async function applyRetention(options: RetentionOptions, beforeMs: number): Promise<number> {
  const { queue, store, shared, signatures, folder, jobEntry, signal } = options;
  const before = await queue.references();
  const removed = await queue.prune(beforeMs);
  // Where daemons share jobs, another one may have removed them: this one's copies go by their age.
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
