import type { Config } from '../config/index.ts';
import type { OwnExportService } from '../deploy/ports.ts';
import { DocshelfError } from '../domain/errors.ts';
import type { ExportService } from '../export/index.ts';
import { organizationsSlice } from './slices.ts';

/** Interval to poll for completed exports, because another process that uses the same job queue can complete a job. */
const POLL_MS = 10_000;

interface OwnExportDeskOptions {
  /** Export service of this daemon, once it is open. Resolves to null if this daemon stores no exports. */
  readonly service: Promise<Pick<ExportService, 'newest' | 'read'> | null>;
  readonly config: () => Config;
  readonly onNewer: (domain: string) => void;
  readonly pollMs?: number;
}

export class OwnExportDesk implements OwnExportService {
  readonly #options: OwnExportDeskOptions;
  readonly #given = new Map<string, { readonly version: string | null; readonly jobId: string | null }>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();

  constructor(options: OwnExportDeskOptions) {
    this.#options = options;
  }

  readonly newest: OwnExportService['newest'] = async (domain, version) => {
    const found = await this.#find(domain, version);
    this.#given.set(domain, { version, jobId: found?.jobId ?? null });
    this.#timer ??= setInterval(() => this.look(), this.#options.pollMs ?? POLL_MS).unref();
    return found;
  };

  readonly read: OwnExportService['read'] = async (domain, jobId, signal) => {
    const exports = await this.#options.service;
    const organizationId = this.#organizationOf(domain);
    if (exports !== null && organizationId !== null) return exports.read(organizationId, jobId, signal);
    throw new DocshelfError(
      'no_bundle',
      `Cannot read export "${jobId}" of "${domain}": the domain belongs to no organization`,
      { next: `Add the domain ${domain} to an organization, with a source.`, fields: { retryable: false } },
    );
  };

  look(): void {
    this.#looking = this.#looking.then(() => this.#look());
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    for (const [domain, { version, jobId }] of this.#given) {
      const found = await this.#find(domain, version).catch(() => null);
      if (found === null || found.jobId === jobId) continue;
      this.#given.set(domain, { version, jobId: found.jobId });
      this.#options.onNewer(domain);
    }
  }

  async #find(domain: string, version: string | null): ReturnType<OwnExportService['newest']> {
    const organizationId = this.#organizationOf(domain);
    return organizationId === null
      ? null
      : ((await this.#options.service)?.newest(organizationId, domain, version) ?? null);
  }

  #organizationOf(domain: string): string | null {
    const owner = organizationsSlice(this.#options.config()).find(({ sites }) =>
      sites.some((site) => site.domain === domain),
    );
    return owner?.id ?? null;
  }
}
