import { randomBytes } from 'node:crypto';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError, errnoOf, rethrowAs } from '../../domain/errors.ts';
import type { KeptRelease, ReleaseInfo, ReleaseView } from '../../domain/release.ts';
import { membersOf } from '../../domain/shape.ts';
import { type LockMode, whileLocked } from '../../files/file-lock.ts';
import {
  digestFile,
  findInTable,
  flushPath,
  ifThere,
  listFiles,
  readFileTable,
  readIfThere,
} from '../../files/index.ts';
import { mapAhead } from '../../files/lanes.ts';
import type { DataPaths } from './data-folder.ts';

export const RELEASE_FORMAT_VERSION = 2;

/** Marker of a complete release. docshelf writes it after it has flushed all other files of the release. */
export const COMPLETE_FILE = 'COMPLETE';

const REMOVED_PREFIX = '.gone-';

/**
 * Maximum wait for the lock of the data folder. docshelf holds this lock for milliseconds, or for less than a second with a
 * thousand sites.
 */
const LOCK_MS_MAX = 10_000;

const UNPACK_MS_MAX = 600_000;

export const DIGEST = /^[0-9a-f]{64}$/;

/** Stores the releases of a data folder. Each write is durable. The caller decides on the order of writes. */
export class ReleaseStore {
  readonly paths: DataPaths;

  constructor(paths: DataPaths) {
    this.paths = paths;
  }

  folderOf(digest: string): string {
    return join(this.paths.releases, digest);
  }

  async has(digest: string): Promise<boolean> {
    try {
      await stat(join(this.folderOf(digest), COMPLETE_FILE));
      return true;
    } catch (error) {
      // Return false only if the marker file is missing, and throw other errors: the cleanup removes each release without a marker.
      if (['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) return false;
      throw error;
    }
  }

  /** @throws DocshelfError `data_folder_newer`, `release_damaged` */
  async info(digest: string): Promise<ReleaseInfo | null> {
    if (!(await this.has(digest))) return null;
    const file = join(this.folderOf(digest), 'release.json');
    const record = membersOf<ReleaseInfo>(await readIfThere(file));
    if (Object.keys(record).length === 0) throw damaged(digest, 'its record on disk cannot be read');
    const info = record as ReleaseInfo;
    if (info.formatVersion > RELEASE_FORMAT_VERSION) {
      throw new DocshelfError(
        'data_folder_newer',
        `Cannot read release ${digest.slice(0, 12)}: its format is version ${info.formatVersion}, but this docshelf supports only versions up to ${RELEASE_FORMAT_VERSION}`,
        { next: 'Run the docshelf version that wrote this data folder, or a newer one.' },
      );
    }
    if (info.digest !== digest) throw damaged(digest, 'its record belongs to another release');
    if (info.formatVersion < RELEASE_FORMAT_VERSION) throw damaged(digest, 'an earlier docshelf wrote it');
    return info;
  }

  /** Record of a release. Null if the release is missing or damaged. @throws DocshelfError `data_folder_newer` */
  async readable(digest: string): Promise<ReleaseInfo | null> {
    return this.info(digest).catch((error: unknown) => {
      if (error instanceof DocshelfError && error.code === 'data_folder_newer') throw error;
      return null;
    });
  }

  async list(): Promise<ReleaseInfo[]> {
    const names = (await readdir(this.paths.releases)).filter((name) => DIGEST.test(name));
    const infos = await Promise.all(names.map((name) => this.readable(name)));
    return infos.filter((info) => info !== null);
  }

  async isWhole(digest: string): Promise<boolean> {
    try {
      await this.view(digest, digest);
      return true;
    } catch (error) {
      if (error instanceof DocshelfError && error.code === 'release_damaged') return false;
      throw error;
    }
  }

  /** @throws DocshelfError `release_damaged` */
  async view(digest: string, version: string): Promise<ReleaseView> {
    const info = await this.info(digest);
    if (info === null) throw damaged(digest, 'it is missing or incomplete');
    const releaseDir = this.folderOf(digest);
    const files = await readFileTable(releaseDir).catch(() => null);
    if (files?.size !== info.files) throw damaged(digest, 'its file table does not match its files');
    return {
      digest,
      version,
      createdAt: info.createdAt,
      releaseDir,
      siteDir: join(releaseDir, 'site'),
      pages: info.pages,
      bytes: info.bytes,
      trailingSlash: info.trailingSlash,
      builtFor: info.builtFor ?? '/',
      files,
    };
  }

  kept({ digest, createdAt, builtFor = '/' }: ReleaseInfo, servedAt: string | null): KeptRelease {
    const releaseDir = this.folderOf(digest);
    const unreadable = rethrowAs('cannot_read', `read the file table of release ${digest.slice(0, 12)}`);
    return {
      ...{ digest, createdAt, servedAt, builtFor, releaseDir, siteDir: join(releaseDir, 'site') },
      find: (path) => findInTable(releaseDir, path).catch(unreadable),
      readTable: () => readFileTable(releaseDir).catch(unreadable),
    };
  }

  /** Moves the folder of a complete release into the store. If the store already has the release, keeps the stored folder. */
  async adopt(folder: string, digest: string): Promise<void> {
    const target = this.folderOf(digest);
    try {
      await rename(folder, target);
    } catch (error) {
      if (!['ENOTEMPTY', 'EEXIST', 'ENOTDIR'].includes(errnoOf(error) ?? '')) throw error;
      if (await this.has(digest)) return;
      await this.removeRelease(digest);
      await rename(folder, target);
    }
    await flushPath(this.paths.releases);
  }

  async removeRelease(digest: string): Promise<void> {
    await rm(await this.putAside(digest), { recursive: true, force: true });
  }

  /** Renames the release folder before its removal, so that readers never find a partial release. @returns the folder to remove */
  async putAside(digest: string): Promise<string> {
    const aside = join(this.paths.releases, `${REMOVED_PREFIX}${randomBytes(8).toString('hex')}`);
    await ifThere(rename(this.folderOf(digest), aside));
    return aside;
  }

  async sweepIncomplete(): Promise<void> {
    for (const name of await readdir(this.paths.releases)) {
      if (!name.startsWith(REMOVED_PREFIX) && (!DIGEST.test(name) || (await this.has(name)))) continue;
      await rm(join(this.paths.releases, name), { recursive: true, force: true });
    }
  }

  /**
   * Holds the lock of the data folder while `act` runs, which must be short. Use `exclusive` to remove releases, `shared` to
   * prevent removals.
   */
  whileStored<Result>(mode: LockMode, act: () => Promise<Result>): Promise<Result> {
    return whileLocked(join(this.paths.dir, 'lock'), { mode, waitMsMax: LOCK_MS_MAX }, act);
  }

  /**
   * Waits at most 10 minutes while another process unpacks the same bundle, then runs `act`.
   * @throws the reason of `signal` if it aborts
   */
  whileUnpacking<Result>(digest: string, signal: AbortSignal, act: () => Promise<Result>): Promise<Result> {
    const file = join(this.paths.spool, `${digest}.lock`);
    return whileLocked(file, { mode: 'exclusive', waitMsMax: UNPACK_MS_MAX, signal, isTemporary: true }, act);
  }
}

function damaged(digest: string, state: string): DocshelfError {
  return new DocshelfError('release_damaged', `Cannot serve release ${digest.slice(0, 12)}: ${state}`, {
    next: 'Import the bundle of this version again.',
  });
}

const READ_AT_ONCE = 8;

/** @throws NodeJS.ErrnoException if an existing file cannot be read; the reason of `signal` if it aborts */
export async function verifyRelease(
  { siteDir, files }: ReleaseView,
  onProgress: (doneFiles: number, totalFiles: number) => void,
  signal: AbortSignal,
) {
  const changed: string[] = [];
  const missing: string[] = [];
  let done = 0;
  const found = mapAhead(files.values(), READ_AT_ONCE, async ({ path, sha256 }) => {
    return { path, sha256, read: await digestOf(join(siteDir, path), signal) };
  });
  for await (const { path, sha256, read } of found) {
    if (read === null) missing.push(path);
    else if (read !== sha256) changed.push(path);
    done += 1;
    onProgress(done, files.size);
  }
  // Files on disk that the file table does not list are harmless, because docshelf never serves them.
  const unknown = (await listFiles(siteDir)).filter((path) => !files.has(path));
  const sound = files.size - changed.length - missing.length;
  return { sound, changed: changed.sort(), missing: missing.sort(), unknown };
}

async function digestOf(file: string, signal: AbortSignal): Promise<string | null> {
  try {
    return await digestFile(file, signal);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(errnoOf(error) ?? '')) return null;
    throw error;
  }
}
