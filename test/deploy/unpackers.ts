import { unpack } from '../../src/deploy/import/unpack.ts';
import type { Unpack } from '../../src/deploy/import/unpack-thread.ts';
import { untilAborted } from '../helpers/until-aborted.ts';

/** Unpacks in this thread, because starting a thread takes a third of a second. */
export const unpackHere: Unpack = async (order, onProgress, signal) => {
  signal.throwIfAborted();
  const aborted = untilAborted(signal);
  return Promise.race([unpack(order, onProgress), aborted]);
};
