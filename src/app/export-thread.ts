import * as crawler from '../crawl/index.ts';
import { serveSteps } from '../export/jobs/steps.ts';

/** Entry point of the thread of an export job. Passes in the crawler, because `src/export` does not import `src/crawl`. */
serveSteps(crawler);
