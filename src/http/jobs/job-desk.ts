import { DocshelfError, toDocshelfError } from '../../domain/errors.ts';
import { type ExportOrder, type ExportReport, JOBS_LIMIT_MAX, type Job } from '../../domain/job.ts';
import { EXPORTING_PLAN, type Organization, type OwnedSite, SiteDirectory } from '../../domain/organization.ts';
import { showName } from '../../domain/secret.ts';
import type { ExportService } from '../../export/index.ts';
import type { JobBoard, OperatedJob } from './job-schemas.ts';

/** Export jobs of all organizations, for who runs the daemon. @throws DocshelfError `export_off` where there are none here */
export interface JobActions {
  board(): Promise<JobBoard>;
  /** @throws DocshelfError `not_found` */
  get(jobId: string): Promise<OperatedJob>;
  /** @throws DocshelfError `not_found`, `not_completed` */
  report(jobId: string): Promise<ExportReport>;
  /** @throws DocshelfError `not_found` where no organization exports the domain; `queue_full` */
  start(order: ExportOrder): Promise<OperatedJob>;
  /** The same order once more. @throws DocshelfError as `get` and `start` do */
  retry(jobId: string): Promise<OperatedJob>;
  /** @throws DocshelfError `not_found` */
  cancel(jobId: string): Promise<OperatedJob>;
}

interface JobDeskOptions {
  /** Null where this daemon keeps no jobs. */
  readonly service: () => Promise<ExportService | null>;
  /** Of the config. */
  readonly organizations: () => readonly Organization[];
}

export class JobDesk implements JobActions {
  readonly #service: JobDeskOptions['service'];
  readonly #organizations: JobDeskOptions['organizations'];

  constructor({ service, organizations }: JobDeskOptions) {
    this.#service = service;
    this.#organizations = organizations;
  }

  async board(): Promise<JobBoard> {
    const service = await this.#open();
    const listed = this.#organizations().map(async ({ id }) => {
      const { jobs } = await service.list({ organizationId: id, limit: JOBS_LIMIT_MAX });
      return jobs.map((job) => ({ ...job, organization: id }));
    });
    const jobs = (await Promise.all(listed)).flat().sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
    const exporting = this.#organizations().filter(({ plan }) => plan === EXPORTING_PLAN);
    const sites = exporting.flatMap((each) => each.sites.filter(({ source }) => source !== null));
    return { jobs: jobs.slice(0, JOBS_LIMIT_MAX), domains: sites.map(({ domain }) => domain).sort() };
  }

  async get(jobId: string): Promise<OperatedJob> {
    const service = await this.#open();
    for (const { id } of this.#organizations()) {
      const job = await service.get(id, jobId).catch(nullIfUnknown);
      if (job !== null) return { ...job, organization: id };
    }
    throw new DocshelfError('not_found', `Cannot find "${showName(jobId)}": there is no such job`, {
      next: 'GET /v1/jobs lists the newest. Jobs of an organization that the config names no longer are not shown.',
    });
  }

  async report(jobId: string): Promise<ExportReport> {
    const { organization } = await this.get(jobId);
    return (await this.#open()).report(organization, jobId);
  }

  async start({ domain, version, paths }: ExportOrder): Promise<OperatedJob> {
    const service = await this.#open();
    const site = this.#siteOf(domain);
    return owned(await service.start(site, { version: version ?? null, paths: paths ?? null }), site);
  }

  async retry(jobId: string): Promise<OperatedJob> {
    const service = await this.#open();
    const site = this.#siteOf((await this.get(jobId)).domain);
    return owned(await service.retry(site, jobId), site);
  }

  async cancel(jobId: string): Promise<OperatedJob> {
    const { organization } = await this.get(jobId);
    return { ...(await (await this.#open()).cancel(organization, jobId)), organization };
  }

  async #open(): Promise<ExportService> {
    const service = await this.#service();
    if (service !== null) return service;
    throw new DocshelfError('export_off', 'Cannot answer: this daemon keeps no export jobs', {
      next: 'Turn them on by exportApi.enabled; with exportApi.role worker, ask the daemon whose role is api.',
    });
  }

  #siteOf(name: string): OwnedSite {
    const site = new SiteDirectory(this.#organizations()).find(name);
    if (site?.organization.plan === EXPORTING_PLAN) return site;
    throw new DocshelfError('not_found', `Cannot export "${showName(name)}": no organization exports such a domain`, {
      next: `Give the domain to an organization whose plan is ${EXPORTING_PLAN}, with its source.`,
    });
  }
}

const owned = (job: Job, { organization }: OwnedSite): OperatedJob => ({ ...job, organization: organization.id });

function nullIfUnknown(error: unknown): null {
  if (toDocshelfError(error).code === 'not_found') return null;
  throw error;
}
