import { Worker } from 'node:worker_threads';
import type { Config } from '../config/index.ts';
import { type BeforeSeal, type DeployEvent, Deployment, openDataFolder, type PrepareSwap, ReleaseStore } from '../deploy/index.ts';
import type { SiteSearch } from '../search/index.ts';
import { BundleSources } from './bundle-sources.ts';
import { deploySlice } from './slices.ts';
import { workerEntry } from './worker-entry.ts';

/** What a deployment is joined to: the serving side for a daemon, nothing for a one-shot command. */
export interface ShelfHooks {
  readonly prepareSwap: PrepareSwap;
  readonly onOff: () => void;
  readonly onEvent: (event: DeployEvent) => void;
  /** Builds the search index of a bundle that is taken in; null where search is off. */
  readonly search: SiteSearch | null;
}

/** A data folder with the deployment on it. */
export interface Shelf {
  readonly store: ReleaseStore;
  readonly deployment: Deployment;
  /** Takes a new config's rules for fetching. */
  useNetwork(config: Config): void;
  close(): Promise<void>;
}

/** @throws DocshelfError `cannot_write`, `config_invalid`, `data_folder_newer`. */
export async function openShelf(config: Config, { search, ...hooks }: ShelfHooks): Promise<Shelf> {
  const store = new ReleaseStore(await openDataFolder(config.storage.dir));
  const sources = new BundleSources(config);
  const deployment = new Deployment({
    store,
    settings: deploySlice(config),
    sources: () => sources.open(),
    spawnUnpacker: (order) => new Worker(workerEntry('../deploy/worker'), { workerData: order }),
    beforeSeal: search === null ? [] : [indexBeforeSeal(search)],
    ...hooks,
  });
  await deployment.open();
  return {
    store,
    deployment,
    useNetwork: (next) => sources.useConfig(next),
    close: async () => {
      await deployment.stop();
      await sources.close();
    },
  };
}

/** The index is there with the swap: a version is searchable from its first moment. */
function indexBeforeSeal(search: SiteSearch): BeforeSeal {
  return (releaseDir, { digest, trailingSlash }, signal) => search.index({ digest, releaseDir, trailingSlash }, signal);
}
