import { parentPort } from 'node:worker_threads';
import { openFetcher } from '../adapters/open-fetcher.ts';
import { serveSteps } from '../export/index.ts';

/** Entry of a job's thread: plain data in messages, and the one way out that a crawl has. */
if (parentPort !== null) serveSteps(parentPort, openFetcher);
