import { HEAPS, Thread, threadEntry } from '../../threads/index.ts';
import type { UnpackOrder, UnpackProgress, UnpackSummary } from './unpack.ts';
import type { UnpackCalls } from './worker.ts';

/** An abort ends it at once; what was written by then is the caller's to remove. */
export type Unpack = (order: UnpackOrder, onProgress: UnpackProgress, signal: AbortSignal) => Promise<UnpackSummary>;

/** In a thread, so that parsing and hashing never stand in the way of serving. */
export const unpackInThread: Unpack = async (order, onProgress, signal) => {
  const task = `unpack "${order.name}"`;
  const thread = new Thread<UnpackCalls>({ task, heap: HEAPS.unpack, entry: threadEntry('./worker', import.meta) });
  try {
    return await thread.call('unpack', order, {
      signal,
      onProgress: ({ phase, doneBytes, totalBytes }) => onProgress(phase, doneBytes, totalBytes),
    });
  } finally {
    await thread.terminate();
  }
};
