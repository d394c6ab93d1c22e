import { readdir, rm } from 'node:fs/promises';
import { DOMAIN_PATTERN } from '../../domain/deployment.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { flushPath, ifThere } from '../../files/index.ts';
import { runningDaemons } from '../daemons.ts';
import type { ReleaseRef } from '../plan.ts';
import { type DataPaths, forgetFolderDomain } from './data-folder.ts';
import { SiteStore } from './site-store.ts';

export interface StoredSite {
  readonly domain: string;
  readonly labels: readonly string[];
  readonly active: ReleaseRef | null;
  /** Total size of the site's unpacked releases. A release that several sites share counts in full for each site. */
  readonly bytes: number;
}

export async function listSites(paths: DataPaths): Promise<StoredSite[]> {
  const sites: StoredSite[] = [];
  for (const domain of (await domainsIn(paths)).sort()) {
    const store = new SiteStore(paths, domain);
    const { labels: pointers, active, releases } = await store.records();
    const bytes = [...releases.values()].reduce((sum, release) => sum + release.bytes, 0);
    const labels = [...pointers.keys()].sort();
    sites.push({ domain, labels, active: active && { version: active.version, digest: active.digest }, bytes });
  }
  return sites;
}

/**
 * Removes a site. If a crash interrupts the removal, another call completes it.
 * @returns digests of the removed releases
 * @throws DocshelfError `not_found`, `in_use`
 */
export async function removeSite(paths: DataPaths, domain: string): Promise<readonly string[]> {
  const stored = await domainsIn(paths);
  if (!stored.includes(domain)) {
    const listed = stored.length === 0 ? 'no site is stored' : `stored sites: ${stored.sort().join(', ')}`;
    throw new DocshelfError('not_found', `Cannot remove site "${domain}": it is not stored; ${listed}`, {
      next: 'List the sites with "docshelf sites".',
    });
  }
  const store = new SiteStore(paths, domain);
  const removed = await store.removeReleases(async () => {
    const daemon = (await runningDaemons(paths)).find(({ sites }) => sites.some((site) => site.domain === domain));
    if (daemon !== undefined) {
      const { host, pid } = daemon.owner;
      throw new DocshelfError('in_use', `Cannot remove site "${domain}": the daemon ${pid} on ${host} serves it`, {
        next: 'Remove the site from the config, wait for the reload, and try again.',
      });
    }
    return [...(await store.names())];
  });
  await rm(store.site.dir, { recursive: true, force: true });
  await flushPath(paths.sites);
  await forgetFolderDomain(paths, domain);
  return removed;
}

async function domainsIn(paths: DataPaths): Promise<string[]> {
  const entries = (await ifThere(readdir(paths.sites, { withFileTypes: true }))) ?? [];
  return entries.filter((entry) => entry.isDirectory() && DOMAIN_PATTERN.test(entry.name)).map(({ name }) => name);
}
