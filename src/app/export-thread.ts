import * as crawler from '../crawl/index.ts';
import { serveSteps } from '../export/jobs/steps.ts';

/** Entry of the thread of an export job. Passes the crawler to the job, because `src/export` does not import it. */
serveSteps(crawler);
