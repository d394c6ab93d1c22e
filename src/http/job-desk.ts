import { DocshelfError } from '../domain/errors.ts';
import {
  type ExportReport,
  type ExportRequestBody,
  JOBS_LIMIT_MAX,
  type Job,
  type JobFault,
  jobQuerySchema,
  jobSchema,
} from '../domain/job.ts';
import { EXPORTING_PLAN, type Organization, type OwnedSite, SiteDirectory } from '../domain/organization.ts';
import { showName } from '../domain/secret.ts';
import { objectOf, type ShapeOf, text, textOrNull } from '../domain/shape.ts';
import type { ExportService } from '../export/index.ts';

export const operatedJobSchema = {
  title: 'OperatedJob',
  ...objectOf({
    ...jobSchema.properties,
    organization: text('Organization that owns the site.'),
    fault: {
      ...objectOf({
        code: text('Error code.'),
        message: text('Error message, one sentence.'),
        next: textOrNull('What to do next.'),
      }),
      type: ['object', 'null'],
      description:
        'The parts of `error`. Null if the job did not fail, or if it failed in an older version of docshelf.',
    },
  }),
} as const;
export type OperatedJob = Omit<ShapeOf<typeof operatedJobSchema>, 'fault'> & { readonly fault: JobFault | null };

const { cursor } = jobQuerySchema.properties;
export const boardQuerySchema = { type: 'object', properties: { cursor }, additionalProperties: false } as const;

export const jobBoardSchema = {
  title: 'JobBoard',
  ...objectOf({
    jobs: {
      type: 'array',
      items: operatedJobSchema,
      maxItems: JOBS_LIMIT_MAX,
      description: 'Jobs of all organizations, newest first.',
    },
    nextCursor: textOrNull('Cursor of the next page. Null on the last page.'),
    domains: { type: 'array', items: { type: 'string' }, description: 'Sites that can be exported.' },
  }),
} as const;
export type JobBoard = Omit<ShapeOf<typeof jobBoardSchema>, 'jobs'> & { readonly jobs: readonly OperatedJob[] };

export type JobActions = Pick<JobDesk, 'board' | 'get' | 'report' | 'start' | 'retry' | 'cancel'>;

interface JobDeskOptions {
  readonly service: () => Promise<ExportService | null>;
  readonly organizations: () => readonly Organization[];
}

export class JobDesk {
  readonly #options: JobDeskOptions;

  constructor(options: JobDeskOptions) {
    this.#options = options;
  }

  /** Lists jobs. @param cursor `nextCursor` of the previous page. Null starts with the newest job @throws DocshelfError `bad_request` */
  async board(cursor: string | null): Promise<JobBoard> {
    const service = await this.#open();
    const page = await service.listOwned({ limit: JOBS_LIMIT_MAX, ...(cursor !== null && { cursor }) });
    const exporting = this.#options.organizations().filter(({ plan }) => plan === EXPORTING_PLAN);
    const sites = exporting.flatMap((each) => each.sites.filter(({ source }) => source !== null));
    return { ...page, domains: sites.map(({ domain }) => domain).sort() };
  }

  async get(jobId: string): Promise<OperatedJob> {
    return (await this.#open()).owned(jobId);
  }

  async report(jobId: string): Promise<ExportReport> {
    const { organization } = await this.get(jobId);
    return (await this.#open()).report(organization, jobId);
  }

  /** Starts an export. @throws DocshelfError `not_found` if no organization can export the domain; `queue_full` */
  async start({ domain, version, paths }: ExportRequestBody): Promise<OperatedJob> {
    const service = await this.#open();
    const site = this.#siteOf(domain);
    return queued(await service.start(site, { version: version ?? null, paths: paths ?? null }), site);
  }

  /** Starts the export of an earlier job again. @throws DocshelfError the codes of `get` and `start` */
  async retry(jobId: string): Promise<OperatedJob> {
    const service = await this.#open();
    const site = this.#siteOf((await this.get(jobId)).domain);
    return queued(await service.retry(site, jobId), site);
  }

  async cancel(jobId: string): Promise<OperatedJob> {
    const { organization } = await this.get(jobId);
    await (await this.#open()).cancel(organization, jobId);
    return this.get(jobId);
  }

  async #open(): Promise<ExportService> {
    const service = await this.#options.service();
    if (service !== null) return service;
    throw new DocshelfError('export_off', 'Cannot access export jobs: the export API is off in this daemon', {
      next: 'Set exportApi.enabled. If exportApi.role is worker, use the daemon with the role api.',
    });
  }

  #siteOf(name: string): OwnedSite {
    const site = new SiteDirectory(this.#options.organizations()).find(name);
    if (site?.organization.plan === EXPORTING_PLAN) return site;
    throw new DocshelfError(
      'not_found',
      `Cannot export "${showName(name)}": no organization with static exports has this domain`,
      {
        next: `Add the domain, with its source, to an organization with the plan ${EXPORTING_PLAN}.`,
      },
    );
  }
}

const queued = (job: Job, { organization }: OwnedSite): OperatedJob => ({
  ...job,
  organization: organization.id,
  fault: null,
});
