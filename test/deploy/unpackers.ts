/** The two ways that the tests unpack: with the real worker, and without its thread. */
import { EventEmitter } from 'node:events';
import { Worker } from 'node:worker_threads';
import { unpack } from '../../src/deploy/take-in/unpack.ts';
import type { SpawnUnpacker } from '../../src/deploy/unpack-in-worker.ts';
import type { UnpackMessage } from '../../src/deploy/worker.ts';
import { toDocshelfError } from '../../src/domain/errors.ts';

export const spawnUnpacker: SpawnUnpacker = (order) =>
  new Worker(new URL('../../src/deploy/worker.ts', import.meta.url), { workerData: order });

/** Unpacks in this thread what the worker unpacks in its own, which takes a third of a second to start. */
export const unpackHere: SpawnUnpacker = (order) => {
  const thread = Object.assign(new EventEmitter(), { terminate: async () => 0 });
  const post = (message: UnpackMessage) => thread.emit('message', message);
  unpack(order, (phase, doneBytes, totalBytes) => post({ kind: 'progress', phase, doneBytes, totalBytes })).then(
    (summary) => post({ kind: 'done', summary }),
    (error: unknown) => post({ kind: 'failed', error: toDocshelfError(error).toPlain() }),
  );
  return thread as unknown as Worker;
};
