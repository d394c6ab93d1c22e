import { DocshelfError } from '../../../domain/errors.ts';
import type { SiteStatusReport, StatusReport } from '../../../domain/status.ts';

/** As of a list, where there is one site too. */
export function shelfSites(status: StatusReport): readonly SiteStatusReport[] {
  return status.sites ?? [{ ...status, title: null, hosts: [], basePath: '/' }];
}

/** @throws DocshelfError `not_found` */
export function shelfSite(status: StatusReport, domain: string): SiteStatusReport {
  const site = shelfSites(status).find(({ deployment }) => deployment.domain === domain);
  if (site !== undefined) return site;
  throw new DocshelfError(
    'not_found',
    `Cannot show the site "${domain.slice(0, 200)}": this daemon has none of that domain`,
    {
      next: 'The page at / lists its sites.',
    },
  );
}

/** `handbook.acme.dev/guides/`; null: all hosts that no other site names. */
export function placeOf({ hosts, basePath }: SiteStatusReport): string {
  return hosts.length === 0 ? `All other hosts, path ${basePath}` : `${hosts.join(', ')} ${basePath}`;
}
