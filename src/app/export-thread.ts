import { parentPort } from 'node:worker_threads';
import { serveSteps } from '../export/serve-steps.ts';

/** Entry of a job's thread: plain data in messages, and the ways out that a crawl has, loaded when one needs them. */
if (parentPort !== null) {
  serveSteps(parentPort, {
    openFetcher: async (...settings) => {
      const { openFetcher } = await import('../crawl/fetch/open-fetcher.ts');
      return openFetcher(...settings);
    },
    openRenderer: async (...settings) => {
      const { openRenderer } = await import('../crawl/browser/open-renderer.ts');
      return openRenderer(...settings);
    },
  });
}
