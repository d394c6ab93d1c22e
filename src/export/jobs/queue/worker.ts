import { workerData } from 'node:worker_threads';
import { type QueueFile, serveQueue } from './sqlite.ts';

/** Runs the job store in a thread, because SQLite is synchronous and flushes each change to the disk. */

serveQueue(workerData as QueueFile, {
  wallMs: () => Date.now(),
  // This clock is the machine's, so that all processes on the file share it.
  monotonicMs: () => Number(process.hrtime.bigint() / 1_000_000n),
});
