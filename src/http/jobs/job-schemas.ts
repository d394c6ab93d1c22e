import { JOBS_LIMIT_MAX, type JobFault, jobQuerySchema, jobSchema } from '../../domain/job.ts';
import { type ShapeOf, text, textOrNull } from '../../domain/shape.ts';

export const operatedJobSchema = {
  ...jobSchema,
  title: 'OperatedJob',
  required: [...jobSchema.required, 'organization', 'fault'],
  properties: {
    ...jobSchema.properties,
    organization: text('That owns the site.'),
    fault: {
      type: ['object', 'null'],
      description: '`error` in parts; null where the job has not failed, or did so before docshelf kept them.',
      required: ['code', 'message', 'next'],
      properties: {
        code: text('Name of the fault.'),
        message: text('What is wrong, one sentence.'),
        next: textOrNull('What to do next.'),
      },
    },
  },
} as const;
export type OperatedJob = Omit<ShapeOf<typeof operatedJobSchema>, 'fault'> & { readonly fault: JobFault | null };

const { cursor } = jobQuerySchema.properties;
export const boardQuerySchema = { type: 'object', properties: { cursor }, additionalProperties: false } as const;

export const jobBoardSchema = {
  title: 'JobBoard',
  type: 'object',
  required: ['jobs', 'nextCursor', 'domains'],
  properties: {
    jobs: {
      type: 'array',
      items: operatedJobSchema,
      maxItems: JOBS_LIMIT_MAX,
      description: 'Of all organizations, newest first.',
    },
    nextCursor: textOrNull('For the next page; null where there is none.'),
    domains: { type: 'array', items: { type: 'string' }, description: 'Sites that can be exported.' },
  },
} as const;
export type JobBoard = Omit<ShapeOf<typeof jobBoardSchema>, 'jobs'> & { readonly jobs: readonly OperatedJob[] };
