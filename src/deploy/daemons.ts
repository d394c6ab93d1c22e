import { createHash, randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, readdir, realpath, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DocshelfError } from '../domain/errors.ts';
import { membersOf } from '../domain/shape.ts';
import { isAlive, isLocal, type Owner, parseOwner, readIfThere, replaceFile, thisProcess } from '../files/index.ts';
import { type DataPaths, type FolderIdentity, folderName, identityOf } from './releases/data-folder.ts';

export interface DaemonMark {
  readonly owner: Owner;
  /** The folder that the daemon works on; null in the mark of an older program. */
  readonly folder: FolderIdentity | null;
  /** The config file that the daemon follows; null if it has none. */
  readonly config: string | null;
  /** `http://127.0.0.1:9090`; null before it listens. */
  readonly adminUrl: string | null;
  readonly socket: string | null;
  /** Of its listeners: neither its own clients nor those of a command on the folder may connect to them. */
  readonly ports: readonly number[];
  /** Its sites, each with the digests that no other process may remove from the site; none if it is not served. */
  readonly sites: readonly { readonly domain: string; readonly serves: readonly string[] }[];
}

const BEAT_MS = 10_000;
/** A daemon on another host counts as gone after six missed beats. */
const SILENCE_MS_MAX = 60_000;

/** One site's part in its daemon's mark. */
export interface SiteRegistration {
  /** Replaces the digests that the site serves. Resolves when the mark is written. */
  setServed(digests: readonly string[]): Promise<void>;
  /** Digests that other daemons on the folder serve as this site. */
  servedByOthers(): Promise<readonly string[]>;
  /** The daemon has the site no longer. */
  unregister(): Promise<void>;
}

/** This daemon's own mark, shared by its sites: written at start and swap, touched on a beat, gone at stop. */
export class DaemonRegistration {
  readonly #paths: DataPaths;
  readonly #sites = new Map<symbol, { readonly domain: () => string; readonly serves: readonly string[] }>();
  /** Null before the daemon is announced, and after it has withdrawn. `folder` is the one that the mark names. */
  #announced: (Omit<DaemonMark, 'sites'> & { readonly file: string }) | null = null;
  #beat: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  /** The write that begins when the one under way is over; all who come until then share it. */
  #next: Promise<void> | null = null;

  constructor(paths: DataPaths) {
    this.#paths = paths;
  }

  async announce(
    adminUrl: string | null,
    socket: DaemonSocket | null = null,
    ports: readonly number[] = [],
    config: string | null = null,
  ): Promise<void> {
    const file = join(this.#paths.daemons, `${socket?.id ?? randomBytes(8).toString('hex')}.json`);
    this.#announced = {
      file,
      owner: thisProcess(),
      folder: null,
      config,
      adminUrl,
      socket: socket?.path ?? null,
      ports,
    };
    await this.#write();
    // Failures wait for the next beat.
    this.#beat = setInterval(() => void this.#touch(file).catch(() => undefined), BEAT_MS).unref();
  }

  /**
   * Writes the mark again if it is gone, because another host took the daemon for dead, or if another folder has the path now,
   * because a backup was restored.
   */
  async #touch(file: string): Promise<void> {
    const [now, folder] = [new Date(), await identityOf(this.#paths)];
    if (isSameFolder(folder, this.#announced?.folder ?? null)) await utimes(file, now, now).catch(() => this.#write());
    else await this.#write();
  }

  /** @param domain the site's, which a first bundle may settle */
  registerSite(domain: () => string): SiteRegistration {
    const key = Symbol('site');
    this.#sites.set(key, { domain, serves: [] });
    return {
      setServed: async (serves) => {
        this.#sites.set(key, { domain, serves });
        await this.#write();
      },
      servedByOthers: async () => {
        const others = await runningDaemons(this.#paths, this.#announced?.file);
        return others.flatMap(({ sites }) =>
          sites.filter((site) => site.domain === domain()).flatMap(({ serves }) => serves),
        );
      },
      unregister: async () => {
        this.#sites.delete(key);
        await this.#write();
      },
    };
  }

  async withdraw(): Promise<void> {
    clearInterval(this.#beat);
    const file = this.#announced?.file;
    this.#announced = null;
    // After a write that is under way.
    await this.#write();
    if (file !== undefined) await rm(file, { force: true });
  }

  #write(): Promise<void> {
    const begin = (): Promise<void> => {
      this.#next = null;
      this.#writing = this.#writeNow();
      return this.#writing;
    };
    this.#next ??= this.#writing.then(begin, begin);
    return this.#next;
  }

  async #writeNow(): Promise<void> {
    const folder = this.#announced && (await identityOf(this.#paths));
    if (this.#announced === null) return;
    this.#announced = { ...this.#announced, folder };
    const { file, ...known } = this.#announced;
    const sites = [...this.#sites.values()].map(({ domain, serves }) => ({ domain: domain(), serves }));
    const mark: DaemonMark = { ...known, sites };
    await replaceFile(file, `${JSON.stringify(mark)}\n`);
  }
}

/**
 * The daemons on this data folder, each with its socket as a path of this process. Marks and sockets of killed daemons, and
 * marks that came with a copy of another folder, are removed on the way.
 */
export async function runningDaemons(paths: DataPaths, except: string | null = null): Promise<DaemonMark[]> {
  const running: DaemonMark[] = [];
  const folder = await identityOf(paths);
  for (const name of await readdir(paths.daemons)) {
    const file = join(paths.daemons, name);
    if (!name.endsWith('.json') || name.startsWith('.') || file === except) continue;
    const text = await readIfThere(file);
    if (text === null) continue;
    const id = name.slice(0, -'.json'.length);
    const mark = parseMark(text);
    const path = socketSeenFrom(paths, { id, path: mark?.socket ?? null });
    const isOfFolder = mark !== null && folder !== null && marks(mark, folder);
    if (isOfFolder && (isAlive(mark.owner) ?? (await isFresh(file)))) {
      running.push({ ...mark, socket: mark.socket === null ? null : path });
      continue;
    }
    // The mark of a copied folder names the socket of the original, which may be in use.
    await removeDaemonSocket({ id, path: isOfFolder ? path : socketSeenFrom(paths, { id, path: null }) });
    await rm(file, { force: true });
  }
  return running;
}

/**
 * Whether a mark that lies in this folder is about it. A daemon whose folder was replaced under its path works on the new one.
 * Another host may number devices differently, but one device has one folder with that inode.
 */
function marks({ owner, folder: marked }: DaemonMark, folder: FolderIdentity): boolean {
  if (marked === null) return true;
  if (isLocal(owner)) return isSameFolder(marked, folder) || marked.dir === folder.dir;
  return marked.id === folder.id && (marked.device !== folder.device || marked.inode === folder.inode);
}

function isSameFolder(one: FolderIdentity | null, other: FolderIdentity | null): boolean {
  return one !== null && other !== null && folderName(one) === folderName(other);
}

function parseMark(text: string): DaemonMark | null {
  const mark = membersOf(text) as Partial<DaemonMark>;
  const { owner: written, folder = null, config = null, adminUrl = null, socket = null, ports = [], sites = [] } = mark;
  const owner = parseOwner(JSON.stringify(written ?? null));
  return owner && { owner, folder, config, adminUrl, socket, ports, sites };
}

async function isFresh(file: string): Promise<boolean> {
  const info = await stat(file).catch(() => null);
  return info !== null && Date.now() - info.mtimeMs < SILENCE_MS_MAX;
}

export interface DaemonSocket {
  readonly id: string;
  readonly path: string;
}

/** `sun_path` holds 104 bytes on some systems, with a NUL at its end. */
const PATH_BYTES_MAX = 100;

/**
 * Opens the socket in the data folder. If the path is too long or the file system has no sockets, in a private folder of TMPDIR.
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
function socketSeenFrom(
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
