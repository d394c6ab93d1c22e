/**
 * The export room: a job turns a site into a bundle.
 *
 *     source -> collect (file store) -> check -> search data -> manifest -> pack -> sign -> store -> link
 *
 * Owners of sites ask `ExportService`; `JobRunner` claims jobs and runs them by the recipe in `run-job.ts`, its heavy steps
 * (`steps.ts`) in a thread. Ports: `JobQueue`, `BundleStore`, `SiteSource`.
 */
export { type CheckSiteOptions, checkSite } from './check/index.ts';
export { type ExportsFolder, openExportsFolder, readPicture } from './exports-folder.ts';
export { FindingList } from './findings.ts';
export { repackBundle } from './jobs/repack.ts';
export { applyRetention } from './jobs/retention.ts';
export type { RunJobOptions } from './jobs/run-job.ts';
export { type JobEvent, JobRunner, type JobRunnerSettings } from './jobs/runner.ts';
export { ExportService, type ExportSettings } from './service.ts';
export { Signatures } from './signatures.ts';
