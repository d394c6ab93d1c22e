import { workerData } from 'node:worker_threads';
import { type QueueFile, serveQueue } from './sqlite.ts';

/** Thread of the job queue, because SQLite is synchronous and flushes each change to the disk. */

serveQueue(workerData as QueueFile, {
  wallMs: () => Date.now(),
  // Clock of the machine, which all processes on the file share.
  monotonicMs: () => Number(process.hrtime.bigint() / 1_000_000n),
});
