import { Secret } from '../../domain/secret.ts';
import type { BundleSource, LinkSource, OwnExportService } from '../ports.ts';

/** Internal link `export://<domain>/<jobId>`, never part of a config. */
const LINK = /^export:\/\/([^/]+)\/([^/]+)$/;

export function ownExports(
  service: OwnExportService,
  domainNow: () => string,
): BundleSource & Pick<LinkSource, 'freshLink'> {
  return {
    links: LINK,
    freshLink: async (version) => {
      const domain = domainNow();
      const found = await service.newest(domain, version);
      return found && { ...found, link: new Secret(`export://${domain}/${found.jobId}`) };
    },
    open: async (link, { signal }) => {
      const [, domain = '', jobId = ''] = LINK.exec(link.reveal()) ?? [];
      const { stream, sizeBytes, fileName } = await service.read(domain, jobId, signal);
      return {
        stream,
        offset: 0,
        totalBytes: sizeBytes,
        endIsCertain: true,
        etag: null,
        fileName,
        close: () => undefined,
      };
    },
  };
}
