import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { QueueOrder } from './ports.ts';
import { serveQueue } from './queue-thread.ts';

/** The entry of the job store's thread. SQLite is synchronous, and flushes each change to the disk. */

serveQueue(parentPort as MessagePort, workerData as QueueOrder, {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
});
