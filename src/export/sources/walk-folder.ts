import type { Dirent, Stats } from 'node:fs';
import { readdir, realpath, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { isByProduct } from '../../archive/layout.ts';
import { canonicalName, decodeName, refusalsOf } from '../../archive/rules.ts';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';
import { badSource, type Finding } from '../../domain/job.ts';
import type { ArchiveLimits } from '../../domain/limits.ts';
import { OWN_FOLDER } from '../../domain/release.ts';
import { showName } from '../../domain/secret.ts';
import { isInside } from '../../files/index.ts';
import { mapAhead } from '../../files/lanes.ts';
import { isHidden } from '../../web/resolve.ts';

export type FoundFile = { readonly path: string; readonly file: string; readonly size: number };

type FoundFiles = { readonly files: readonly FoundFile[]; readonly leftOut: readonly Finding[] };

interface Folder {
  readonly path: string;
  readonly dir: string;
  /** Resolved paths of the folder and its parents. A link in the folder to one of these paths is a loop. */
  readonly trail: ReadonlySet<string>;
}

type Found = { readonly path: string; readonly file: string; readonly info: Stats };

const NEITHER = 'it is neither a file nor a folder';
export const OWN = "it is docshelf's own folder, which each export creates again";
const BY_PRODUCT = 'it comes from an archive program or a file manager';
const TOO_LARGE = 'Set path or output of the source to the folder of the built site only, or split the site.';

/** Number of concurrent file lookups: twice the threads of libuv's pool. */
const LOOKS_MAX = 8;

/**
 * Lists a folder, and follows links within it. Omits hidden paths (`isHidden`), other links, special files, and files that archives do
 * not allow. @throws DocshelfError `bad_source` if it is unreadable or exceeds the limits of an archive; `signal.reason`
 */
export async function walkFolder(dir: string, limits: ArchiveLimits, signal: AbortSignal): Promise<FoundFiles> {
  const root = await realpath(dir).catch(unreadable(dir));
  return new FolderWalk(root, dir, limits).run(signal);
}

class FolderWalk {
  readonly #root: string;
  readonly #name: string;
  readonly #limits: ArchiveLimits;
  readonly #files: FoundFile[] = [];
  readonly #leftOut: Finding[] = [];
  readonly #taken = new Set<string>();
  #entries = 0;
  #totalBytes = 0;

  constructor(root: string, name: string, limits: ArchiveLimits) {
    this.#root = root;
    this.#name = name;
    this.#limits = limits;
  }

  async run(signal: AbortSignal): Promise<FoundFiles> {
    const folders: Folder[] = [{ path: '', dir: this.#root, trail: new Set([this.#root]) }];
    for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
      signal.throwIfAborted();
      folders.push(...(await this.#read(folder)));
    }
    const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1);
    this.#leftOut.sort((a, b) => byPath({ path: a.page }, { path: b.page }));
    return { files: this.#files.sort(byPath), leftOut: this.#leftOut };
  }

  async #read(folder: Folder): Promise<Folder[]> {
    // Read file names as bytes, because a name that is not UTF-8 would be decoded to a name that does not exist.
    const reading = readdir(folder.dir, { withFileTypes: true, encoding: 'buffer' });
    const entries = await reading.catch(unreadable(folder.dir));
    entries.sort((a, b) => Buffer.compare(a.name, b.name));
    this.#entries += entries.length;
    this.#checkCounts();
    const below: Folder[] = [];
    const looks = mapAhead(entries, LOOKS_MAX, (entry) => this.#look(folder, entry));
    for await (const each of looks) if (each !== null) this.#take(each, folder, below);
    return below;
  }

  async #look(folder: Folder, entry: Dirent<Buffer>): Promise<Found | null> {
    const path = this.#pathOf(folder, entry);
    if (path === null) return null;
    const place = join(folder.dir, posix.basename(path));
    if (!entry.isFile() && !entry.isDirectory() && !entry.isSymbolicLink()) return this.#leaveOut(path, NEITHER);
    const file = entry.isSymbolicLink() ? await this.#follow(place, path) : place;
    if (file === null) return null;
    const info = await stat(file).catch(unreadable(file));
    return { path, file, info };
  }

  #take({ path, file, info }: Found, { trail }: Folder, below: Folder[]): void {
    if (info.isDirectory()) {
      if (trail.has(file)) this.#leaveOut(path, 'it is a symbolic link to a folder that contains it');
      else below.push({ path: `${path}/`, dir: file, trail: new Set([...trail, file]) });
      return;
    }
    const reason = this.#whyNot(path, info);
    if (reason !== null) {
      this.#leaveOut(path, reason);
      return;
    }
    this.#taken.add(path.normalize('NFC'));
    this.#files.push({ path, file, size: info.size });
    this.#checkCounts();
    this.#totalBytes += info.size;
    const { totalBytesMax } = this.#limits;
    if (this.#totalBytes > totalBytesMax)
      throw badSource(this.#name, `its files have more than ${totalBytesMax} bytes together`, TOO_LARGE);
  }

  #whyNot(path: string, info: Stats): string | null {
    if (!info.isFile()) return NEITHER;
    if (info.size > this.#limits.fileBytesMax) return `it has more than ${this.#limits.fileBytesMax} bytes`;
    return this.#taken.has(path.normalize('NFC')) ? 'another file has the same name in a different Unicode form' : null;
  }

  #pathOf(folder: Folder, entry: Dirent<Buffer>): string | null {
    const refuse = refusalsOf(this.#name);
    try {
      const path = canonicalName(`${folder.path}${decodeName(entry.name, refuse)}`, this.#limits, refuse);
      if (`${path}/`.startsWith(OWN_FOLDER)) return this.#leaveOut(path, OWN);
      if (isByProduct(path)) return this.#leaveOut(path, BY_PRODUCT);
      // Test folders with a final slash. Otherwise `isHidden` would take the folder `.well-known/` for a hidden file.
      const isServed = !isHidden(entry.isFile() ? path : `${path}/`);
      return isServed ? path : this.#leaveOut(path, 'its name begins with a dot, and such files are never served');
    } catch (error) {
      if (!(error instanceof DocshelfError)) throw error;
      const written = folder.path + entry.name.toString('utf8');
      return this.#leaveOut(written, `its name is not allowed in archives (${error.code})`);
    }
  }

  async #follow(link: string, path: string): Promise<string | null> {
    const target = await realpath(link).catch((error: unknown) => {
      const errno = errnoOf(error);
      if (errno === 'ENOENT' || errno === 'ELOOP' || errno === 'ENOTDIR') return null;
      return unreadable(link)(error);
    });
    if (target === null) return this.#leaveOut(path, 'it is a symbolic link without a target');
    const isWithin = target === this.#root || isInside(target, this.#root);
    return isWithin ? target : this.#leaveOut(path, 'it is a symbolic link that leaves the folder');
  }

  #checkCounts(): void {
    const { entriesMax } = this.#limits;
    if (this.#entries > 2 * entriesMax || this.#files.length > entriesMax)
      throw badSource(this.#name, `it contains more than ${entriesMax} files, or as many folders`, TOO_LARGE);
  }

  #leaveOut(path: string, reason: string): null {
    this.#leftOut.push(leftOut(path, reason));
    return null;
  }
}

export const leftOut = (path: string, detail: string): Finding => ({ kind: 'left_out', page: showName(path), detail });

/** @throws DocshelfError `bad_source` with the advice `next` if the file or folder is missing or unreadable */
export const statSource = (path: string, next: string): Promise<Stats> =>
  stat(path).catch((error: unknown) => {
    const isMissing = errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR';
    const state = isMissing ? 'it does not exist' : `it cannot be read (${errnoOf(error) ?? error})`;
    throw badSource(path, state, next, error);
  });

const unreadable = (path: string) => (error: unknown) => {
  const state = `it cannot be read (${errnoOf(error) ?? String(error)})`;
  throw badSource(path, state, 'Make the file or folder readable for the user that docshelf runs as.', error);
};
