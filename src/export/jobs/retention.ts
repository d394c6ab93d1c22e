import { type ExportsFolder, removePictures, storeFolders } from '../exports-folder.ts';
import type { BundleStore, JobQueue } from '../ports.ts';
import type { Signatures } from '../signatures.ts';
import { openJobThread } from './job-thread.ts';

export interface RetentionOptions {
  readonly queue: JobQueue;
  readonly store: BundleStore;
  readonly signatures: Signatures;
  readonly folder: ExportsFolder;
  readonly jobEntry: URL;
  readonly signal: AbortSignal;
}

/** Longer than the longest deadline of a job (7 days): what one is at work on has been used since. */
const UNUSED_MS = 8 * 24 * 3_600_000;

/**
 * Removes ended jobs that are older than they are kept, and then what no job names any more: archives, their signatures,
 * manifests, pictures, and files.
 *
 * @param beforeMs Unix time
 * @returns how many jobs were removed
 */
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
