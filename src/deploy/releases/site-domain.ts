import { existsSync } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULT_DOMAIN, DOMAIN_PATTERN } from '../../domain/deployment.ts';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';
import { membersOf } from '../../domain/shape.ts';
import { flushPath, readIfThere, replaceFile } from '../../files/index.ts';
import { archivesIn, moveInbox } from '../take-in/move-inbox.ts';
import { type DataPaths, sitePaths } from './data-folder.ts';

interface FolderDomain {
  readonly domain: string;
  readonly from: 'config' | 'manifest' | 'default';
}

async function readFolderDomain(paths: DataPaths): Promise<FolderDomain | null> {
  const kept = membersOf<FolderDomain>(await readIfThere(paths.domain));
  return typeof kept.domain === 'string' && DOMAIN_PATTERN.test(kept.domain) ? (kept as FolderDomain) : null;
}

/** Null where neither the config nor a first bundle has settled it yet. */
export async function expectedDomain(paths: DataPaths, configured: string | null): Promise<string | null> {
  return configured ?? (await readFolderDomain(paths))?.domain ?? null;
}

/**
 * The config's, else the kept one, else the first bundle's, else `docs`; kept from then on. An unchosen `docs` is renamed.
 * @throws DocshelfError `config_invalid` where the config names another domain than the folder's
 */
export async function settleFolderDomain(
  paths: DataPaths,
  configured: string | null,
  bundle: { readonly manifestDomain: string | null } | null,
): Promise<string> {
  const kept = await readFolderDomain(paths);
  if (configured !== null) {
    if (kept !== null && kept.domain !== configured && kept.from !== 'default') {
      throw new DocshelfError(
        'config_invalid',
        `Cannot serve domain "${configured}" from "${paths.dir}": that data folder belongs to domain "${kept.domain}"`,
        { next: `Set deployment.domain to ${kept.domain}, or storage.dir to another folder.` },
      );
    }
    if (kept?.domain !== configured || kept.from !== 'config') {
      await renameDefault(paths, configured);
      await keep(paths, { domain: configured, from: 'config' });
    }
    return configured;
  }
  if (kept !== null) return kept.domain;
  if (bundle === null) return DEFAULT_DOMAIN;
  const settled: FolderDomain =
    bundle.manifestDomain === null
      ? { domain: DEFAULT_DOMAIN, from: 'default' }
      : { domain: bundle.manifestDomain, from: 'manifest' };
  await keep(paths, settled);
  return settled.domain;
}

/**
 * Before sites of a list are opened: the site with the domain of the single form goes on with what is there, archives in its
 * inbox too.
 * @returns names of archives in the single form's inbox, which no site of the list takes
 */
export async function settleListedDomains(paths: DataPaths, domains: readonly string[]): Promise<readonly string[]> {
  const kept = await readFolderDomain(paths);
  if (kept !== null && domains.includes(kept.domain)) {
    await moveInbox(paths.inbox, sitePaths(paths, kept.domain, true).inbox);
  }
  return archivesIn(paths.inbox);
}

/**
 * At the start of a process: a `docs` that nobody chose becomes the only site of the list that has no folder yet. Not with a
 * reload, whose new entry is another site.
 */
export async function adoptDefaultDomain(paths: DataPaths, domains: readonly string[]): Promise<void> {
  const kept = await readFolderDomain(paths);
  if (kept?.from !== 'default' || domains.includes(DEFAULT_DOMAIN)) return;
  const [domain, ...others] = domains.filter((each) => !existsSync(join(paths.sites, each)));
  if (domain === undefined || others.length > 0) return;
  await renameDefault(paths, domain);
  await keep(paths, { domain, from: 'config' });
}

/** The folder belongs to no domain any more, where it belonged to this one. */
export async function forgetFolderDomain(paths: DataPaths, domain: string): Promise<void> {
  if ((await readFolderDomain(paths))?.domain === domain) await rm(paths.domain, { force: true });
}

async function keep(paths: DataPaths, domain: FolderDomain): Promise<void> {
  await replaceFile(paths.domain, `${JSON.stringify(domain)}\n`);
}

async function renameDefault(paths: DataPaths, domain: string): Promise<void> {
  if (domain === DEFAULT_DOMAIN) return;
  try {
    await rename(join(paths.sites, DEFAULT_DOMAIN), join(paths.sites, domain));
    await flushPath(paths.sites);
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(errnoOf(error) ?? '')) throw error;
  }
}
