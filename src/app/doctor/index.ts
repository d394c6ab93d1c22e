import type { LoadedConfig } from '../../config/index.ts';
import { dataPaths, SiteStore } from '../../deploy/index.ts';
import type { Diagnosis } from '../../domain/diagnosis.ts';
import { checkBundle, checkSources } from './check-bundles.ts';
import { checkDaemon } from './check-daemon.ts';
import { checkNamedFiles } from './check-named-files.ts';
import { checkNetwork } from './check-network.ts';
import { checkDataFolder, checkSpace } from './check-storage.ts';

const TOTAL_MS_MAX = 30_000;

/** Checks machine and network against a sound config. Changes nothing, save a probe file in the data folder. */
export async function diagnose(loaded: LoadedConfig): Promise<readonly Diagnosis[]> {
  const { config } = loaded;
  const signal = AbortSignal.timeout(TOTAL_MS_MAX);
  const { storage, deployment } = config;
  const store = await SiteStore.read(storage.dir, deployment.domain).catch(() => new SiteStore(dataPaths(storage.dir)));
  const found = await Promise.all([
    checkDataFolder(config),
    checkSpace(config, store),
    checkSources(config),
    checkBundle(config, store),
    checkNamedFiles(loaded),
    checkDaemon(config, signal),
    checkNetwork(config, store, signal),
  ]);
  return found.flat();
}
