import type { BundleLink, ExportOrder, ExportReport, Job, JobPage } from '../../domain/job.ts';
import type { SearchResult, WrittenSearch } from '../../domain/search.ts';

const JOB_ID = 'se_4f1c09a7e2b85d36';

export const exportRequest: ExportOrder = { domain: 'acme', version: '2024-06-01' };

export const limitedRequest: ExportOrder = {
  domain: 'docs.acme.dev',
  paths: ['/guides/start', '/guides/keys'],
};

export const queuedJob: Job = {
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

export const runningJob: Job = {
  ...queuedJob,
  status: 'running',
  progress: 42.5,
  pageCount: 118,
  updatedAt: '2024-06-01T09:30:04.120Z',
};

export const completedJob: Job = {
  ...queuedJob,
  status: 'completed',
  progress: 100,
  pageCount: 274,
  updatedAt: '2024-06-01T09:30:09.870Z',
};

export const canceledJob: Job = { ...runningJob, status: 'failed', error: 'canceled' };

export const jobPage: JobPage = { jobs: [completedJob], nextCursor: null };

const SHA256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

export const bundleLink: BundleLink = {
  jobId: JOB_ID,
  bundleUrl: `https://api.acme.dev/v1/bundles/${SHA256}/acme-export-2024-06-01.tar.gz?expires=1717237810&signature=Zm9yIHRoZSBkb2N1bWVudCBhbG9uZQ`,
  sizeBytes: 5_242_880,
  expiresAt: '2024-06-01T10:30:10.000Z',
  sha256: SHA256,
};

export const exportReport: ExportReport = {
  jobId: JOB_ID,
  pages: 274,
  files: 391,
  bytes: 18_874_368,
  counts: { broken_reference: 1 },
  findings: [{ kind: 'broken_reference', page: 'guides/start.html', detail: '../old/page.html leads nowhere' }],
};

export const searchQuery: WrittenSearch = { query: 'how do I rotate keys', pageSize: 3 };

export const searchRequest: WrittenSearch = {
  ...searchQuery,
  filter: { version: 'v3.2.0', language: 'en' },
};

export const searchResults: readonly SearchResult[] = [
  {
    content: 'Keys are rotated without a restart: add the new key, let clients change over, then remove the old one.',
    path: '/guides/keys#rotate-keys',
    metadata: {
      score: 0.83,
      title: 'Keys',
      headings: ['Keys', 'Rotate keys'],
      version: 'v3.2.0',
      language: 'en',
      tags: ['security'],
      highlights: [
        { start: 0, end: 4 },
        { start: 9, end: 16 },
      ],
    },
  },
];
