import type { LoadedConfig } from '../../config/index.ts';
import { dataPaths, SiteStore } from '../../deploy/index.ts';
import type { Diagnosis } from '../../domain/diagnosis.ts';
import { checkBundle, checkSources } from './check-bundles.ts';
import { checkDaemon } from './check-daemon.ts';
import { checkNamedFiles } from './check-named-files.ts';
import { checkNetwork } from './check-network.ts';
import { checkDataFolder, checkSpace } from './check-storage.ts';

/** A person waits no longer. */
const TOTAL_MS_MAX = 30_000;

/**
 * Checks the machine and the network against a sound config: folders, space, files, daemon or ports, and every host it names.
 * Changes nothing, save a probe file that is written into the data folder and removed.
 */
export async function diagnose(loaded: LoadedConfig): Promise<readonly Diagnosis[]> {
  const { config } = loaded;
  const signal = AbortSignal.timeout(TOTAL_MS_MAX);
  const { storage, deployment } = config;
  // A folder that cannot be opened is told by its own check.
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
