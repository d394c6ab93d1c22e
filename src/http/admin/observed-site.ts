import type { SearchResult } from '../../domain/search.ts';
import type { RuleFault } from '../../web/rules/index.ts';
import type { ReportedOrigin } from '../site/page-reports.ts';

/** What pages of a site do that an operator should see, piece by piece; `notices` of the status says the first of it in sentences. */
export interface SiteFindings {
  /** Of `features.enforce`. `off`: no browser reports anything. */
  readonly policy: 'off' | 'report' | 'on';
  readonly origins: readonly ReportedOrigin[];
  /** The first two hundred of each file. */
  readonly ruleFaults: readonly RuleFault[];
  readonly ruleFaultCount: number;
  /** Those of the status that say the same. */
  readonly notices: readonly string[];
}

/** A site as the console shows it, beside its status. */
export interface ObservedSite {
  /** Where readers find it. */
  readonly address: string;
  findings(): SiteFindings;
  /**
   * What the engine here finds in the active version, best first, with the reasons of each score.
   * @throws DocshelfError `search_off`, `index_building`, `queue_full`
   */
  search(query: string): Promise<readonly SearchResult[]>;
}
