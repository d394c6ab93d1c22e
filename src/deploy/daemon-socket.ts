import { createHash, randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DocshelfError } from '../domain/errors.ts';
import type { DataPaths } from './releases/data-folder.ts';

export interface DaemonSocket {
  readonly id: string;
  readonly path: string;
}

/** `sun_path` holds 104 bytes on some systems, with a NUL at its end. */
const PATH_BYTES_MAX = 100;

/**
 * In the data folder; where the path is too long or the file system has no sockets, in a private folder of TMPDIR.
 * @param listen listens with mode 0600 @throws DocshelfError `cannot_listen`
 */
export async function openDaemonSocket<T>(
  { dir, daemons }: Pick<DataPaths, 'dir' | 'daemons'>,
  listen: (path: string) => Promise<T>,
): Promise<{ readonly socket: DaemonSocket; readonly listener: T }> {
  const id = randomBytes(8).toString('hex');
  const open = async (path: string) => {
    if (Buffer.byteLength(path) > PATH_BYTES_MAX) {
      throw new DocshelfError('cannot_listen', `Cannot listen on "${path}": it is over ${PATH_BYTES_MAX} bytes long`, {
        next: 'Set TMPDIR to a folder with a shorter path.',
      });
    }
    return { socket: { id, path }, listener: await listen(path) };
  };
  return open(join(daemons, `${id}.sock`)).catch(async () => {
    const name = createHash('sha256')
      .update(await realpath(dir))
      .digest('hex')
      .slice(0, 16);
    return open(join(await privateFolder(), `${name}-${id}.sock`));
  });
}

/** A folder that this user alone can reach: TMPDIR is open to others. */
async function privateFolder(): Promise<string> {
  const uid = process.getuid?.() ?? 0;
  const folder = join(tmpdir(), `docshelf-${uid}`);
  await mkdir(folder, { mode: 0o700 }).catch(() => undefined);
  const info = await lstat(folder);
  if (!info.isDirectory() || info.uid !== uid) {
    throw new DocshelfError('cannot_listen', `Cannot listen in "${folder}": it is not a folder of this user`, {
      next: 'Remove it, or set TMPDIR to another folder.',
    });
  }
  if ((info.mode & 0o077) !== 0) await chmod(folder, 0o700);
  return folder;
}

/**
 * The path of a daemon's socket for a process that may have reached the data folder by another path, or after it was renamed.
 * @param path as the daemon's mark has it; null: that in the data folder
 */
export function socketSeenFrom(
  { daemons }: Pick<DataPaths, 'daemons'>,
  { id, path }: { readonly id: string; readonly path: string | null },
): string {
  const own = join(daemons, `${id}.sock`);
  if (path === null) return own;
  return basename(path) === `${id}.sock` && Buffer.byteLength(own) <= PATH_BYTES_MAX ? own : path;
}

/** Removes the socket of a killed daemon. Whatever the mark contains, it removes only a socket of that daemon. */
export async function removeDaemonSocket({ id, path }: DaemonSocket): Promise<void> {
  const name = basename(path);
  if (name !== `${id}.sock` && !name.endsWith(`-${id}.sock`)) return;
  const info = await lstat(path).catch(() => null);
  if (info?.isSocket() === true) await rm(path, { force: true });
}
