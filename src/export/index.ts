/** A job turns a site into a bundle. `ExportService` queues and lists jobs, `JobRunner` runs them (steps: `run-job.ts`). */
export { type CheckSiteOptions, checkSite } from './check-site.ts';
export { type ExportsFolder, markApiFolder, openExportsFolder, readPicture, untilApiFolder } from './exports-folder.ts';
export { FindingList } from './findings.ts';
export { applyRetention, repackBundle } from './jobs/ended-jobs.ts';
export type { RunJobOptions } from './jobs/run-job.ts';
export { type JobEvent, JobRunner, type JobRunnerSettings } from './jobs/runner.ts';
export { SharedJobs } from './jobs/shared-jobs.ts';
export { ExportService, type ExportSettings } from './service.ts';
export { Signatures } from './signatures.ts';
