import * as crawler from '../crawl/index.ts';
import { serveSteps } from '../export/jobs/steps.ts';

/** Entry of a job's thread, which joins export and crawl. */
serveSteps(crawler);
