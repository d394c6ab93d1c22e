import { workerData } from 'node:worker_threads';
import { type QueueOrder, serveQueue } from './queue-thread.ts';

/** The thread of the job store. SQLite is synchronous, and flushes each change to the disk. */

serveQueue(workerData as QueueOrder, { wallMs: () => Date.now(), monotonicMs: () => performance.now() });
