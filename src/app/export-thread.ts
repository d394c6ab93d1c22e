import * as crawler from '../crawl/index.ts';
import { serveSteps } from '../export/jobs/steps.ts';

/** Entry point of the thread that runs an export job. Passes the crawler to `src/export`, which must not import `src/crawl`. */
serveSteps(crawler);
