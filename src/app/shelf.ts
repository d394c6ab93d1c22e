import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Config } from '../config/index.ts';
import { type DeployEvent, Deployment, openDataFolder, type PrepareSwap, ReleaseStore } from '../deploy/index.ts';
import { BundleSources } from './bundle-sources.ts';
import { deploySlice } from './slices.ts';

/** What a deployment is joined to: the serving side for a daemon, nothing for a one-shot command. */
export interface ShelfHooks {
  readonly prepareSwap: PrepareSwap;
  readonly onOff: () => void;
  readonly onEvent: (event: DeployEvent) => void;
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
export async function openShelf(config: Config, hooks: ShelfHooks): Promise<Shelf> {
  const store = new ReleaseStore(await openDataFolder(config.storage.dir));
  const sources = new BundleSources(config);
  const deployment = new Deployment({
    store,
    settings: deploySlice(config),
    sources: () => sources.open(),
    spawnUnpacker: (order) => new Worker(siblingEntry('../deploy/worker'), { workerData: order }),
    beforeSeal: [],
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

/** A worker's entry: a `.js` file in the built program, a `.ts` file where the sources run as they are. */
function siblingEntry(path: string): URL {
  return new URL(`${path}${extname(import.meta.filename)}`, import.meta.url);
}
