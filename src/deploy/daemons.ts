import { hash, randomBytes } from 'node:crypto';
import { chmod, lstat, mkdir, readdir, realpath, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { DocshelfError } from '../domain/errors.ts';
import { membersOf } from '../domain/shape.ts';
import {
  ageOf,
  isAlive,
  isLocal,
  type Owner,
  parseOwner,
  readIfThere,
  replaceFile,
  thisProcess,
} from '../files/index.ts';
import { type DataPaths, type FolderIdentity, folderName, identityOf } from './releases/data-folder.ts';

export interface DaemonMark {
  readonly owner: Owner;
  readonly folder: FolderIdentity | null;
  readonly config: string | null;
  /** Address of the admin listener, such as `http://127.0.0.1:9090`. Null before the daemon listens. */
  readonly adminUrl: string | null;
  readonly socket: string | null;
  /** Listening ports of the daemon. The egress policy blocks docshelf's own requests to them. */
  readonly ports: readonly number[];
  readonly sites: readonly { readonly domain: string; readonly serves: readonly string[] }[];
}

const BEAT_MS = 10_000;
/** Age of a heartbeat file, six heartbeats, after which a daemon on another host counts as stopped. */
const SILENCE_MS_MAX = 60_000;

export interface SiteRegistration {
  setServed(digests: readonly string[]): Promise<void>;
  servedByOthers(): Promise<readonly string[]>;
  unregister(): Promise<void>;
}

/** Heartbeat file of this daemon, written at start and swap, touched at each heartbeat, removed at stop. */
export class DaemonRegistration {
  readonly #paths: DataPaths;
  /** Digests of the releases that each site serves. */
  readonly #sites = new Map<{ readonly domain: string }, readonly string[]>();
  #announced: (Omit<DaemonMark, 'sites'> & { readonly file: string }) | null = null;
  #beat: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  /** Next write of the heartbeat file. All calls during the current write share this next write. */
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
    this.#beat = setInterval(() => void this.#touch(file).catch(() => undefined), BEAT_MS).unref();
  }

  /** Touches the heartbeat file. Writes it again if another host removed it, or if a restored backup replaced the folder. */
  async #touch(file: string): Promise<void> {
    const [now, folder] = [new Date(), await identityOf(this.#paths)];
    if (isSameFolder(folder, this.#announced?.folder ?? null)) await utimes(file, now, now).catch(() => this.#write());
    else await this.#write();
  }

  /** @param site object with the current domain, because the import of the first bundle can change the domain */
  registerSite(site: { readonly domain: string }): SiteRegistration {
    this.#sites.set(site, []);
    return {
      setServed: async (serves) => {
        this.#sites.set(site, serves);
        await this.#write();
      },
      servedByOthers: async () => {
        const others = await runningDaemons(this.#paths, this.#announced?.file);
        return others.flatMap(({ sites }) =>
          sites.filter(({ domain }) => domain === site.domain).flatMap(({ serves }) => serves),
        );
      },
      unregister: async () => {
        this.#sites.delete(site);
        await this.#write();
      },
    };
  }

  async withdraw(): Promise<void> {
    clearInterval(this.#beat);
    const file = this.#announced?.file;
    this.#announced = null;
    await this.#write();
    if (file !== undefined) await rm(file, { force: true });
  }

  #write(): Promise<void> {
    this.#next ??= this.#writing
      .catch(() => undefined)
      .then(() => {
        this.#next = null;
        this.#writing = this.#writeNow();
        return this.#writing;
      });
    return this.#next;
  }

  async #writeNow(): Promise<void> {
    const folder = this.#announced && (await identityOf(this.#paths));
    if (this.#announced === null) return;
    this.#announced = { ...this.#announced, folder };
    const { file, ...known } = this.#announced;
    const sites = [...this.#sites].map(([{ domain }, serves]) => ({ domain, serves }));
    const mark: DaemonMark = { ...known, sites };
    await replaceFile(file, `${JSON.stringify(mark)}\n`);
  }
}

/**
 * Lists the running daemons, and removes heartbeat files of killed daemons and of a copied data folder. Each returned socket
 * path is valid in this process.
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
    if (isOfFolder && (isAlive(mark.owner) ?? ((await ageOf(file)) ?? Infinity) < SILENCE_MS_MAX)) {
      running.push({ ...mark, socket: mark.socket === null ? null : path });
      continue;
    }
    // A copied heartbeat file names the socket of the original daemon, which may still run. Remove only a socket in this folder.
    const leftover = { id, path: isOfFolder ? path : socketSeenFrom(paths, { id, path: null }) };
    // Ignore a failed removal, because a command that only reads must also work on a read-only data folder.
    await removeDaemonSocket(leftover)
      .then(() => rm(file, { force: true }))
      .catch(() => undefined);
  }
  return running;
}

/**
 * True if the daemon that wrote this heartbeat file uses `folder`, not a copy of it. On the same host, an equal path suffices,
 * because a restored backup has a new inode. On another host, the folder ids must be equal, and if the devices are equal, the
 * inodes must be equal too.
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

export interface DaemonSocket {
  readonly id: string;
  readonly path: string;
}

/** Maximum bytes of a socket path. On some systems, `sun_path` has 104 bytes, with a NUL at the end. */
const PATH_BYTES_MAX = 100;

/**
 * Opens the daemon's socket in the data folder. If the path is too long or the file system has no sockets, uses a private
 * folder in TMPDIR.
 * @throws DocshelfError `cannot_listen`
 */
export async function openDaemonSocket<T>(
  { dir, daemons }: Pick<DataPaths, 'dir' | 'daemons'>,
  listen: (path: string) => Promise<T>,
): Promise<{ readonly socket: DaemonSocket; readonly listener: T }> {
  const id = randomBytes(8).toString('hex');
  const open = async (path: string) => {
    if (Buffer.byteLength(path) > PATH_BYTES_MAX) {
      const message = `Cannot listen on "${path}": the path is longer than ${PATH_BYTES_MAX} bytes`;
      throw new DocshelfError('cannot_listen', message, { next: 'Set TMPDIR to a folder with a shorter path.' });
    }
    return { socket: { id, path }, listener: await listen(path) };
  };
  return open(join(daemons, `${id}.sock`)).catch(async () => {
    const name = hash('sha256', await realpath(dir)).slice(0, 16);
    return open(join(await privateFolder(), `${name}-${id}.sock`));
  });
}

async function privateFolder(): Promise<string> {
  const uid = process.getuid?.() ?? 0;
  const folder = join(tmpdir(), `docshelf-${uid}`);
  await mkdir(folder, { mode: 0o700 }).catch(() => undefined);
  const info = await lstat(folder);
  if (!info.isDirectory() || info.uid !== uid) {
    const message = `Cannot listen in "${folder}": it is not a folder, or it belongs to another user`;
    throw new DocshelfError('cannot_listen', message, { next: `Remove "${folder}", or set TMPDIR to another folder.` });
  }
  if ((info.mode & 0o077) !== 0) await chmod(folder, 0o700);
  return folder;
}

/**
 * Path at which this process finds a daemon's socket. The daemon may see the same data folder under another path.
 * @param path null for a socket in the data folder
 */
function socketSeenFrom(
  { daemons }: Pick<DataPaths, 'daemons'>,
  { id, path }: { readonly id: string; readonly path: string | null },
): string {
  const own = join(daemons, `${id}.sock`);
  if (path === null) return own;
  return basename(path) === `${id}.sock` && Buffer.byteLength(own) <= PATH_BYTES_MAX ? own : path;
}

/** Removes a daemon's socket. Checks its type and the daemon's id in its name, because a heartbeat file can contain any path. */
export async function removeDaemonSocket({ id, path }: DaemonSocket): Promise<void> {
  const name = basename(path);
  if (name !== `${id}.sock` && !name.endsWith(`-${id}.sock`)) return;
  const info = await lstat(path).catch(() => null);
  if (info?.isSocket() === true) await rm(path, { force: true });
}
