import { exportReportSchema, exportRequestSchema, jobIdSchema } from '../../domain/job.ts';
import type { UnnamedOperation } from '../../domain/operation.ts';
import { boardQuerySchema, jobBoardSchema, operatedJobSchema } from '../job-desk.ts';
import { createdKeySchema, keyListSchema, newKeySchema } from '../keys/key-schemas.ts';

const reading = { method: 'GET', security: null, act: 'answer' } as const;
export const health = {
  ...reading,
  tag: { name: 'Health', description: 'Endpoints for probes and Prometheus.' },
} as const;
export const state = { ...reading, tag: { name: 'State', description: 'State of the daemon and its sites.' } } as const;
export const acting = {
  act: 'act',
  tag: {
    name: 'Actions',
    description: 'Actions of the daemon. Through the socket of the data folder, they need no token.',
  },
  security: {
    name: 'adminToken',
    description: '`admin.token` of the config. If it is not set, every action returns 403.',
    faults: [
      {
        code: 'unauthorized',
        description: 'The token is missing or wrong.',
        message: 'Cannot authorize the request: it has no bearer token',
      },
      {
        code: 'forbidden',
        description: '`admin.token` is not set.',
        message: 'Cannot authorize the request: no admin.token is set',
      },
    ],
  },
} as const;
const badField = (message: string) =>
  ({
    code: 'bad_request',
    description: 'A field is missing, unknown or out of bounds. The message names the field.',
    message,
  }) as const;
export const secret = { ...acting, method: 'GET', act: 'answer' } as const;

const jobTag = {
  name: 'Jobs',
  description: 'Export jobs of all organizations. On the API listener, a key shows only jobs of its organization.',
} as const;
const parameters = {
  jobId: { description: 'ID from the list.', schema: jobIdSchema, example: 'se_4f1c09a7e2b85d36' },
} as const;
const job = (description: string) => ({ description, schema: operatedJobSchema }) as const;

const off = {
  code: 'export_off',
  description: 'The export API is off in this daemon.',
  message: 'Cannot access export jobs: the export API is off in this daemon',
} as const;
const noJob = {
  code: 'not_found',
  description: 'The job does not exist.',
  message: 'Cannot find "se_4f1c09a7e2b85d36": there is no such job',
} as const;
const full = {
  code: 'queue_full',
  description: 'The queue of the organization is full.',
  message: 'Cannot export "acme": 100 jobs of the organization are queued already',
} as const;
const noSource = {
  code: 'no_source',
  description: 'The domain has no source for exports.',
  message: 'Cannot export "acme": no source is configured',
} as const;

export const jobOperations = {
  listJobs: {
    ...reading,
    tag: jobTag,
    path: '/v1/jobs',
    summary: 'List export jobs, and the sites that can be exported',
    query: boardQuerySchema,
    answers: { 200: { description: 'The jobs, newest first.', schema: jobBoardSchema } },
    faults: [badField('Cannot list jobs from "x": it is not a cursor'), off],
  },
  startJob: {
    ...acting,
    tag: jobTag,
    act: 'export',
    method: 'POST',
    path: '/v1/jobs',
    summary: 'Start an export of a site',
    body: { schema: exportRequestSchema, examples: { site: { domain: 'acme', version: '2024-06-01' } } },
    answers: { 202: job('The queued job.') },
    faults: [
      badField('Cannot export: the field "domain" is missing'),
      {
        ...noJob,
        description: 'The domain belongs to no organization with static exports.',
        message: 'Cannot export "amce": no organization with static exports has this domain',
      },
      noSource,
      full,
      off,
    ],
  },
  showJob: {
    ...reading,
    tag: jobTag,
    path: '/v1/jobs/{jobId}',
    summary: 'Show a job',
    parameters,
    answers: { 200: job('The job.') },
    faults: [noJob, off],
  },
  showReport: {
    ...secret,
    tag: jobTag,
    path: '/v1/jobs/{jobId}/report',
    summary: 'Show the report of a job',
    parameters,
    answers: { 200: { description: 'The report.', schema: exportReportSchema } },
    faults: [
      noJob,
      {
        code: 'not_completed',
        description: 'The job has not ended.',
        message: 'Cannot report on "se_4f1c09a7e2b85d36": the job is running',
      },
      off,
    ],
  },
  retryJob: {
    ...acting,
    tag: jobTag,
    method: 'POST',
    path: '/v1/jobs/{jobId}/retry',
    summary: 'Retry a job',
    parameters,
    answers: { 202: job('The new job.') },
    faults: [noJob, noSource, full, off],
  },
  cancelJob: {
    ...acting,
    tag: jobTag,
    method: 'DELETE',
    path: '/v1/jobs/{jobId}',
    summary: 'Cancel a job',
    parameters,
    answers: { 202: job('The job. A queued job ends immediately, a running job within a few seconds.') },
    faults: [noJob, off],
  },
} as const satisfies Readonly<Record<string, UnnamedOperation>>;

const keyTag = {
  name: 'Keys',
  description:
    'API keys of organizations, created while the daemon runs. The list also contains the keys of the config.',
} as const;

const noOrganization = {
  code: 'not_found',
  description: 'The organization is not in the config.',
  message: 'Cannot create a key: there is no organization "globex"',
} as const;
const damaged = {
  code: 'cannot_read',
  description: 'The key file is damaged. Keys that were already loaded stay valid.',
  message: 'Cannot read the keys in "data/keys.json": the file is damaged (key 3 of 7)',
} as const;
const away = {
  code: 'database_unavailable',
  description: 'The key database is not available. Keys that were already loaded stay valid.',
  message: 'Cannot use the database: connect ECONNREFUSED 10.0.0.7:5432',
} as const;

export const keyOperations = {
  listKeys: {
    ...secret,
    tag: keyTag,
    path: '/v1/keys',
    summary: 'List API keys',
    query: {
      type: 'object',
      properties: { organization: { type: 'string', description: 'List only the keys of this organization.' } },
      additionalProperties: false,
    },
    answers: {
      200: {
        description: 'The keys: first the keys of the config, then the others, newest first.',
        schema: keyListSchema,
      },
    },
    faults: [{ ...noOrganization, message: 'Cannot list the keys: there is no organization "globex"' }, damaged, away],
  },
  createKey: {
    ...acting,
    tag: keyTag,
    act: 'create a key',
    method: 'POST',
    path: '/v1/keys',
    summary: 'Create an API key',
    body: {
      schema: newKeySchema,
      examples: {
        'For the search box of a site': { organization: 'acme-inc', type: 'assistant', name: 'website' },
        'For a pipeline, with an expiry date': {
          organization: 'acme-inc',
          type: 'admin',
          name: 'ci',
          expiresAt: '2027-12-31T00:00:00Z',
        },
      },
    },
    answers: { 201: { description: 'The key. docshelf shows it only once.', schema: createdKeySchema } },
    faults: [badField('Cannot create a key: the field "expiresAt" is in the past'), noOrganization, damaged, away],
  },
  revokeKey: {
    ...acting,
    tag: keyTag,
    method: 'DELETE',
    path: '/v1/keys/{id}',
    summary: 'Revoke an API key',
    description: 'Other daemons on the data folder or the database reject the key within 5 seconds.',
    parameters: {
      id: { description: 'ID from the list.', schema: { type: 'string' }, example: 'key_4f1c09a7e2b85d36' },
    },
    answers: { 204: { description: 'The key was revoked.' } },
    faults: [
      {
        code: 'not_found',
        description: 'The key does not exist.',
        message: 'Cannot revoke "key_0": there is no such key',
      },
      {
        code: 'key_of_config',
        description: 'The config contains the key. Remove the key from the config.',
        message: 'Cannot revoke "ci": it is in the config',
      },
      damaged,
      away,
    ],
  },
} as const satisfies Readonly<Record<string, UnnamedOperation>>;
