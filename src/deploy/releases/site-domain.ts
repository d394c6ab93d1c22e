import { rename } from 'node:fs/promises';
import { DEFAULT_DOMAIN, DOMAIN_PATTERN } from '../../domain/deployment.ts';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';
import { flushPath, readIfThere, replaceFile } from '../../files/index.ts';
import { type DataPaths, sitePaths } from './data-folder.ts';

/** The domain that a data folder of the single form belongs to, and who said so. */
interface FolderDomain {
  readonly domain: string;
  readonly from: 'config' | 'manifest' | 'default';
}

async function readFolderDomain(paths: DataPaths): Promise<FolderDomain | null> {
  const text = await readIfThere(paths.domain);
  try {
    const kept = JSON.parse(text ?? '') as FolderDomain;
    return DOMAIN_PATTERN.test(kept.domain) ? kept : null;
  } catch {
    return null;
  }
}

/** The domain that bundles must be of, or null where nothing has settled it yet: neither the config nor a first bundle. */
export async function expectedDomain(paths: DataPaths, configured: string | null): Promise<string | null> {
  return configured ?? (await readFolderDomain(paths))?.domain ?? null;
}

/**
 * The domain that holds, once the config and the first bundle's manifest have spoken: the config's, else what is kept,
 * else the manifest's, else `docs`; kept from then on. Until then the site has no folder: what is written there (labels,
 * pointers) comes after the first bundle. A `docs` that nobody chose is renamed, its folder with it.
 *
 * @throws DocshelfError `config_invalid` where the config names another domain than the folder belongs to.
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

async function keep(paths: DataPaths, domain: FolderDomain): Promise<void> {
  await replaceFile(paths.domain, `${JSON.stringify(domain)}\n`);
}

async function renameDefault(paths: DataPaths, domain: string): Promise<void> {
  if (domain === DEFAULT_DOMAIN) return;
  try {
    await rename(sitePaths(paths, DEFAULT_DOMAIN).dir, sitePaths(paths, domain).dir);
    await flushPath(paths.sites);
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(errnoOf(error) ?? '')) throw error;
  }
}
