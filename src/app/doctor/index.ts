import type { LoadedConfig } from '../../config/index.ts';
import { dataPaths, SiteStore } from '../../deploy/index.ts';
import { listedDomain, readStore } from '../slices.ts';
import { checkBundle, checkExportSources, checkPreload } from './check-bundles.ts';
import { checkCertificates } from './check-certificates.ts';
import { checkDaemon } from './check-daemon.ts';
import { checkKeys } from './check-keys.ts';
import { checkNamedFiles } from './check-named-files.ts';
import { type CheckedConfig, checkNetwork } from './check-network.ts';
import { checkDataFolder, checkSpace } from './check-storage.ts';
import type { Diagnosis } from './diagnosis.ts';

const TOTAL_MS_MAX = 30_000;

/**
 * Checks machine and network against a sound config. Changes nothing, save a probe file in the data folder. Subjects of a
 * site of a list begin with its domain.
 */
export async function diagnose(loaded: LoadedConfig): Promise<readonly Diagnosis[]> {
  const { config, sites } = loaded;
  const signal = AbortSignal.timeout(TOTAL_MS_MAX);
  const ofDaemon = await openStore({ domain: null, config });
  const each = await Promise.all(sites.map((site) => openStore({ ...site, domain: listedDomain(site.config) })));
  const named = await checkNamedFiles(loaded);
  const isNew = ({ subject, message }: Diagnosis): boolean =>
    !named.some((known) => known.subject === subject && known.message === message);
  const ofSite = async ({ domain, config: own, store }: CheckedConfig): Promise<Diagnosis[]> => {
    const files = (await checkNamedFiles({ ...loaded, config: own })).filter(isNew);
    return prefixed(domain, [await checkPreload(own), ...(await checkBundle(own, store)), ...files]);
  };
  const found = await Promise.all([
    checkDataFolder(config),
    checkSpace(config, ofDaemon.store),
    checkKeys(config),
    checkExportSources(config),
    Promise.all(each.map(ofSite)).then((lists) => lists.flat()),
    named,
    checkCertificates(config, Date.now()),
    checkDaemon(config, signal),
    checkNetwork(config.sites.length > 0 ? [ofDaemon, ...each] : each, signal),
  ]);
  return found.flat();
}

async function openStore({ domain, config }: Omit<CheckedConfig, 'store'>): Promise<CheckedConfig> {
  const unread = (): SiteStore => new SiteStore(dataPaths(config.storage.dir), domain);
  return { domain, config, store: await readStore(config).catch(unread) };
}

function prefixed(domain: string | null, found: readonly Diagnosis[]): Diagnosis[] {
  return found.map((each) => (domain === null ? each : { ...each, subject: `${domain}: ${each.subject}` }));
}
