import {
  type BundleLink,
  bundleLinkSchema,
  type ExportOrder,
  type ExportReport,
  exportReportSchema,
  exportRequestSchema,
  type Job,
  type JobPage,
  jobIdSchema,
  jobPageSchema,
  jobQuerySchema,
  jobSchema,
} from '../../domain/job.ts';
import type { Operation, SecurityScheme } from '../../domain/operation.ts';
import {
  type SearchResult,
  searchRequestSchema,
  searchResultsSchema,
  type WrittenSearch,
} from '../../domain/search.ts';
import { ORGANIZATION_RATE } from '../limits/organization-rates.ts';
import { RETRY_AFTER } from '../openapi.ts';

const JOB_ID = 'se_4f1c09a7e2b85d36';

const exportRequest: ExportOrder = { domain: 'acme', version: '2024-06-01' };

const limitedRequest: ExportOrder = {
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

const runningJob: Job = {
  ...queuedJob,
  status: 'running',
  progress: 42.5,
  pageCount: 118,
  updatedAt: '2024-06-01T09:30:04.120Z',
};

const completedJob: Job = {
  ...queuedJob,
  status: 'completed',
  progress: 100,
  pageCount: 274,
  updatedAt: '2024-06-01T09:30:09.870Z',
};

const canceledJob: Job = { ...runningJob, status: 'failed', error: 'canceled' };

const jobPage: JobPage = { jobs: [completedJob], nextCursor: null };

const SHA256 = '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08';

const bundleLink: BundleLink = {
  jobId: JOB_ID,
  bundleUrl: `https://api.acme.dev/v1/bundles/${SHA256}/acme-export-2024-06-01.tar.gz?expires=1717237810&signature=Zm9yIHRoZSBkb2N1bWVudCBhbG9uZQ`,
  sizeBytes: 5_242_880,
  expiresAt: '2024-06-01T10:30:10.000Z',
  sha256: SHA256,
};

const exportReport: ExportReport = {
  jobId: JOB_ID,
  pages: 274,
  files: 391,
  bytes: 18_874_368,
  counts: { broken_reference: 1 },
  findings: [{ kind: 'broken_reference', page: 'guides/start.html', detail: '../old/page.html leads nowhere' }],
};

const searchQuery: WrittenSearch = { query: 'how do I rotate keys', pageSize: 3 };

const searchRequest: WrittenSearch = {
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

export const API_INFO = {
  title: 'docshelf API',
  description:
    'Search over documentation sites, and static exports of them, each where it is turned on. Faults are problem documents (RFC 9457) with a `code`.',
} as const;

const securityScheme = (type: 'assistant' | 'admin', description: string, more = ''): SecurityScheme => ({
  name: `${type}Key`,
  description: `${description} Whoever runs this service makes one: \`docshelf keys create --type ${type}\`.`,
  faults: [
    {
      code: 'unauthorized',
      description: 'No key, a malformed header or an unknown key.',
      message: 'Cannot answer: the request carries no key',
    },
    {
      code: 'forbidden',
      description: `The key is of another type${more}.`,
      message: `Cannot answer: the key is of type ${type === 'admin' ? 'assistant' : 'admin'}, and this takes ${type} keys`,
    },
  ],
});

export const search = {
  id: 'search',
  method: 'POST',
  path: '/v1/search/{domain}',
  tag: { name: 'Search', description: 'Semantic and keyword search over a site.' },
  security: securityScheme(
    'assistant',
    'An assistant key, `svc_dsc_…`. It is public: safe in code that runs in a browser.',
  ),
  isOpenToAllOrigins: true,
  act: 'search',
  summary: 'Search a site',
  description:
    'Semantic and keyword search over the sections of a site. 10,000 requests an organization in any rolling hour; every request with a valid key counts, save those that the limit refuses. Open to all origins.',
  parameters: {
    domain: {
      description: 'The site: its domain or one of its full host names, in any case.',
      schema: { type: 'string' },
      examples: { domain: { value: 'acme' }, host: { value: 'docs.acme.dev' } },
    },
  },
  headers: {
    'RateLimit-Policy': {
      description: 'The limit: `q` requests in any `w` seconds (draft-ietf-httpapi-ratelimit-headers-10).',
      schema: { type: 'string' },
      example: `"hour";q=${ORGANIZATION_RATE.requestsMax};w=${ORGANIZATION_RATE.windowMs / 1000}`,
    },
    RateLimit: {
      description: 'What is left of it: `r` requests; `t` seconds until there is one more.',
      schema: { type: 'string' },
      example: '"hour";r=9999;t=3600',
    },
  },
  body: { schema: searchRequestSchema, examples: { query: searchQuery, filtered: searchRequest } },
  answers: {
    200: {
      description: 'The results; none is an empty array.',
      schema: searchResultsSchema,
      examples: { one: searchResults },
    },
  },
  faults: [
    {
      code: 'bad_request',
      description: 'Malformed JSON, or a field that is unknown or out of bounds; the message names it.',
      message: 'Cannot search: the field "pageSize" must be at most 50',
    },
    {
      code: 'not_found',
      description: "There is no such domain, or it is another organization's; or search is turned off.",
      message: 'Cannot search "amce": there is no such domain',
    },
    {
      code: 'rate_limited',
      description: 'Over the rate limit, or more searches wait than the engine takes on.',
      message: 'Cannot answer now: the organization has made 10000 requests within the last hour',
    },
    {
      code: 'index_building',
      description: 'The first index is still being built.',
      message: 'Cannot search "acme": its first index is still being built',
    },
  ],
} as const satisfies Operation;

const JOBS = '/v1/static-export/jobs';

const common = {
  tag: { name: 'Static export', description: 'Jobs that export a site into one self-contained bundle.' },
  security: securityScheme(
    'admin',
    'An admin key, `svc_…`, of an organization on the enterprise plan. It is a secret: keep it on servers.',
    ', or the plan of its organization has no static exports',
  ),
} as const;
const jobId = { description: 'As the start of the export answered it.', schema: jobIdSchema, example: JOB_ID } as const;

const noJob = {
  code: 'not_found',
  description: "There is no such job, or it is another organization's.",
  message: `Cannot show "${JOB_ID}": there is no such job`,
} as const;
const noDomain = {
  code: 'not_found',
  description: "There is no such domain, or it is another organization's.",
  message: 'Cannot export "amce": there is no such domain',
} as const;
const badField = (message: string) =>
  ({
    code: 'bad_request',
    description: 'Malformed JSON, or a field or parameter that is unknown or out of bounds; the message names it.',
    message,
  }) as const;
const notCompleted = (description: string, message: string) =>
  ({ code: 'not_completed', description, message }) as const;

export const startExport = {
  ...common,
  id: 'startExport',
  method: 'POST',
  path: JOBS,
  act: 'export',
  summary: 'Start an export',
  description: 'Queues a job that exports a site into one self-contained bundle. One job of a domain runs at a time.',
  body: {
    schema: exportRequestSchema,
    examples: { site: exportRequest, pages: limitedRequest },
  },
  answers: {
    202: {
      description: 'The job.',
      schema: jobSchema,
      examples: { queued: queuedJob },
      headers: {
        Location: { description: 'Path of the job.', schema: { type: 'string', format: 'uri-reference' } },
        ...RETRY_AFTER,
      },
    },
  },
  faults: [
    noDomain,
    badField('Cannot export: the field "paths[3]" must be a path on the site'),
    {
      code: 'no_source',
      description: 'The domain can only be searched: no source is configured.',
      message: 'Cannot export "acme": no source is configured',
    },
    {
      code: 'queue_full',
      description: 'As many jobs of the organization wait as may.',
      message: 'Cannot export "acme": 100 jobs of the organization wait already',
    },
  ],
} as const satisfies Operation;

export const listExports = {
  ...common,
  id: 'listExports',
  method: 'GET',
  path: JOBS,
  act: 'list jobs',
  summary: 'List jobs, newest first',
  query: jobQuerySchema,
  answers: { 200: { description: 'A page of jobs.', schema: jobPageSchema, examples: { one: jobPage } } },
  faults: [noDomain, badField('Cannot list jobs: the field "limit" must be at most 100')],
} as const satisfies Operation;

export const getExport = {
  ...common,
  id: 'getExport',
  method: 'GET',
  path: `${JOBS}/{jobId}`,
  parameters: { jobId },
  act: 'show the job',
  summary: 'Show a job',
  description: 'Ask every few seconds until `status` is `completed` or `failed`.',
  answers: {
    200: {
      description: 'The job.',
      schema: jobSchema,
      examples: { running: runningJob, completed: completedJob, canceled: canceledJob },
    },
  },
  faults: [noJob],
} as const satisfies Operation;

export const cancelExport = {
  ...common,
  id: 'cancelExport',
  method: 'DELETE',
  path: `${JOBS}/{jobId}`,
  parameters: { jobId },
  act: 'cancel the job',
  summary: 'Cancel a job',
  description:
    'A queued job ends at once, a running one within moments; both as `failed` with the error `canceled`. One that is over stays as it is.',
  answers: { 202: { description: 'The job.', schema: jobSchema, examples: { canceled: canceledJob } } },
  faults: [noJob],
} as const satisfies Operation;

export const getExportReport = {
  ...common,
  id: 'getExportReport',
  method: 'GET',
  path: `${JOBS}/{jobId}/report`,
  parameters: { jobId },
  act: 'show the report',
  summary: 'Show the report of a job',
  answers: {
    200: { description: 'The report.', schema: exportReportSchema, examples: { one: exportReport } },
  },
  faults: [noJob, notCompleted('The job is not over.', `Cannot report on "${JOB_ID}": the job is running`)],
} as const satisfies Operation;

export const getExportPicture = {
  ...common,
  id: 'getExportPicture',
  method: 'GET',
  path: `${JOBS}/{jobId}/report/pictures/{name}`,
  parameters: {
    jobId,
    name: {
      description: 'As a finding of kind `pictures` in the report names it.',
      schema: { type: 'string' },
      example: '1-written.png',
    },
  },
  act: 'show the picture',
  summary: 'Show a picture of a page from the report',
  answers: { 200: { description: 'The picture.', type: 'image/png' } },
  faults: [noJob],
} as const satisfies Operation;

export const linkBundle = {
  ...common,
  id: 'linkBundle',
  method: 'POST',
  path: `${JOBS}/{jobId}/bundle`,
  parameters: { jobId },
  act: 'link to the bundle',
  summary: 'Create a link to the bundle of a completed job',
  description:
    'Takes no body. Only the link expires, the bundle stays: the call may be repeated, and each time the link works.',
  body: null,
  answers: { 200: { description: 'The link.', schema: bundleLinkSchema, examples: { one: bundleLink } } },
  faults: [
    noJob,
    badField('Cannot read the request: the field "ttl" is not known'),
    notCompleted('The job is not over, or it failed.', `Cannot link to the bundle of "${JOB_ID}": the job is running`),
  ],
} as const satisfies Operation;

export const exportOperations = [
  startExport,
  listExports,
  getExport,
  cancelExport,
  getExportReport,
  getExportPicture,
  linkBundle,
] as const;
