import { Secret } from '../../domain/secret.ts';
import type { BundleSource, FreshLink, LinkSource, OpenedBundle, OpenRequest, OwnExportService } from '../ports.ts';

/** Internal link `export://<domain>/<jobId>`, never part of a config. */
const LINK = /^export:\/\/([^/]+)\/([^/]+)$/;

export class OwnExports implements BundleSource, Pick<LinkSource, 'freshLink'> {
  readonly links = LINK;
  readonly #service: OwnExportService;
  readonly #domain: () => string;

  constructor(service: OwnExportService, domain: () => string) {
    this.#service = service;
    this.#domain = domain;
  }

  async freshLink(version: string | null): Promise<FreshLink | null> {
    const domain = this.#domain();
    const found = await this.#service.newest(domain, version);
    return found && { ...found, link: new Secret(`export://${domain}/${found.jobId}`) };
  }

  async open(link: Secret, { signal }: OpenRequest): Promise<OpenedBundle> {
    const [, domain = '', jobId = ''] = LINK.exec(link.reveal()) ?? [];
    const { stream, sizeBytes, fileName } = await this.#service.read(domain, jobId, signal);
    return {
      stream,
      offset: 0,
      totalBytes: sizeBytes,
      endIsCertain: true,
      etag: null,
      fileName,
      close: () => undefined,
    };
  }
}
