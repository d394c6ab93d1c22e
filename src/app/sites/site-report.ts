import type { Config } from '../../config/index.ts';
import type { Deployment } from '../../deploy/index.ts';
import type { SiteReport } from '../../domain/status.ts';
import { printable } from '../../domain/text.ts';
import type { SiteFindings } from '../../http/admin/observed-site.ts';
import type { PageReports } from '../../http/site/page-reports.ts';
import type { SearchStatus, SiteSearch } from '../../search/index.ts';
import { enforcementOf } from '../slices.ts';
import type { SiteSwitch } from './site-switch.ts';

const SEARCH_OFF: SearchStatus = { keyword: 'off', semantic: 'off', sections: 0, embedded: 0 };

interface ReportedSite {
  readonly config: Config;
  readonly deployment: Deployment;
  readonly site: SiteSwitch;
  readonly localSearch: SiteSearch | null;
  readonly reports: PageReports;
  /** Of its compressed forms. */
}

/** What the status says of one site. */
export async function siteReport(reported: ReportedSite): Promise<SiteReport> {
  const { config, deployment, site, localSearch, reports } = reported;
  const [status, own] = await Promise.all([deployment.status(), site.notices()]);
  const { domain, pinned, versions, notices } = status;
  // Read together: a failed reload is never seen without its error.
  const { state, active, lastError, activity } = deployment;
  return {
    state,
    deployment: { type: config.deployment.type, domain },
    active,
    pinned,
    versions,
    lastError,
    search: localSearch?.status ?? SEARCH_OFF,
    notices: [...notices, ...own, ...reports.notices, ...(localSearch?.notices ?? [])].map(inOneLine),
    activity,
  };
}

export function siteFindings({
  config,
  site,
  reports,
}: Pick<ReportedSite, 'config' | 'site' | 'reports'>): SiteFindings {
  const { rules } = site;
  return {
    policy: enforcementOf(config),
    origins: reports.counts,
    ruleFaults: rules?.faults ?? [],
    ruleFaultCount: rules?.faultCount ?? 0,
    notices: [...(rules?.notices ?? []), ...reports.notices].map(inOneLine),
  };
}

/** Notices may quote rules, paths and titles of a bundle, and answers of servers. */
const inOneLine = (notice: string): string => printable(notice);
