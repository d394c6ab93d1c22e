import type { SearchResult } from '../../domain/search.ts';
import type { RuleFault } from '../../web/rules/index.ts';
import type { ReportedOrigin } from '../site/page-reports.ts';

/** Behaviour of a site's pages that an operator should see. `notices` of the status summarizes it in sentences. */
export interface SiteFindings {
  /** Mode of `features.enforce`. With `off`, browsers send no reports. */
  readonly policy: 'off' | 'report' | 'on';
  readonly origins: readonly ReportedOrigin[];
  /** The first two hundred of each file. */
  readonly ruleFaults: readonly RuleFault[];
  readonly ruleFaultCount: number;
  /** The notices of the status about the same findings. */
  readonly notices: readonly string[];
}

/** A site as the console shows it, beside its status. */
export interface ObservedSite {
  /** Address for readers. */
  readonly address: string;
  findings(): SiteFindings;
  /**
   * Searches the active version with the engine of this daemon. Results are best first, with the reasons of each score.
   * @throws DocshelfError `search_off`, `index_building`, `queue_full`
   */
  search(query: string): Promise<readonly SearchResult[]>;
}
