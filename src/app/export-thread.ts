import * as crawler from '../crawl/index.ts';
import { serveSteps } from '../export/jobs/steps.ts';

/** Entry of the thread of a job, which needs both export and crawl. */
serveSteps(crawler);
