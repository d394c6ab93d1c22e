import { workerData } from 'node:worker_threads';
import { type QueueOrder, serveQueue } from './sqlite.ts';

/** The thread of the job store. SQLite is synchronous, and flushes each change to the disk. */

serveQueue(workerData as QueueOrder, {
  wallMs: () => Date.now(),
  // Of the machine, so that all processes on the file share it.
  monotonicMs: () => Number(process.hrtime.bigint() / 1_000_000n),
});
