import type { DeployEvent } from '../../deploy/index.ts';
import type { SiteMetrics } from '../../http/metrics/metrics.ts';
import type { SiteAssets } from '../../http/site/site-assets.ts';
import type { ShelfScope } from '../../http/site/site-search.ts';
import type { BodyCache } from '../../serve/index.ts';
import type { Tracer } from '../../traces/tracer.ts';
import type { Logger } from '../log/log.ts';
import type { Network } from '../network.ts';
import type { OpenedSearch } from '../open-search.ts';
import type { ShelfFolder } from './open-shelf.ts';
import type { OpenVersions } from './open-versions.ts';
import type { SignIns } from './sign-ins.ts';

/** What a daemon gives each of its sites. */
export interface SiteHost {
  readonly network: Network;
  readonly tracer: Tracer;
  readonly search: OpenedSearch;
  readonly folder: ShelfFolder;
  readonly bodies: BodyCache;
  /** Beside the active ones. */
  readonly versions: OpenVersions;
  readonly signIns: SignIns;
  readonly assets: SiteAssets;
  /** All sites that readers of one may know of. @param domain of that one */
  readonly shelfScope: (domain: string) => ShelfScope | null;
  readonly metrics: SiteMetrics;
  readonly log: Logger;
  readonly programVersion: string;
  readonly onProgress: (event: DeployEvent & { kind: 'progress' }) => void;
}
