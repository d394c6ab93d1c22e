import { readStore } from '../app/slices.ts';
import type { Config, LoadedConfig } from '../config/index.ts';
import type { SiteStore } from '../deploy/releases/site-store.ts';
import { storedVersions } from '../deploy/releases/stored-versions.ts';
import { chooseSite } from '../domain/deployment.ts';
import { DocshelfError } from '../domain/errors.ts';
import type { ReleaseInfo, ReleaseView } from '../domain/release.ts';
import type { SiteReport, StatusReport } from '../domain/status.ts';
import { ifThere } from '../files/index.ts';
import type { DaemonChoice } from './command.ts';
import type { ChosenSite } from './load-config.ts';

export interface SiteVersions extends Pick<StatusReport, 'pinned' | 'versions'> {
  readonly active: { readonly version: string; readonly digest: string } | null;
}

export function siteIn(status: StatusReport | null, domain: string | null): SiteReport | null {
  const sites: readonly SiteReport[] = status === null ? [] : (status.sites ?? [status]);
  if (domain === null && sites.length > 1) return null;
  return sites.find(({ deployment }) => domain === null || deployment.domain === domain) ?? null;
}

/** Sites of the config, or of a daemon on another machine. Null if the config or the daemon has a single site without a list. */
export function listedSites(
  { config, sites }: LoadedConfig,
  status: StatusReport | null,
  { adminUrl }: DaemonChoice,
): readonly ChosenSite[] | null {
  if (adminUrl === undefined) return config.sites.length > 0 ? sites : null;
  return status?.sites?.map(({ deployment }) => ({ config, domain: deployment.domain })) ?? null;
}

/**
 * Reads the stored versions of a site from the daemon that serves it, or else from the data folder.
 * @throws DocshelfError `not_found`, `data_folder_newer`
 */
export async function versionsOf(
  { config, domain }: ChosenSite,
  status: StatusReport | null,
  { adminUrl }: DaemonChoice,
): Promise<SiteVersions> {
  const report = siteIn(status, domain);
  if (report !== null) {
    const { active, pinned, versions } = report;
    return { active, pinned, versions };
  }
  if (adminUrl !== undefined && status !== null) {
    const known = (status.sites ?? [status]).map(({ deployment }) => deployment);
    chooseSite(known, domain, 'that daemon');
  }
  return versionsInFolder(await readStore(config), config.staticExport.version);
}

export async function versionsInFolder(store: SiteStore, pinned: string | null): Promise<SiteVersions> {
  const versions = (await ifThere(storedVersions(store))) ?? [];
  const pointer = pinned === null ? await store.active() : await store.label(pinned);
  const version = pinned ?? (await store.active())?.version;
  const active = pointer === null || version === undefined ? null : { version, digest: pointer.digest };
  return { active, pinned, versions };
}

/** @throws DocshelfError `version_not_found`, `release_damaged`, `data_folder_newer` */
export async function storedRelease(version: string, config: Config, verb: string): Promise<ReleaseView> {
  const { store, digest } = await find(version, config, verb);
  return store.view(digest, version);
}

export async function storedReleaseInfo(version: string, config: Config, verb: string): Promise<ReleaseInfo> {
  const { store, digest } = await find(version, config, verb);
  const info = await store.info(digest);
  if (info === null) throw notStored(version, verb);
  return info;
}

async function find(version: string, config: Config, verb: string) {
  const store = await readStore(config);
  const pointer = await store.label(version).catch(() => null);
  if (pointer === null) throw notStored(version, verb);
  return { store, digest: pointer.digest };
}

function notStored(name: string, verb: string): DocshelfError {
  return new DocshelfError('version_not_found', `Cannot ${verb} "${name}": it is neither a file nor a stored version`, {
    next: 'Pass an archive file, or a version that "docshelf bundle list" shows.',
  });
}
