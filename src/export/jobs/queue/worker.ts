import { workerData } from 'node:worker_threads';
import { type QueueFile, serveQueue } from './sqlite.ts';

/** Thread of the job queue, because SQLite is synchronous and flushes each change to the disk. */

serveQueue(workerData as QueueFile, {
  wallMs: () => Date.now(),
  // All processes that use the file share this clock of the machine.
  monotonicMs: () => Number(process.hrtime.bigint() / 1_000_000n),
});
