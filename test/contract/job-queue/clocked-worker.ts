import { workerData } from 'node:worker_threads';
import { serveQueue } from '../../../src/export/jobs/queue/sqlite.ts';
import { SharedClocks } from './shared-clocks.ts';

/** The thread of the embedded store with the clocks of a test. */

const { file, clocks } = workerData as { file: string; clocks: SharedArrayBuffer };
serveQueue({ file }, new SharedClocks(clocks));
