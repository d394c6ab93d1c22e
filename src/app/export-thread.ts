import * as crawler from '../crawl/index.ts';
import { serveSteps } from '../export/jobs/steps.ts';

/** Entry of a job's thread. It joins export and crawl, whose door loads what a job turns out to need. */
serveSteps(crawler);
