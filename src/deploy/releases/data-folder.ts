import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DocshelfError, rethrowAs, toDocshelfError } from '../../domain/errors.ts';
import { ifThere, isLinkRefused, readIfThere, replaceFile, writeOnce } from '../../files/index.ts';

/** The data folder, shared by the sites of a daemon; drawn in the README's design section. */
export interface DataPaths {
  readonly dir: string;
  readonly releases: string;
  readonly sites: string;
  readonly spool: string;
  readonly staging: string;
  readonly inbox: string;
  readonly rejected: string;
  readonly daemons: string;
  readonly domain: string;
  /** Holds the folder's id, which is random. */
  readonly id: string;
}

/** Tells a data folder from its copies, by whatever path it is reached. */
export interface FolderIdentity {
  readonly dir: string;
  /** Null until a daemon or a command has opened the folder for writing. A copy has the same one. */
  readonly id: string | null;
  /** Numbers of this host, as text: an inode may have 64 bits. A copy has others. */
  readonly device: string;
  readonly inode: string;
}

export interface SitePaths {
  readonly dir: string;
  readonly versions: string;
  /** A file per release of the site, with the time when it was last active, or empty. */
  readonly served: string;
  readonly active: string;
  readonly wanted: string;
  readonly newest: string;
  readonly links: string;
  readonly preloadTable: string;
  /** The data folder's own in the single form. */
  readonly inbox: string;
  readonly rejected: string;
  readonly spool: string;
}

export function dataPaths(dir: string): DataPaths {
  return {
    dir,
    releases: join(dir, 'releases'),
    sites: join(dir, 'sites'),
    spool: join(dir, 'spool'),
    staging: join(dir, 'staging'),
    inbox: join(dir, 'inbox'),
    rejected: join(dir, 'rejected'),
    daemons: join(dir, 'daemons'),
    domain: join(dir, 'domain'),
    id: join(dir, 'id'),
  };
}

/** @param isListed an entry of `sites`, and not the site of the single form */
export function sitePaths(paths: DataPaths, domain: string, isListed: boolean): SitePaths {
  const dir = join(paths.sites, domain);
  const { inbox, rejected, spool } = isListed ? dataPaths(dir) : paths;
  return {
    inbox,
    rejected,
    spool,
    dir,
    versions: join(dir, 'versions'),
    served: join(dir, 'served'),
    active: join(dir, 'active'),
    wanted: join(dir, 'wanted'),
    newest: join(dir, 'newest'),
    links: join(dir, 'links'),
    preloadTable: join(dir, 'preload.json'),
  };
}

/** @throws DocshelfError `data_folder_older`, `cannot_write`. */
export async function openDataFolder(dir: string): Promise<DataPaths> {
  const paths = dataPaths(dir);
  await refuseOldLayout(paths);
  const { releases, sites, spool, staging, inbox, rejected, daemons } = paths;
  const next = 'Make storage.dir a folder that the user of docshelf may write to.';
  // For its user alone where it is ours; one that is there keeps the mode that its operator gave it.
  await mkdir(dirname(dir), { recursive: true })
    .then(() => mkdir(dir, { mode: 0o700 }))
    .catch(() => undefined);
  for (const folder of [releases, sites, spool, staging, inbox, rejected, daemons]) {
    const state = (error: unknown): string => toDocshelfError(error).message;
    await mkdir(folder, { recursive: true }).catch(
      rethrowAs('cannot_write', `open the data folder "${dir}"`, next, state),
    );
  }
  if ((await readIfThere(paths.id)) === null) {
    const id = randomBytes(16).toString('hex');
    // A file system without links has one daemon at a time.
    await writeOnce(paths.id, id)
      .catch((error: unknown) => (isLinkRefused(error) ? replaceFile(paths.id, id) : Promise.reject(error)))
      .catch(rethrowAs('cannot_write', `open the data folder "${dir}"`, next));
  }
  return paths;
}

/** Null if the folder does not exist. */
export async function identityOf(paths: Pick<DataPaths, 'dir' | 'id'>): Promise<FolderIdentity | null> {
  const found = await ifThere(stat(paths.dir, { bigint: true }));
  if (found === null) return null;
  const [dir, id] = await Promise.all([realpath(paths.dir), readIfThere(paths.id)]);
  return { dir, id, device: String(found.dev), inode: String(found.ino) };
}

/** For comparison on one host. */
export function folderName({ id, device, inode }: FolderIdentity): string {
  return `${id}:${device}:${inode}`;
}

/** @throws DocshelfError `data_folder_older` for a folder of the first edition, whose labels stood at the top. */
export async function refuseOldLayout({ dir, sites, domain }: DataPaths): Promise<void> {
  if (existsSync(sites) || ![join(dir, 'versions'), join(dir, 'active'), domain].some(existsSync)) return;
  throw new DocshelfError('data_folder_older', `Cannot open the data folder "${dir}": an older docshelf wrote it`, {
    next: 'Set storage.dir to an empty folder and import the archives anew; nothing in this one has been touched.',
  });
}

/** Found by trying: the file systems of macOS and Windows do. */
export async function foldsCase(paths: DataPaths): Promise<boolean> {
  const name = `case-${randomBytes(8).toString('hex')}`;
  const probe = join(paths.staging, `${name}-a`);
  await writeFile(probe, '', { flag: 'wx' });
  try {
    return (await ifThere(stat(join(paths.staging, `${name}-A`)))) !== null;
  } finally {
    await rm(probe, { force: true });
  }
}
