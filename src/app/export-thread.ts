import { parentPort } from 'node:worker_threads';
import { serveSteps } from '../export/serve-steps.ts';

/** Entry of a job's thread: plain data in messages, and the one way out that a crawl has, loaded when one needs it. */
if (parentPort !== null) {
  serveSteps(parentPort, async (...settings) => {
    const { openFetcher } = await import('../adapters/open-fetcher.ts');
    return openFetcher(...settings);
  });
}
