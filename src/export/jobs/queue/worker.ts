import { workerData } from 'node:worker_threads';
import { type QueueFile, serveQueue } from './sqlite.ts';

/** The job queue has a separate thread, because SQLite is synchronous and flushes each change to the disk. */

serveQueue(workerData as QueueFile, {
  wallMs: () => Date.now(),
  monotonicMs: () => Number(process.hrtime.bigint() / 1_000_000n),
});
