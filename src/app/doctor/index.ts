import type { LoadedConfig } from '../../config/index.ts';
import { dataPaths, ReleaseStore } from '../../deploy/index.ts';
import type { Diagnosis } from '../../domain/diagnosis.ts';
import { checkBundle } from './check-bundle.ts';
import { checkDaemon } from './check-daemon.ts';
import { checkDataFolder } from './check-data-folder.ts';
import { checkNamedFiles } from './check-named-files.ts';
import { checkNetwork } from './check-network.ts';
import { checkSources } from './check-sources.ts';
import { checkSpace } from './check-space.ts';

/** What a person waits for at most. */
const TOTAL_MS_MAX = 30_000;

/**
 * Looks at all that a sound config needs of its machine and its network: folders, space, files, the daemon or its ports, and
 * every host that the config names. Nothing is changed, save a file that is written into the data folder and removed.
 */
export async function diagnose(loaded: LoadedConfig): Promise<readonly Diagnosis[]> {
  const { config } = loaded;
  const signal = AbortSignal.timeout(TOTAL_MS_MAX);
  const store = new ReleaseStore(dataPaths(config.storage.dir));
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
