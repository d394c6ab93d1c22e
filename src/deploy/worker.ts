import { parentPort, workerData } from 'node:worker_threads';
import { type PlainError, toDocshelfError } from '../domain/errors.ts';
import { type UnpackOrder, type UnpackPhase, type UnpackSummary, unpack } from './take-in/unpack.ts';

/** The unpacking worker: one thread an archive, so that parsing and hashing never stand in the way of serving. */
export type UnpackMessage =
  | { readonly kind: 'progress'; readonly phase: UnpackPhase; readonly doneBytes: number; readonly totalBytes: number }
  | { readonly kind: 'done'; readonly summary: UnpackSummary }
  | { readonly kind: 'failed'; readonly error: PlainError };

const post = (message: UnpackMessage): void => parentPort?.postMessage(message);

try {
  const summary = await unpack(workerData as UnpackOrder, (phase, doneBytes, totalBytes) =>
    post({ kind: 'progress', phase, doneBytes, totalBytes }),
  );
  post({ kind: 'done', summary });
} catch (error) {
  post({ kind: 'failed', error: toDocshelfError(error).toPlain() });
}
