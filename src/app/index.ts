import type { Config } from '../config/index.ts';
import {
  adoptDefaultDomain,
  asFolderUser,
  type Deployment,
  dataPaths,
  ServedRecord,
  settleListedDomains,
} from '../deploy/index.ts';
import { type DaemonOptions, startDaemon as start } from './daemon.ts';
import { LAST_WRITES_MS, type Logger, openLogs } from './log/log.ts';
import { openSearch } from './open-search.ts';
import { createShelf, openFolder, openShelf, openSources } from './sites/open-shelf.ts';
import { openNetwork } from './stored.ts';

export async function startDaemon(options: Omit<DaemonOptions, 'log' | 'logRequest'>) {
  const logs = await openLogs(options.loaded.config.log);
  const { log } = logs;
  const daemon = await start({ ...options, ...logs });
  const stop = async (): Promise<void> => {
    endProcessAfter(daemon.shutdownTimeoutMs, log);
    await daemon.stop();
    await new Promise<void>((resolve) => log.flush(() => resolve()));
  };
  return { daemon, stop, say: (message: string) => log.info(message) };
}

function endProcessAfter(ms: number, log: Logger): void {
  setTimeout(
    () => {
      log.warn({ event: 'deadline' }, 'aborting work that did not end within server.shutdownTimeout');
      setTimeout(() => process.exit(), LAST_LINES_MS);
      log.flush(() => process.exit());
    },
    Math.max(0, ms - LAST_LINES_MS - LAST_WRITES_MS),
  ).unref();
}

const LAST_LINES_MS = 200;

export async function openCommandSources(config: Config) {
  const network = await openNetwork(config);
  return {
    sources: await openSources(config, await network.client(), [config.staticExport.preload.dir]),
    [Symbol.asyncDispose]: () => network.close(),
  };
}

/** Opens the site's data for a command if no daemon runs. Activating a version then only stores it as the active release. */
export function withCommandShelf<T>(
  config: Config,
  onProgress: DaemonOptions['onProgress'],
  act: (deployment: Deployment) => Promise<T>,
): Promise<T> {
  return asFolderUser(dataPaths(config.storage.dir), async () => {
    await using opened = new AsyncDisposableStack();
    const network = opened.adopt(await openNetwork(config), (each) => each.close());
    const engine = opened.adopt(openSearch(config, network), (each) => each.stop());
    const folder = await openFolder(config, network, null);
    const listed = config.sites.map(({ domain }) => domain);
    if (listed.length > 0) {
      await adoptDefaultDomain(folder.paths, listed);
      await settleListedDomains(folder.paths, listed);
    }
    const shelf = createShelf(config, network, {
      folder,
      search: engine.site(config.search, () => undefined),
      serving: new ServedRecord(),
      onEvent: (event) => {
        if (event.kind === 'progress') onProgress(event);
      },
    });
    await openShelf(shelf);
    const { deployment } = opened.adopt(shelf, (each) => each.deployment.stop());
    return await act(deployment);
  });
}
