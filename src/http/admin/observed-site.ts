import type { SearchResult } from '../../domain/search.ts';
import type { RuleFault } from '../../web/rules/index.ts';
import type { ReportedOrigin } from '../site/page-reports.ts';

export interface SiteFindings {
  /** Mode of `features.enforce`. With `off`, browsers send no reports. */
  readonly policy: 'off' | 'report' | 'on';
  readonly origins: readonly ReportedOrigin[];
  /** Invalid rules of the site, at most 200 per rule file. */
  readonly ruleFaults: readonly RuleFault[];
  readonly ruleFaultCount: number;
  readonly notices: readonly string[];
}

export interface ObservedSite {
  readonly address: string;
  findings(): SiteFindings;
  /** True if an earlier activation exists. A rollback to it can still fail, for example if the config pins a version. */
  canRollBack(): Promise<boolean>;
  /** Searches the site, and returns the best results first. @throws DocshelfError `search_off`, `index_building`, `queue_full` */
  search(query: string): Promise<readonly SearchResult[]>;
}
