import { DEFAULT_DOMAIN, DOMAIN_PATTERN } from '../../domain/deployment.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { readIfThere, replaceFile } from '../../files/index.ts';
import type { DataPaths } from './data-folder.ts';

/** The domain that a data folder belongs to, and who said so. Kept in the folder, because a folder belongs to one domain. */
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
 * else the manifest's, else `docs`; kept from then on.
 *
 * @throws DocshelfError `config_invalid` where the config names another domain than the folder belongs to. A folder whose
 *   `docs` nobody chose takes the config's.
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
    if (kept?.domain !== configured || kept.from !== 'config')
      await keep(paths, { domain: configured, from: 'config' });
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
