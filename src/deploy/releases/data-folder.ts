import { randomBytes } from 'node:crypto';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError, errnoOf, toDocshelfError } from '../../domain/errors.ts';

/** Where everything stands in the data folder; the picture is in the README's design section. */
export interface DataPaths {
  readonly dir: string;
  readonly spool: string;
  readonly staging: string;
  readonly releases: string;
  readonly versions: string;
  readonly active: string;
  readonly inbox: string;
  readonly rejected: string;
  readonly daemons: string;
  readonly domain: string;
  readonly preloadTable: string;
}

export function dataPaths(dir: string): DataPaths {
  return {
    dir,
    spool: join(dir, 'spool'),
    staging: join(dir, 'staging'),
    releases: join(dir, 'releases'),
    versions: join(dir, 'versions'),
    active: join(dir, 'active'),
    inbox: join(dir, 'inbox'),
    rejected: join(dir, 'rejected'),
    daemons: join(dir, 'daemons'),
    domain: join(dir, 'domain'),
    preloadTable: join(dir, 'preload.json'),
  };
}

/**
 * Makes the folders that are missing.
 *
 * @throws DocshelfError `cannot_write` where that is not possible.
 */
export async function openDataFolder(dir: string): Promise<DataPaths> {
  const paths = dataPaths(dir);
  try {
    for (const folder of [
      paths.spool,
      paths.staging,
      paths.releases,
      paths.versions,
      paths.inbox,
      paths.rejected,
      paths.daemons,
    ]) {
      await mkdir(folder, { recursive: true });
    }
  } catch (error) {
    throw new DocshelfError('cannot_write', `Cannot open the data folder "${dir}": ${toDocshelfError(error).message}`, {
      next: 'Make storage.dir a folder that the user of docshelf may write to.',
      cause: error,
    });
  }
  return paths;
}

/**
 * Whether the folder takes `A` and `a` for one name, as the file systems of macOS and Windows do. Found by trying.
 */
export async function foldsCase(paths: DataPaths): Promise<boolean> {
  const name = `case-${randomBytes(8).toString('hex')}`;
  const probe = join(paths.staging, `${name}-a`);
  await writeFile(probe, '', { flag: 'wx' });
  try {
    await stat(join(paths.staging, `${name}-A`));
    return true;
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return false;
    throw error;
  } finally {
    await rm(probe, { force: true });
  }
}
