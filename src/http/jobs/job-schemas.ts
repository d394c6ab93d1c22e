import { JOBS_LIMIT_MAX, jobSchema } from '../../domain/job.ts';
import { type ShapeOf, text } from '../../domain/shape.ts';

export const operatedJobSchema = {
  ...jobSchema,
  title: 'OperatedJob',
  required: [...jobSchema.required, 'organization'],
  properties: { ...jobSchema.properties, organization: text('That owns the site.') },
} as const;
export type OperatedJob = ShapeOf<typeof operatedJobSchema>;

export const jobBoardSchema = {
  title: 'JobBoard',
  type: 'object',
  required: ['jobs', 'domains'],
  properties: {
    jobs: {
      type: 'array',
      items: operatedJobSchema,
      maxItems: JOBS_LIMIT_MAX,
      description: 'The newest of all organizations.',
    },
    domains: { type: 'array', items: { type: 'string' }, description: 'Sites that can be exported.' },
  },
} as const;
export type JobBoard = ShapeOf<typeof jobBoardSchema>;
