import { HEAPS, Thread, ThreadPool, threadEntry } from '../../threads/index.ts';
import type { UnpackProgress, UnpackRequest, UnpackSummary } from './unpack.ts';
import type { UnpackCalls } from './worker.ts';

/** Unpacks a bundle in a worker thread. An abort ends the thread immediately; the caller must remove the files that it wrote. */
export type Unpack = (
  request: UnpackRequest,
  onProgress: (progress: UnpackProgress) => void,
  signal: AbortSignal,
) => Promise<UnpackSummary>;

export function unpackInThreads(): Unpack {
  const options = {
    task: 'unpack',
    heap: HEAPS.unpack,
    // If the thread runs out of memory, report an error that is not retried, because the same bundle would need as much memory
    // again.
    overMemory: {
      code: 'total_too_large',
      next: 'Split the site into several sites with fewer or smaller files, and export each one separately.',
    },
    entry: threadEntry('./worker', import.meta),
  } as const;
  const threads = new ThreadPool(() => new Thread<UnpackCalls>(options));
  return (request, onProgress, signal) =>
    threads.run((thread) => thread.call('unpack', request, { task: `unpack "${request.name}"`, signal, onProgress }));
}
