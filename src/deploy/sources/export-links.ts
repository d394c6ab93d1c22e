import { DocshelfError } from '../../domain/errors.ts';
import type { BundleAnswer, JobAnswer } from '../../domain/job.ts';
import type { FreshLink, LinkSource } from '../ports.ts';
import type { RenewSettings } from '../settings.ts';
import type { ExportServiceClient } from './export-service.ts';

type ExportCaller = Pick<ExportServiceClient, 'start' | 'wait' | 'bundle' | 'completedJobs'>;

/** A service gives an export an hour by default; others may wait before it. */
const EXPORT_MS_MAX = 4 * 3600_000;

export class ExportLinks implements LinkSource {
  readonly #service: ExportCaller;
  readonly #settings: Pick<RenewSettings, 'domain' | 'jobId'>;

  constructor(service: ExportCaller, settings: Pick<RenewSettings, 'domain' | 'jobId'>) {
    this.#service = service;
    this.#settings = settings;
  }

  async freshLink(version: string | null, signal: AbortSignal): Promise<FreshLink | null> {
    const { jobId, domain } = this.#settings;
    if (jobId !== null) return this.#linkOf(jobId, signal);
    const jobs = domain === null ? null : await this.#service.completedJobs(domain, signal);
    const job = jobs?.find((candidate) => isMeant(candidate, version));
    return job === undefined ? null : this.#linkOf(job.jobId, signal);
  }

  async startExport(version: string | null, signal: AbortSignal): Promise<string> {
    const { domain } = this.#settings;
    if (domain === null) {
      throw new DocshelfError('config_invalid', 'Cannot start an export: no domain is set for it', {
        next: 'Set staticExport.renew.domain.',
      });
    }
    return (await this.#service.start({ domain, version, paths: null }, signal)).jobId;
  }

  async linkWhenDone(jobId: string, signal: AbortSignal): Promise<FreshLink> {
    await this.#service.wait(jobId, { timeoutMs: EXPORT_MS_MAX, signal });
    return this.#linkOf(jobId, signal);
  }

  async #linkOf(jobId: string, signal: AbortSignal): Promise<FreshLink> {
    const { bundleUrl, sha256, signature }: BundleAnswer = await this.#service.bundle(jobId, signal);
    return { jobId, link: bundleUrl, sha256, signature };
  }
}

/** A pinned version is the export of that label, and no other. */
function isMeant(job: JobAnswer, version: string | null): boolean {
  return version === null || job.version === version;
}
