import { exportReportSchema, exportRequestSchema, jobIdSchema } from '../../domain/job.ts';
import type { Operation } from '../../domain/operation.ts';
import { boardQuerySchema, jobBoardSchema, operatedJobSchema } from '../job-desk.ts';
import { createdKeySchema, keyListSchema, newKeySchema } from '../keys/key-schemas.ts';

const reading = { method: 'GET', security: null, act: 'answer' } as const;
export const health = { ...reading, tag: { name: 'Health', description: 'For probes and scrapers.' } } as const;
export const state = {
  ...reading,
  tag: { name: 'State', description: 'What the daemon serves and how it is.' },
} as const;
export const acting = {
  act: 'act',
  tag: { name: 'Actions', description: 'What the daemon can be told to do. Through its socket they need no token.' },
  security: {
    name: 'adminToken',
    description: '`admin.token` of the config. Where none is set, every action is refused.',
    faults: [
      {
        code: 'unauthorized',
        description: 'No token, or another one.',
        message: 'Cannot act: the request carries no bearer token',
      },
      {
        code: 'forbidden',
        description: 'No token is set.',
        message: 'Cannot act: no admin token is set, and without one every action is refused',
      },
    ],
  },
} as const;
const badField = (message: string) =>
  ({
    code: 'bad_request',
    description: 'A field is missing, unknown or out of bounds; the message names it.',
    message,
  }) as const;
export const secret = { ...acting, method: 'GET', act: 'answer' } as const;

const jobTag = {
  name: 'Jobs',
  description: 'Export jobs of all organizations. The API listener has them for the organization of a key.',
} as const;
const parameters = {
  jobId: { description: 'As the list has it.', schema: jobIdSchema, example: 'se_4f1c09a7e2b85d36' },
} as const;
const job = (description: string) => ({ description, schema: operatedJobSchema }) as const;

const off = {
  code: 'export_off',
  description: 'This daemon keeps no export jobs.',
  message: 'Cannot answer: this daemon keeps no export jobs',
} as const;
const noJob = {
  code: 'not_found',
  description: 'No such job.',
  message: 'Cannot find "se_4f1c09a7e2b85d36": there is no such job',
} as const;
const full = {
  code: 'queue_full',
  description: 'As many jobs of the organization wait as may.',
  message: 'Cannot export "acme": 100 jobs of the organization wait already',
} as const;
const noSource = {
  code: 'no_source',
  description: 'The domain can only be searched.',
  message: 'Cannot export "acme": no source is configured',
} as const;

export const jobOperations = {
  listJobs: {
    ...reading,
    tag: jobTag,
    id: 'listJobs',
    path: '/v1/jobs',
    summary: 'List export jobs, and the sites that can be exported',
    query: boardQuerySchema,
    answers: { 200: { description: 'The jobs, the newest first.', schema: jobBoardSchema } },
    faults: [badField('Cannot list jobs from "x": it is no cursor'), off],
  },
  startJob: {
    ...acting,
    tag: jobTag,
    act: 'export',
    id: 'startJob',
    method: 'POST',
    path: '/v1/jobs',
    summary: 'Start an export of a site',
    body: { schema: exportRequestSchema, examples: { site: { domain: 'acme', version: '2024-06-01' } } },
    answers: { 202: job('The job, queued.') },
    faults: [
      badField('Cannot export: the field "domain" is missing'),
      {
        ...noJob,
        description: 'No organization exports the domain.',
        message: 'Cannot export "amce": no organization exports such a domain',
      },
      noSource,
      full,
      off,
    ],
  },
  showJob: {
    ...reading,
    tag: jobTag,
    id: 'showJob',
    path: '/v1/jobs/{jobId}',
    summary: 'Show a job',
    parameters,
    answers: { 200: job('The job.') },
    faults: [noJob, off],
  },
  showReport: {
    ...secret,
    tag: jobTag,
    id: 'showReport',
    path: '/v1/jobs/{jobId}/report',
    summary: 'Show the report of a job',
    parameters,
    answers: { 200: { description: 'The report.', schema: exportReportSchema } },
    faults: [
      noJob,
      {
        code: 'not_completed',
        description: 'The job is not over.',
        message: 'Cannot report on "se_4f1c09a7e2b85d36": the job is running',
      },
      off,
    ],
  },
  retryJob: {
    ...acting,
    tag: jobTag,
    id: 'retryJob',
    method: 'POST',
    path: '/v1/jobs/{jobId}/retry',
    summary: 'Start a job again',
    parameters,
    answers: { 202: job('The new job.') },
    faults: [noJob, noSource, full, off],
  },
  cancelJob: {
    ...acting,
    tag: jobTag,
    id: 'cancelJob',
    method: 'DELETE',
    path: '/v1/jobs/{jobId}',
    summary: 'Cancel a job',
    parameters,
    answers: { 202: job('The job: a queued one is over, a running one within moments.') },
    faults: [noJob, off],
  },
} as const satisfies Readonly<Record<string, Operation>>;

const keyTag = {
  name: 'Keys',
  description: 'Keys of organizations, made while the daemon runs. Those of the config are listed, too.',
} as const;

const noOrganization = {
  code: 'not_found',
  description: 'The config has no such organization.',
  message: 'Cannot make a key: there is no organization "globex"',
} as const;
const damaged = {
  code: 'cannot_read',
  description: 'The file of keys is damaged; keys as last read hold on.',
  message: 'Cannot read the keys in "data/keys.json": the file is damaged (key 3 of 7)',
} as const;
const away = {
  code: 'database_unavailable',
  description: 'Keys are in a database that is away; keys as last read hold on.',
  message: 'Cannot use the database: connect ECONNREFUSED 10.0.0.7:5432',
} as const;

export const keyOperations = {
  listKeys: {
    ...secret,
    tag: keyTag,
    id: 'listKeys',
    path: '/v1/keys',
    summary: 'List API keys',
    query: {
      type: 'object',
      properties: { organization: { type: 'string', description: 'That one alone.' } },
      additionalProperties: false,
    },
    answers: { 200: { description: 'The keys, those of the config first, then the newest.', schema: keyListSchema } },
    faults: [{ ...noOrganization, message: 'Cannot list the keys: there is no organization "globex"' }, damaged, away],
  },
  createKey: {
    ...acting,
    tag: keyTag,
    act: 'make a key',
    id: 'createKey',
    method: 'POST',
    path: '/v1/keys',
    summary: 'Create an API key',
    body: {
      schema: newKeySchema,
      examples: {
        'For the search box of a site': { organization: 'acme-inc', type: 'assistant', name: 'website' },
        'For a pipeline, for a while': {
          organization: 'acme-inc',
          type: 'admin',
          name: 'ci',
          expiresAt: '2027-12-31T00:00:00Z',
        },
      },
    },
    answers: { 201: { description: 'The key, shown this once.', schema: createdKeySchema } },
    faults: [badField('Cannot make a key: the field "expiresAt" lies in the past'), noOrganization, damaged, away],
  },
  revokeKey: {
    ...acting,
    tag: keyTag,
    id: 'revokeKey',
    method: 'DELETE',
    path: '/v1/keys/{id}',
    summary: 'Revoke an API key',
    description: 'Other daemons on the data folder or the database refuse it within 5 seconds.',
    parameters: {
      id: { description: 'As the list has it.', schema: { type: 'string' }, example: 'key_4f1c09a7e2b85d36' },
    },
    answers: { 204: { description: 'It is gone.' } },
    faults: [
      { code: 'not_found', description: 'No such key.', message: 'Cannot revoke "key_0": there is no such key' },
      {
        code: 'key_of_config',
        description: 'It is a key of the config, and revoked there.',
        message: 'Cannot revoke "ci": it is a key of the config',
      },
      damaged,
      away,
    ],
  },
} as const satisfies Readonly<Record<string, Operation>>;
