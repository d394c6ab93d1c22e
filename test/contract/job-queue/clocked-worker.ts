import { workerData } from 'node:worker_threads';
import { serveQueue } from '../../../src/export/jobs/queue/sqlite.ts';
import { SharedClocks } from './shared-clocks.ts';

/** Thread of the embedded store with the test's clocks. */

const { file, clocks } = workerData as { file: string; clocks: SharedArrayBuffer };
serveQueue({ file }, new SharedClocks(clocks));
