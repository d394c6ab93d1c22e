import type { Config } from '../../config/index.ts';
import {
  type BeforeSeal,
  DaemonRegistration,
  type DeployEvent,
  Deployment,
  importSlots,
  openDataFolder,
  type RenewSettings,
  type Serving,
  SiteStore,
  sweepDataFolder,
  unpackInThreads,
} from '../../deploy/index.ts';
import type { BundleSource, LinkSource, OwnExportService } from '../../deploy/ports.ts';
import { ownExports } from '../../deploy/sources/own-exports.ts';
import type { HttpClient } from '../../net/http-client.ts';
import type { SiteSearch } from '../../search/index.ts';
import { NO_TRACES, type Tracer } from '../../traces/tracer.ts';
import type { Network } from '../network.ts';
import { tracedClient } from '../open-traces.ts';
import { deploySlice, listedDomain } from '../slices.ts';

/**
 * Creates bundle sources, and loads their modules for the first fetch.
 * @param preloads folders into which `file:` links may point by default
 */
export async function openSources(
  config: Config,
  client: HttpClient,
  preloads: readonly string[],
): Promise<readonly BundleSource[]> {
  const { registryAuthFile: authFile, tokenHosts, fileRoots, s3 } = config.network;
  const [{ fileBundleSource }, { httpBundleSource }, { ociBundleSource }, { s3BundleSource }] = await Promise.all([
    import('../../deploy/sources/file-bundle-source.ts'),
    import('../../deploy/sources/http-bundle-source.ts'),
    import('../../deploy/sources/oci-bundle-source.ts'),
    import('../../deploy/sources/s3-bundle-source.ts'),
  ]);
  return [
    fileBundleSource(fileRoots.length > 0 ? fileRoots : preloads),
    httpBundleSource(client),
    ociBundleSource(client, { authFile, tokenHosts }),
    s3BundleSource(client, s3),
  ];
}

export type ShelfFolder = Awaited<ReturnType<typeof openFolder>>;

export async function openFolder(config: Config, network: Network, ownExports: OwnExportService | null) {
  const paths = await openDataFolder(config.storage.dir);
  await sweepDataFolder(paths);
  const slots = importSlots(() => network.config.deploy.parallel);
  return { paths, registration: new DaemonRegistration(paths), slots, unpack: unpackInThreads(), ownExports };
}

interface ShelfHooks {
  readonly folder: ShelfFolder;
  readonly tracer?: Tracer;
  readonly serving: Serving;
  readonly onEvent: (event: DeployEvent) => void;
  readonly search: SiteSearch | null;
}

type OpenedShelf = { readonly store: SiteStore; readonly deployment: Deployment };

export function createShelf(
  config: Config,
  network: Network,
  { folder, search, tracer = NO_TRACES, ...hooks }: ShelfHooks,
): OpenedShelf {
  const { paths, registration, slots, unpack } = folder;
  const store = new SiteStore(paths, listedDomain(config));
  const own = folder.ownExports && ownExports(folder.ownExports, () => store.domain);
  const deployment = new Deployment({
    store,
    settings: deploySlice(config),
    registration,
    slots,
    ownExports: own,
    sources: async ({ preload }) => {
      // Allow `file:` links into the preload folders of the daemon and of the site. The two folders differ for a site of a list.
      const folders = [network.config.staticExport.preload.dir, preload.dir];
      const others = await openSources(network.config, await network.client(), folders);
      return own === null ? others : [own, ...others];
    },
    openLinks: (renew) => openLinks(network, renew, tracer),
    tracer,
    unpack,
    beforeSeal: search === null ? [] : [indexBeforeSeal(search)],
    ...hooks,
  });
  return { store, deployment };
}

/** Opens a site. For a site of a list, ignores an error, because the loop of that site reports the error and tries again. */
export async function openShelf({ store, deployment }: OpenedShelf): Promise<void> {
  try {
    await deployment.open();
  } catch (error) {
    if (store.isListed) return;
    // If the site cannot open, remove it from the daemon's heartbeat file.
    await deployment.stop().catch(() => undefined);
    throw error;
  }
}

async function openLinks(network: Network, renew: RenewSettings, tracer: Tracer): Promise<LinkSource> {
  const { exportLinks, ExportServiceClient } = await import('../../deploy/sources/export-service.ts');
  const client = tracedClient(await network.client(), tracer);
  return exportLinks(new ExportServiceClient(client, renew), renew);
}

/** Builds the search index of a bundle before the swap, so that readers can search a version as soon as docshelf serves it. */
function indexBeforeSeal(search: SiteSearch): BeforeSeal {
  return (releaseDir, { digest, trailingSlash, bytes }, signal, tell) =>
    search.index({ digest, releaseDir, trailingSlash, bytes }, signal, tell);
}
