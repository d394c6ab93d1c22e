import {
  bundleLinkExample,
  canceledJobExample,
  completedJobExample,
  exportReportExample,
  exportRequestExample,
  jobPageExample,
  limitedRequestExample,
  queuedJobExample,
  runningJobExample,
} from './export-examples.ts';
import {
  bundleLinkSchema,
  exportReportSchema,
  exportRequestSchema,
  jobIdSchema,
  jobPageSchema,
  jobQuerySchema,
  jobSchema,
} from './export-schema.ts';
import {
  type Answers,
  bodyFaults,
  faultAnswer,
  jsonContent,
  keyFaults,
  requestIdHeader,
  retryAfterHeader,
} from './openapi-problem.ts';

const JOB_ID = queuedJobExample.jobId;

const jobIdParameter = {
  name: 'jobId',
  in: 'path',
  required: true,
  description: 'As the start of the export answered it.',
  schema: jobIdSchema,
  example: JOB_ID,
};

const pictureNameParameter = {
  name: 'name',
  in: 'path',
  required: true,
  description: 'As a finding of kind `pictures` in the report names it.',
  schema: { type: 'string' },
  example: '1-written.png',
};

const operation = (operationId: string, summary: string, rest: object): object => ({
  operationId,
  tags: ['Static export'],
  security: [{ adminKey: [] }],
  summary,
  ...rest,
});

const answer = (description: string, content: object, headers: object = {}) => ({
  description,
  headers: { 'X-Request-Id': requestIdHeader, ...headers },
  content,
});

const keys = keyFaults('admin', ', or the plan of its organization has no static exports');
const noJob = faultAnswer(
  'not_found',
  "There is no such job, or it is another organization's.",
  `Cannot show "${JOB_ID}": there is no such job`,
);
const noDomain = faultAnswer(
  'not_found',
  "There is no such domain, or it is another organization's.",
  'Cannot export "amce": there is no such domain',
);
const badField = (message: string): Answers =>
  faultAnswer(
    'bad_request',
    'Malformed JSON, or a field or parameter that is unknown or out of bounds; the message names it.',
    message,
  );

const start = operation('startExport', 'Starts an export', {
  description: 'Queues a job that exports a site into one self-contained bundle. One job of a domain runs at a time.',
  requestBody: {
    required: true,
    description: 'At most 64 KiB.',
    content: jsonContent('ExportRequest', { site: exportRequestExample, pages: limitedRequestExample }),
  },
  responses: {
    202: answer('The job.', jsonContent('Job', { queued: queuedJobExample }), {
      Location: { description: 'Path of the job.', schema: { type: 'string', format: 'uri-reference' } },
      'Retry-After': retryAfterHeader,
    }),
    ...keys,
    ...noDomain,
    ...bodyFaults(),
    ...badField('Cannot export: the field "paths[3]" must be a path on the site'),
    ...faultAnswer(
      'no_source',
      'The domain can only be searched: nothing says where its site comes from.',
      'Cannot export "acme": nothing says where its site comes from',
    ),
    ...faultAnswer(
      'queue_full',
      'As many jobs of the organization wait as may.',
      'Cannot export "acme": 100 jobs of the organization wait already',
    ),
  },
});

const list = operation('listExports', 'Lists jobs, newest first', {
  parameters: Object.entries(jobQuerySchema.properties).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: false,
    description,
    schema,
  })),
  responses: {
    200: answer('A page of jobs.', jsonContent('JobPage', { one: jobPageExample })),
    ...keys,
    ...noDomain,
    ...badField('Cannot list jobs: the field "limit" must be at most 100'),
  },
});

const get = operation('getExport', 'Shows a job', {
  description: 'Ask every few seconds until `status` is `completed` or `failed`.',
  responses: {
    200: answer(
      'The job.',
      jsonContent('Job', { running: runningJobExample, completed: completedJobExample, canceled: canceledJobExample }),
    ),
    ...keys,
    ...noJob,
  },
});

const cancel = operation('cancelExport', 'Asks a job to stop', {
  description:
    'A queued job ends at once, a running one within moments; both as `failed` with the error `canceled`. One that is over stays as it is.',
  responses: {
    202: answer('The job.', jsonContent('Job', { canceled: canceledJobExample })),
    ...keys,
    ...noJob,
  },
});

const report = operation('getExportReport', 'Shows what was exported, left out and found wrong', {
  responses: {
    200: answer('The report.', jsonContent('ExportReport', { one: exportReportExample })),
    ...keys,
    ...noJob,
    ...faultAnswer('not_completed', 'The job is not over.', `Cannot report on "${JOB_ID}": the job is running`),
  },
});

const picture = operation('getExportPicture', 'Shows a page that was found wrong, live or as it is written', {
  responses: {
    200: answer('The picture.', { 'image/png': {} }),
    ...keys,
    ...noJob,
  },
});

const bundle = operation('linkBundle', 'Links to the bundle of a completed job', {
  description:
    'Takes no body. Only the link expires, the bundle stays: the call may be repeated, and each time the link works.',
  responses: {
    200: answer('The link.', jsonContent('BundleLink', { one: bundleLinkExample })),
    ...keys,
    ...noJob,
    ...bodyFaults(),
    ...badField('Cannot read the request: the field "ttl" is not known'),
    ...faultAnswer(
      'not_completed',
      'The job is not over, or it failed.',
      `Cannot link to the bundle of "${JOB_ID}": the job is running`,
    ),
  },
});

/** The static export API (contract, section 6). */
export const exportPart = {
  tag: { name: 'Static export', description: 'Jobs that export a site into one self-contained bundle.' },
  securitySchemes: {
    adminKey: {
      type: 'http',
      scheme: 'bearer',
      description:
        'An admin key, `svc_…`, of an organization on the enterprise plan. It is a secret: keep it on servers.',
    },
  },
  schemas: {
    ExportRequest: exportRequestSchema,
    Job: jobSchema,
    JobPage: jobPageSchema,
    BundleLink: bundleLinkSchema,
    ExportReport: exportReportSchema,
  },
  paths: {
    '/v1/static-export/jobs': { post: start, get: list },
    '/v1/static-export/jobs/{jobId}': { parameters: [jobIdParameter], get, delete: cancel },
    '/v1/static-export/jobs/{jobId}/report': { parameters: [jobIdParameter], get: report },
    '/v1/static-export/jobs/{jobId}/report/pictures/{name}': {
      parameters: [jobIdParameter, pictureNameParameter],
      get: picture,
    },
    '/v1/static-export/jobs/{jobId}/bundle': { parameters: [jobIdParameter], post: bundle },
  },
};
