import { createHash, hash } from 'node:crypto';
import { chmod, type FileHandle, link, mkdir, open, readFile, rename, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf } from '../domain/errors.ts';
import { digestFile, ifThere, isLinkRefused } from '../files/index.ts';
import { Lanes } from '../files/lanes.ts';
import type { Refuse } from './rules.ts';

const FILE_MODE = 0o644;
const FOLDER_MODE = 0o755;
/** Maximum bytes of a file that is collected in memory, so that it can be written while the next file is unpacked. */
const SMALL_BYTES_MAX = 1024 ** 2;
/** Number of small files to write concurrently, one per thread of the libuv pool. The files need up to 4 MiB of memory. */
const WRITING_MAX = 4;

type FileTarget = { readonly file: string; readonly size: number; readonly entryName: string };

/** Returns the path of an existing file with this SHA-256, or null if there is none. `FileWriter` compares the content before linking. */
export type FindSame = (sha256: string) => string | null;

/** Writes new files with fixed modes, without flushing. Never opens an existing file or follows a link. */
export class FileWriter extends Lanes {
  readonly #refuse: Refuse;
  readonly #findSame: FindSame;
  readonly #aside: string;
  #linked = 0;

  /** @param aside path prefix of new hard links. Each link is then renamed over a written file with the same content */
  constructor(refuse: Refuse, findSame: FindSame, aside: string) {
    super(WRITING_MAX);
    this.#refuse = refuse;
    this.#findSame = findSame;
    this.#aside = aside;
  }

  /** Resolves when `content` is read. Calls `onWritten` after the file is written. @throws errors of this file or of an earlier file */
  async write(target: FileTarget, content: AsyncIterable<Buffer>, onWritten: (sha256: string) => void): Promise<void> {
    if (target.size > SMALL_BYTES_MAX) {
      const sha256 = await this.#create(target, (handle) => writeStream(handle, content));
      await this.#replaceByLink(target, sha256);
      onWritten(sha256);
      return;
    }
    const parts: Buffer[] = [];
    for await (const part of content) parts.push(part);
    const bytes = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
    await this.run(async () => {
      const sha256 = hash('sha256', bytes);
      const same = bytes.length === 0 ? null : this.#findSame(sha256);
      const isSame = same !== null && (await isContent(same, bytes));
      if (!isSame || !(await this.#link(same, target))) await this.#create(target, (handle) => handle.writeFile(bytes));
      onWritten(sha256);
    });
  }

  async #link(same: string, target: FileTarget): Promise<boolean> {
    try {
      await link(same, target.file);
      return true;
    } catch (error) {
      if (isLinkRefused(error) || OUT_OF_REACH.has(errnoOf(error) ?? '')) return false;
      throw this.#explained(error, target);
    }
  }

  async #replaceByLink(target: FileTarget, sha256: string): Promise<void> {
    const same = this.#findSame(sha256);
    if (same === null || (await digestFile(same).catch(() => null)) !== sha256) return;
    this.#linked += 1;
    const aside = { ...target, file: `${this.#aside}${this.#linked}` };
    if (await this.#link(same, aside)) await rename(aside.file, target.file);
  }

  async #create<Result>(target: FileTarget, write: (handle: FileHandle) => Promise<Result>): Promise<Result> {
    await using handle = await open(target.file, 'wx', FILE_MODE).catch((error: unknown) => {
      throw this.#explained(error, target);
    });
    const written = await write(handle);
    await handle.chmod(FILE_MODE);
    return written;
  }

  /** Explains the error EEXIST: the file system can treat two different names of the archive as equal. */
  #explained(error: unknown, target: FileTarget): unknown {
    if (errnoOf(error) !== 'EEXIST') return error;
    return this.#refuse(
      'name_case_conflict',
      'has a name that the file system of the data folder does not distinguish from another name',
      { entry: target.entryName, cause: error },
    );
  }
}

const OUT_OF_REACH = new Set(['EACCES', 'ENOENT']);

/**
 * True if a stored file has the given bytes. Compares no digests, because a file of a damaged release may differ from the digest
 * in the file table.
 */
async function isContent(file: string, bytes: Buffer): Promise<boolean> {
  const size = (await ifThere(stat(file)).catch(() => null))?.size;
  return size === bytes.length && ((await readFile(file).catch(() => null))?.equals(bytes) ?? false);
}

const KNOWN_FOLDERS_MAX = 10_000;

/** Creates the folders `paths` in `base`, which must be empty or missing. */
export async function makeFolders(base: string, paths: Iterable<string>): Promise<void> {
  await mkdir(base, { recursive: true, mode: FOLDER_MODE });
  await chmod(base, FOLDER_MODE);
  let made = new Set(['', '.']);
  for (const path of paths) {
    const missing: string[] = [];
    for (let folder = path; !made.has(folder); folder = dirname(folder)) missing.push(folder);
    if (made.size + missing.length > KNOWN_FOLDERS_MAX) made = new Set(['', '.']);
    for (const folder of missing.reverse()) {
      made.add(folder);
      await makeFolder(join(base, folder));
    }
  }
}

async function makeFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, FOLDER_MODE);
    await chmod(folder, FOLDER_MODE);
  } catch (error) {
    if (errnoOf(error) !== 'EEXIST') throw error;
  }
}

async function writeStream(handle: FileHandle, content: AsyncIterable<Buffer>): Promise<string> {
  const digest = createHash('sha256');
  for await (const chunk of content) {
    digest.update(chunk);
    await handle.writeFile(chunk);
  }
  return digest.digest('hex');
}
