import { unpack } from '../../src/deploy/import/unpack.ts';
import type { Unpack } from '../../src/deploy/import/unpack-thread.ts';

/** Unpacks in this thread, because starting a thread takes a third of a second. */
export const unpackHere: Unpack = async (order, onProgress, signal) => {
  signal.throwIfAborted();
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  return Promise.race([unpack(order, onProgress), aborted]);
};
