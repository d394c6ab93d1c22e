import type { ExportReport, Job } from '../domain/job.ts';
import type { BundleLink, JobPage } from '../export/index.ts';
import type { WrittenExportRequest } from './export-schema.ts';

/** One export from start to end, as the OpenAPI document shows it. */

const JOB_ID = 'se_4f1c09a7e2b85d36';

export const exportRequestExample: WrittenExportRequest = { domain: 'acme', version: '2024-06-01' };

export const limitedRequestExample: WrittenExportRequest = {
  domain: 'docs.acme.dev',
  paths: ['/guides/start', '/guides/keys'],
};

export const queuedJobExample: Job = {
  jobId: JOB_ID,
  domain: 'acme',
  version: '2024-06-01',
  status: 'queued',
  progress: 0,
  pageCount: 0,
  createdAt: '2024-06-01T09:30:00.000Z',
  updatedAt: '2024-06-01T09:30:00.000Z',
  error: null,
};

export const runningJobExample: Job = {
  ...queuedJobExample,
  status: 'running',
  progress: 42.5,
  pageCount: 118,
  updatedAt: '2024-06-01T09:30:04.120Z',
};

export const completedJobExample: Job = {
  ...queuedJobExample,
  status: 'completed',
  progress: 100,
  pageCount: 274,
  updatedAt: '2024-06-01T09:30:09.870Z',
};

export const canceledJobExample: Job = { ...runningJobExample, status: 'failed', error: 'canceled' };

export const jobPageExample: JobPage = { jobs: [completedJobExample], nextCursor: null };

const SHA256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

export const bundleLinkExample: BundleLink = {
  jobId: JOB_ID,
  bundleUrl: `https://api.acme.dev/v1/bundles/${SHA256}/acme-export-2024-06-01.tar.gz?expires=1717237810&signature=Zm9yIHRoZSBkb2N1bWVudCBhbG9uZQ`,
  sizeBytes: 5_242_880,
  expiresAt: '2024-06-01T10:30:10.000Z',
  sha256: SHA256,
};

export const exportReportExample: ExportReport = {
  jobId: JOB_ID,
  pages: 274,
  files: 391,
  bytes: 18_874_368,
  counts: { broken_reference: 1 },
  findings: [{ kind: 'broken_reference', page: 'guides/start.html', detail: '../old/page.html leads nowhere' }],
};
