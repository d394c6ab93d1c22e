import { readStore } from '../app/slices.ts';
import type { LoadedConfig } from '../config/index.ts';
import { type SiteStore, storedVersions } from '../deploy/index.ts';
import { chooseSite } from '../domain/deployment.ts';
import type { SiteReport, StatusReport } from '../domain/status.ts';
import { ifThere } from '../files/index.ts';
import type { ChosenSite, DaemonChoice } from './command.ts';

export interface SiteVersions extends Pick<StatusReport, 'pinned' | 'versions'> {
  readonly active: { readonly version: string; readonly digest: string } | null;
}

/** @param domain null: the only one */
export function siteIn(status: StatusReport | null, domain: string | null): SiteReport | null {
  const sites: readonly SiteReport[] = status === null ? [] : (status.sites ?? [status]);
  if (domain === null && sites.length > 1) return null;
  return sites.find(({ deployment }) => domain === null || deployment.domain === domain) ?? null;
}

/** The sites of a list: the config's, or those of a daemon on another machine. Null in the single form. */
export function listedSites(
  { config, sites }: LoadedConfig,
  status: StatusReport | null,
  { adminUrl }: DaemonChoice,
): readonly ChosenSite[] | null {
  if (adminUrl === undefined) return config.sites.length > 0 ? sites : null;
  return status?.sites?.map(({ deployment }) => ({ config, domain: deployment.domain })) ?? null;
}

/** By the daemon that has the site, else by its folder. @throws DocshelfError `not_found`, `data_folder_newer` */
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
  return storedOf(await readStore(config), config.staticExport.version);
}

/** As the next start would serve it. */
export async function storedOf(store: SiteStore, pinned: string | null): Promise<SiteVersions> {
  const versions = (await ifThere(storedVersions(store))) ?? [];
  const pointer = pinned === null ? await store.active() : await store.label(pinned);
  const version = pinned ?? (await store.active())?.version;
  const active = pointer === null || version === undefined ? null : { version, digest: pointer.digest };
  return { active, pinned, versions };
}
