import { exportReportSchema, exportRequestSchema, jobIdSchema } from '../../domain/job.ts';
import type { Operation } from '../../domain/operation.ts';
import { boardQuerySchema, jobBoardSchema, operatedJobSchema } from '../jobs/job-schemas.ts';
import { acting, badField, reading, secret } from './operation-kinds.ts';

const tag = {
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
  message: 'Cannot export "acme": nothing says where its site comes from',
} as const;

export const jobOperations = {
  listJobs: {
    ...reading,
    tag,
    id: 'listJobs',
    path: '/v1/jobs',
    summary: 'List export jobs, and the sites that can be exported',
    query: boardQuerySchema,
    answers: { 200: { description: 'The jobs, the newest first.', schema: jobBoardSchema } },
    faults: [badField('Cannot list jobs from "x": it is no cursor'), off],
  },
  startJob: {
    ...acting,
    tag,
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
    tag,
    id: 'showJob',
    path: '/v1/jobs/{jobId}',
    summary: 'Show a job',
    parameters,
    answers: { 200: job('The job.') },
    faults: [noJob, off],
  },
  showReport: {
    ...secret,
    tag,
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
    tag,
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
    tag,
    id: 'cancelJob',
    method: 'DELETE',
    path: '/v1/jobs/{jobId}',
    summary: 'Cancel a job',
    parameters,
    answers: { 202: job('The job: a queued one is over, a running one within moments.') },
    faults: [noJob, off],
  },
} as const satisfies Readonly<Record<string, Operation>>;
