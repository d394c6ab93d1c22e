import type { Worker } from 'node:worker_threads';
import { DocshelfError } from '../domain/errors.ts';
import type { UnpackOrder, UnpackProgress, UnpackSummary } from './take-in/unpack.ts';
import type { UnpackMessage } from './worker.ts';

/** Starts the unpacking worker's thread with its order; given by the composition root. */
export type SpawnUnpacker = (order: UnpackOrder) => Worker;

/**
 * Runs `unpack` in a thread of its own. An abort ends the thread at once; what it wrote by then is the caller's to remove.
 */
export async function unpackInWorker(
  spawn: SpawnUnpacker,
  order: UnpackOrder,
  onProgress: UnpackProgress,
  signal: AbortSignal,
): Promise<UnpackSummary> {
  signal.throwIfAborted();
  const worker = spawn(order);
  const ended = new AbortController();
  try {
    return await new Promise<UnpackSummary>((resolve, reject) => {
      // The signal may be the whole process's: the listener must not outlive this archive.
      signal.addEventListener('abort', () => reject(signal.reason as Error), { signal: ended.signal });
      worker.on('message', (message: UnpackMessage) => {
        if (message.kind === 'progress') onProgress(message.phase, message.doneBytes, message.totalBytes);
        else if (message.kind === 'done') resolve(message.summary);
        else reject(DocshelfError.fromPlain(message.error));
      });
      worker.on('error', reject);
      worker.on('exit', (exitCode) => {
        reject(new DocshelfError('internal', `Cannot unpack "${order.name}": its thread ended with ${exitCode}`));
      });
    });
  } finally {
    ended.abort();
    await worker.terminate();
  }
}
