import { dirname } from 'node:path';
import type { Config } from '../config/index.ts';
import type { DeployEvent, PrepareSwap } from '../deploy/index.ts';
import type { ReleaseView } from '../domain/release.ts';
import { Metrics } from '../http/metrics/metrics.ts';
import type { IndexedRelease, SiteSearch } from '../search/index.ts';
import { SiteServer, SiteSnapshot, type SnapshotForm } from '../serve/index.ts';
import { normalBasePath } from '../web/mount/base-path.ts';
import type { Logger } from './log.ts';
import { logDeployEvent, logFailure, logSearchEvent } from './log-events.ts';
import { Network } from './network.ts';
import { openSearch } from './open-search.ts';
import { type OpenedShelf, openShelf } from './shelf.ts';

/** Deploy swaps; serve and search follow in the same tick. */
export interface SiteParts {
  readonly shelf: OpenedShelf;
  readonly server: SiteServer;
  readonly site: SiteSwitch;
  readonly search: SiteSearch | null;
  readonly network: Network;
  readonly metrics: Metrics;
}

export async function openSiteParts(
  config: Config,
  log: Logger,
  onProgress: (event: DeployEvent & { kind: 'progress' }) => void,
): Promise<SiteParts> {
  const metrics = new Metrics();
  const network = new Network(config);
  const server = new SiteServer(config.server, {
    onCache: (isHit) => metrics.onCache(isHit),
    onFault: (error, requestId) => logFailure(log, 'serve', error, requestId),
  });
  const site = new SiteSwitch(server, snapshotForm(config));
  const search = openSearch(config, network, (event) => logSearchEvent(log, event));
  const shelf = await openShelf(config, network, {
    search,
    prepareSwap: (active, older) => {
      const commit = site.prepare(active, older);
      return () => {
        commit();
        search?.follow(indexedRelease(active), active.version);
      };
    },
    onOff: () => {
      site.turnOff();
      search?.forget();
    },
    onEvent: (event) => {
      if (event.kind === 'progress') onProgress(event);
      logDeployEvent(log, event);
      metrics.onDeployEvent(event);
    },
  });
  return { shelf, server, site, search, network, metrics };
}

function indexedRelease({ digest, siteDir, trailingSlash }: ReleaseView): IndexedRelease {
  return { digest, releaseDir: dirname(siteDir), trailingSlash };
}

export function snapshotForm({ server }: Config): SnapshotForm {
  return { trailingSlash: server.trailingSlash, basePath: normalBasePath(server.basePath) };
}

class SiteSwitch {
  readonly #server: SiteServer;
  #form: SnapshotForm;
  #served: { readonly active: ReleaseView; readonly older: readonly ReleaseView[] } | null = null;

  constructor(server: SiteServer, form: SnapshotForm) {
    this.#server = server;
    this.#form = form;
  }

  /** Builds the snapshot; the act that it gives only swaps a reference. */
  readonly prepare: PrepareSwap = (active, older) => {
    const snapshot = new SiteSnapshot(active, older, this.#form);
    return () => {
      this.#served = { active, older };
      this.#server.swap(snapshot);
    };
  };

  readonly turnOff = (): void => {
    this.#served = null;
    this.#server.swap(null);
  };

  use(form: SnapshotForm): void {
    if (form.trailingSlash === this.#form.trailingSlash && form.basePath === this.#form.basePath) return;
    this.#form = form;
    if (this.#served !== null) this.prepare(this.#served.active, this.#served.older)();
  }
}
