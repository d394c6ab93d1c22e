import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, type Stats } from 'node:fs';
import { mkdir, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { DEFAULT_DOMAIN, DOMAIN_PATTERN } from '../../domain/deployment.ts';
import { DocshelfError, errnoOf, errnoState, rethrowAs, toDocshelfError } from '../../domain/errors.ts';
import { SIGNATURE_EXTENSION } from '../../domain/file-name.ts';
import { membersOf } from '../../domain/shape.ts';
import { flushPath, ifThere, isLinkRefused, namesIn, readIfThere, replaceFile, writeOnce } from '../../files/index.ts';
import { isArchiveName } from '../import/signature.ts';

export type DataPaths = Readonly<ReturnType<typeof dataPaths>>;

export function dataPaths(dir: string) {
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

export type SitePaths = Readonly<ReturnType<typeof sitePaths>>;

/** @param isListed true for a list of sites. A single site uses `inbox`, `rejected` and `spool` of the data folder */
export function sitePaths(paths: DataPaths, domain: string, isListed: boolean) {
  const dir = join(paths.sites, domain);
  const { inbox, rejected, spool } = isListed ? dataPaths(dir) : paths;
  return {
    domain,
    inbox,
    rejected,
    spool,
    dir,
    versions: join(dir, 'versions'),
    /**
     * Folder with one file for each release of the site. The file contains the time when the release was last active, or is
     * empty if it never was.
     */
    served: join(dir, 'served'),
    active: join(dir, 'active'),
    wanted: join(dir, 'wanted'),
    newest: join(dir, 'newest'),
    links: join(dir, 'links'),
    preloadTable: join(dir, 'preload.json'),
  };
}

export interface FolderIdentity {
  readonly dir: string;
  /** Random id, which copies of the folder share. Null until a process opens the folder for writing. */
  readonly id: string | null;
  /** Device and inode on this host, which differ in a copy of the folder. Text, because an inode can have 64 bits. */
  readonly device: string;
  readonly inode: string;
}

/** @throws DocshelfError `data_folder_older`, `cannot_write` */
export async function openDataFolder(dir: string): Promise<DataPaths> {
  const paths = dataPaths(dir);
  await refuseOldLayout(paths);
  const { releases, sites, spool, staging, inbox, rejected, daemons } = paths;
  const next = 'Make storage.dir a folder that the user of docshelf can write to.';
  // A new folder is private to its user. An existing folder keeps its mode.
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
    // If the file system has no hard links, only one daemon can use the folder, so replacing the id file is safe.
    await writeOnce(paths.id, id)
      .catch((error: unknown) => (isLinkRefused(error) ? replaceFile(paths.id, id) : Promise.reject(error)))
      .catch(rethrowAs('cannot_write', `open the data folder "${dir}"`, next));
  }
  return paths;
}

type User = Pick<Stats, 'uid' | 'gid'>;

/** User of the daemon of a data folder. Prefers the owner of the file `id`, because a daemon of root can use a folder of another user. */
export const daemonUserOf = ({ dir, id }: DataPaths): Promise<User> => stat(id).catch(() => stat(dir));

/** User of the data folder if root runs this process for the daemon of that user. Null otherwise. */
export async function otherUserOf(paths: DataPaths): Promise<User | null> {
  if (process.geteuid?.() !== 0) return null;
  const found = await daemonUserOf(paths).catch(() => null);
  return found === null || found.uid === 0 ? null : found;
}

/** Acts as the user of the data folder if root runs a command, so that the daemon of this user can change all new files. */
export async function asFolderUser<T>(paths: DataPaths, act: () => Promise<T>): Promise<T> {
  const user = await otherUserOf(paths);
  if (user === null) return act();
  const groups = process.getgroups?.() ?? [];
  becomeUser(user, groups, paths.dir);
  try {
    return await act();
  } finally {
    becomeRoot(groups);
  }
}

/** Sets the supplementary groups of the user. A user without an entry in the user database, as in a container, has only the group `gid`. */
function takeGroups(uid: number, gid: number): void {
  // The types of Node.js do not declare initgroups().
  const { initgroups } = process as { initgroups?: (uid: number, gid: number) => void };
  try {
    initgroups?.(uid, gid);
  } catch {
    process.setgroups?.([gid]);
  }
}

function becomeRoot(groups: readonly number[]): void {
  process.seteuid?.(0);
  process.setegid?.(0);
  process.setgroups?.(groups);
}

function becomeUser({ uid, gid }: User, groups: readonly number[], dir: string): void {
  try {
    takeGroups(uid, gid);
    process.setegid?.(gid);
    process.seteuid?.(uid);
    // Check that the new user can read the code of docshelf, because the command loads more code later.
    readdirSync(import.meta.dirname);
  } catch (error) {
    try {
      becomeRoot(groups);
    } catch {
      // Ignore this second error: a process that cannot change its user is still root.
    }
    const state = `root cannot work as user ${uid}, who owns the folder (${errnoState(error)})`;
    throw new DocshelfError('cannot_write', `Cannot change the data folder "${dir}": ${state}`, {
      next: `Let this user read "${import.meta.dirname}" and the folders above it, or run the command as this user.`,
      cause: error,
    });
  }
}

export async function identityOf(paths: Pick<DataPaths, 'dir' | 'id'>): Promise<FolderIdentity | null> {
  const found = await ifThere(stat(paths.dir, { bigint: true }));
  if (found === null) return null;
  const [dir, id] = await Promise.all([realpath(paths.dir), readIfThere(paths.id)]);
  // Ignore the id of a damaged file if it has unexpected characters, because commands send the id in an HTTP header.
  return { dir, id: /^[0-9a-f]{32}$/.test(id ?? '') ? id : null, device: String(found.dev), inode: String(found.ino) };
}

export const folderName = ({ id, device, inode }: FolderIdentity): string => `${id}:${device}:${inode}`;

/** @throws DocshelfError `data_folder_older` if the folder has the old layout, with version labels at its top level */
export async function refuseOldLayout({ dir, sites, domain }: DataPaths): Promise<void> {
  if (existsSync(sites) || ![join(dir, 'versions'), join(dir, 'active'), domain].some(existsSync)) return;
  throw new DocshelfError('data_folder_older', `Cannot open the data folder "${dir}": an older docshelf wrote it`, {
    next: 'Set storage.dir to an empty folder, and import the archives again. docshelf did not change the old data folder.',
  });
}

/** Tests whether the file system ignores case, as on macOS and Windows. */
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

interface FolderDomain {
  readonly domain: string;
  readonly from: 'config' | 'manifest' | 'default';
}

async function readFolderDomain(paths: DataPaths): Promise<FolderDomain | null> {
  const kept = membersOf<FolderDomain>(await readIfThere(paths.domain));
  return typeof kept.domain === 'string' && DOMAIN_PATTERN.test(kept.domain) ? (kept as FolderDomain) : null;
}

export async function expectedDomain(paths: DataPaths, configured: string | null): Promise<string | null> {
  return configured ?? (await readFolderDomain(paths))?.domain ?? null;
}

export const hasDefaultDomain = async (paths: DataPaths): Promise<boolean> =>
  (await readFolderDomain(paths))?.from === 'default';

/**
 * Chooses the domain of the data folder: from the config, else as stored before, else from the first bundle, else `docs`.
 * @throws DocshelfError `config_invalid`
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
 * Moves archives from the inbox of a former single site to its inbox in the list of sites. Call this before the sites open.
 * @returns archives that remain in the old inbox, because no site imports them
 */
export async function settleListedDomains(paths: DataPaths, domains: readonly string[]): Promise<readonly string[]> {
  const kept = await readFolderDomain(paths);
  if (kept !== null && domains.includes(kept.domain)) {
    await moveInbox(paths.inbox, sitePaths(paths, kept.domain, true).inbox);
  }
  return (await namesIn(paths.inbox)).filter(isArchiveName).sort();
}

/**
 * Renames the folder of the default domain to the domain of the only site that has no folder yet. Call this only at process
 * start, because a reload can add sites.
 */
export async function adoptDefaultDomain(paths: DataPaths, domains: readonly string[]): Promise<void> {
  const kept = await readFolderDomain(paths);
  if (kept?.from !== 'default' || domains.includes(DEFAULT_DOMAIN)) return;
  const [domain, ...others] = domains.filter((each) => !existsSync(join(paths.sites, each)));
  if (domain === undefined || others.length > 0) return;
  await renameDefault(paths, domain);
  await keep(paths, { domain, from: 'config' });
}

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

/**
 * Moves the archives of an inbox when the config changes to a list of sites or back. An archive stays in `from` if `to`
 * already contains its name.
 */
export async function moveInbox(from: string, to: string): Promise<void> {
  const names = (await namesIn(from)).filter((name) => isArchiveName(name) || name.endsWith(SIGNATURE_EXTENSION));
  if (names.length > 0) await mkdir(to, { recursive: true });
  // Move a signature before its archive, because docshelf imports an archive as soon as it is in the target inbox.
  for (const name of names.sort().reverse()) {
    // If the move fails, for example between two mounts, the archive stays in `from`. The notices list it.
    if (!existsSync(join(to, name))) await rename(join(from, name), join(to, name)).catch(() => undefined);
  }
}
