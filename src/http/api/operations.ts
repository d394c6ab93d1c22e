import {
  type BundleLink,
  bundleLinkSchema,
  type ExportReport,
  type ExportRequestBody,
  exportReportSchema,
  exportRequestSchema,
  type Job,
  type JobPage,
  jobIdSchema,
  jobPageSchema,
  jobQuerySchema,
  jobSchema,
} from '../../domain/job.ts';
import { type SecurityScheme, withIds } from '../../domain/operation.ts';
import {
  type SearchResult,
  searchRequestSchema,
  searchResultsSchema,
  type WrittenSearch,
} from '../../domain/search.ts';
import { ORGANIZATION_RATE } from '../limits/organization-rates.ts';
import { RETRY_AFTER } from '../openapi.ts';

const JOB_ID = 'se_4f1c09a7e2b85d36';

const exportRequest: ExportRequestBody = { domain: 'acme', version: '2024-06-01' };

const limitedRequest: ExportRequestBody = { domain: 'docs.acme.dev', paths: ['/guides/start', '/guides/keys'] };

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

const searchRequest: WrittenSearch = { ...searchQuery, filter: { version: 'v3.2.0', language: 'en' } };

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
    'Search and static exports of documentation sites, if they are turned on. Errors are problem documents (RFC 9457) with a `code`.',
} as const;

const securityScheme = (type: 'assistant' | 'admin', description: string, more = ''): SecurityScheme => ({
  name: `${type}Key`,
  description: `${description} The operator of this service creates it with \`docshelf keys create --type ${type}\`.`,
  faults: [
    {
      code: 'unauthorized',
      description: 'The key is missing or unknown, or the header is malformed.',
      message: 'Cannot authorize the request: it has no API key',
    },
    {
      code: 'forbidden',
      description: `The key is not of the type that this operation needs${more}.`,
      message: `Cannot authorize the request: the API key has the type ${type === 'admin' ? 'assistant' : 'admin'}, and this call needs the type ${type}`,
    },
  ],
});

const JOBS = '/v1/static-export/jobs';

const common = {
  tag: { name: 'Static export', description: 'Jobs that export a site into one self-contained bundle.' },
  security: securityScheme(
    'admin',
    'An admin key, `svc_…`, of an organization on the enterprise plan. It is a secret. Store it only on servers.',
    ', or the plan of its organization does not include static exports',
  ),
} as const;
const jobId = {
  description: '`jobId` from the response to the start of the export.',
  schema: jobIdSchema,
  example: JOB_ID,
} as const;

const noJob = {
  code: 'not_found',
  description: 'The job does not exist or belongs to another organization.',
  message: `Cannot show "${JOB_ID}": there is no such job`,
} as const;
const noDomain = {
  code: 'not_found',
  description: 'The domain does not exist or belongs to another organization.',
  message: 'Cannot export "amce": there is no such domain',
} as const;
const badField = (message: string) =>
  ({
    code: 'bad_request',
    description:
      'The JSON is malformed, or a field or parameter is unknown or out of bounds. The message names the field or parameter.',
    message,
  }) as const;
const notCompleted = (description: string, message: string) =>
  ({ code: 'not_completed', description, message }) as const;

export const calls = withIds({
  search: {
    method: 'POST',
    path: '/v1/search/{domain}',
    tag: { name: 'Search', description: 'Semantic and keyword search over a site.' },
    security: securityScheme(
      'assistant',
      'An assistant key, `svc_dsc_…`. It is public. You can use it in code that runs in a browser.',
    ),
    isOpenToAllOrigins: true,
    act: 'search',
    summary: 'Search a site',
    description:
      'Semantic and keyword search in the sections of a site. Each organization can send 10,000 requests in any period of one hour. Every request with a valid key counts, except requests over the limit. Pages of all origins can send this request.',
    parameters: {
      domain: {
        description: 'The site: its domain or one of its full host names. Case does not matter.',
        schema: { type: 'string' },
        examples: { domain: { value: 'acme' }, host: { value: 'docs.acme.dev' } },
      },
    },
    headers: {
      'RateLimit-Policy': {
        description: 'Limit: `q` requests in any `w` seconds (draft-ietf-httpapi-ratelimit-headers-10).',
        schema: { type: 'string' },
        example: `"hour";q=${ORGANIZATION_RATE.requestsMax};w=${ORGANIZATION_RATE.windowMs / 1000}`,
      },
      RateLimit: {
        description: 'Remaining limit: `r` requests. One more request is available after `t` seconds.',
        schema: { type: 'string' },
        example: '"hour";r=9999;t=3600',
      },
    },
    body: { schema: searchRequestSchema, examples: { query: searchQuery, filtered: searchRequest } },
    answers: {
      200: {
        description: 'The results. The array is empty if there are none.',
        schema: searchResultsSchema,
        examples: { one: searchResults },
      },
    },
    faults: [
      {
        code: 'bad_request',
        description: 'The JSON is malformed, or a field is unknown or out of bounds. The message names the field.',
        message: 'Cannot search: the field "pageSize" must be at most 50',
      },
      {
        code: 'not_found',
        description: 'The domain does not exist, belongs to another organization, or has no search.',
        message: 'Cannot search "amce": there is no such domain',
      },
      {
        code: 'rate_limited',
        description: 'The rate limit is exceeded, or too many searches are queued.',
        message: 'Cannot process the request now: the organization has sent 10000 requests within the last hour',
      },
      {
        code: 'index_building',
        description: 'docshelf is still building the first index.',
        message: 'Cannot search "acme": docshelf is still building its first index',
      },
    ],
  },
  startExport: {
    ...common,
    method: 'POST',
    path: JOBS,
    act: 'export',
    summary: 'Start an export',
    description: 'Queues a job that exports a site into one self-contained bundle. Each domain runs one job at a time.',
    body: { schema: exportRequestSchema, examples: { site: exportRequest, pages: limitedRequest } },
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
        description: 'No source is configured for the domain.',
        message: 'Cannot export "acme": no source is configured',
      },
      {
        code: 'queue_full',
        description: 'The queue of the organization is full.',
        message: 'Cannot export "acme": 100 jobs of the organization are queued already',
      },
    ],
  },
  listExports: {
    ...common,
    method: 'GET',
    path: JOBS,
    act: 'list jobs',
    summary: 'List jobs, newest first',
    query: jobQuerySchema,
    answers: { 200: { description: 'A page of jobs.', schema: jobPageSchema, examples: { one: jobPage } } },
    faults: [noDomain, badField('Cannot list jobs: the field "limit" must be at most 100')],
  },
  getExport: {
    ...common,
    method: 'GET',
    path: `${JOBS}/{jobId}`,
    parameters: { jobId },
    act: 'show the job',
    summary: 'Show a job',
    description: 'Repeat the request every few seconds until `status` is `completed` or `failed`.',
    answers: {
      200: {
        description: 'The job.',
        schema: jobSchema,
        examples: { running: runningJob, completed: completedJob, canceled: canceledJob },
      },
    },
    faults: [noJob],
  },
  cancelExport: {
    ...common,
    method: 'DELETE',
    path: `${JOBS}/{jobId}`,
    parameters: { jobId },
    act: 'cancel the job',
    summary: 'Cancel a job',
    description:
      'A queued job ends immediately, a running job within a few seconds. Both get the status `failed` with the error `canceled`. A job that has ended does not change.',
    answers: { 202: { description: 'The job.', schema: jobSchema, examples: { canceled: canceledJob } } },
    faults: [noJob],
  },
  getExportReport: {
    ...common,
    method: 'GET',
    path: `${JOBS}/{jobId}/report`,
    parameters: { jobId },
    act: 'show the report',
    summary: 'Show the report of a job',
    answers: { 200: { description: 'The report.', schema: exportReportSchema, examples: { one: exportReport } } },
    faults: [noJob, notCompleted('The job has not ended.', `Cannot report on "${JOB_ID}": the job is running`)],
  },
  getExportPicture: {
    ...common,
    method: 'GET',
    path: `${JOBS}/{jobId}/report/pictures/{name}`,
    parameters: {
      jobId,
      name: {
        description: 'Name from a finding of kind `pictures` in the report.',
        schema: { type: 'string' },
        example: '1-written.png',
      },
    },
    act: 'show the picture',
    summary: 'Show a picture of a page from the report',
    answers: { 200: { description: 'The picture.', type: 'image/png' } },
    faults: [noJob],
  },
  linkBundle: {
    ...common,
    method: 'POST',
    path: `${JOBS}/{jobId}/bundle`,
    parameters: { jobId },
    act: 'link to the bundle',
    summary: 'Create a link to the bundle of a completed job',
    description: 'Send no body. Only the link expires. The bundle stays, so you can request a new link at any time.',
    body: null,
    answers: { 200: { description: 'The link.', schema: bundleLinkSchema, examples: { one: bundleLink } } },
    faults: [
      noJob,
      badField('Cannot read the request: the field "ttl" is not known'),
      notCompleted(
        'The job has not ended, or it failed.',
        `Cannot link to the bundle of "${JOB_ID}": the job is running`,
      ),
    ],
  },
});
