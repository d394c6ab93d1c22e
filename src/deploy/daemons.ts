import { randomBytes } from 'node:crypto';
import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { membersOf } from '../domain/shape.ts';
import { isAlive, isLocal, type Owner, parseOwner, readIfThere, replaceFile, thisProcess } from '../files/index.ts';
import { type DaemonSocket, removeDaemonSocket, socketSeenFrom } from './daemon-socket.ts';
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
  /** That it has, each with the digests that nobody may take from the site; none where it is not served. */
  readonly sites: readonly { readonly domain: string; readonly serves: readonly string[] }[];
}

const BEAT_MS = 10_000;
/** A daemon on another host counts as gone after six missed beats. */
const SILENCE_MS_MAX = 60_000;

/** One site's part in its daemon's mark. */
export interface SiteRegistration {
  /** In place of what the site served before. Resolves when the mark says it. */
  serves(digests: readonly string[]): Promise<void>;
  /** Digests that other daemons on the folder serve as this site. */
  othersServe(): Promise<readonly string[]>;
  /** The daemon has the site no longer. */
  leave(): Promise<void>;
}

/** This daemon's own mark, shared by its sites: written at start and swap, touched on a beat, gone at stop. */
export class DaemonRegistration {
  readonly #paths: DataPaths;
  readonly #sites = new Map<symbol, { readonly domain: () => string; readonly serves: readonly string[] }>();
  #file: string | null = null;
  #mark: Omit<DaemonMark, 'sites' | 'folder'> | null = null;
  /** The folder as the mark names it. */
  #folder: FolderIdentity | null = null;
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
    this.#file = file;
    this.#mark = { owner: thisProcess(), config, adminUrl, socket: socket?.path ?? null, ports };
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
    if (isSameFolder(folder, this.#folder)) await utimes(file, now, now).catch(() => this.#write());
    else await this.#write();
  }

  /** @param domain the site's, which a first bundle may settle */
  siteOf(domain: () => string): SiteRegistration {
    const key = Symbol('site');
    this.#sites.set(key, { domain, serves: [] });
    return {
      serves: async (serves) => {
        this.#sites.set(key, { domain, serves });
        await this.#write();
      },
      othersServe: async () => {
        const others = await runningDaemons(this.#paths, this.#file);
        return others.flatMap(({ sites }) =>
          sites.filter((site) => site.domain === domain()).flatMap(({ serves }) => serves),
        );
      },
      leave: async () => {
        this.#sites.delete(key);
        await this.#write();
      },
    };
  }

  async withdraw(): Promise<void> {
    clearInterval(this.#beat);
    this.#mark = null;
    await this.#write();
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
    if (this.#file === null) return;
    if (this.#mark === null) return rm(this.#file, { force: true });
    const sites = [...this.#sites.values()].map(({ domain, serves }) => ({ domain: domain(), serves }));
    this.#folder = await identityOf(this.#paths);
    const mark: DaemonMark = { ...this.#mark, folder: this.#folder, sites };
    await replaceFile(this.#file, `${JSON.stringify(mark)}\n`);
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
