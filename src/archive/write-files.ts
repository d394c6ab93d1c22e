import { createHash, hash } from 'node:crypto';
import { chmod, type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { errnoOf } from '../domain/errors.ts';
import { Lanes } from '../files/lanes.ts';
import type { Refuse } from './rules.ts';

const FILE_MODE = 0o644;
const FOLDER_MODE = 0o755;
/** Up to this size a file is gathered in memory and written while the next one is being unpacked. */
const SMALL_BYTES_MAX = 1024 ** 2;
/** Small files that are written at once, as many as the thread pool has threads; with the one above, 4 MiB of memory. */
const WRITING_MAX = 4;

interface FileTarget {
  readonly file: string;
  readonly size: number;
  readonly entryName: string;
}

/** Writes below folders of its own, unflushed, with fixed modes; exclusively: opens and follows nothing existing. */
export class FileWriter extends Lanes {
  readonly #refuse: Refuse;

  constructor(refuse: Refuse) {
    super(WRITING_MAX);
    this.#refuse = refuse;
  }

  /**
   * Resolves when `content` is read, maybe before it is on disk; `onWritten` is called when it is.
   * @throws what writing throws, of this file or of an earlier one
   */
  async take(target: FileTarget, content: AsyncIterable<Buffer>, onWritten: (sha256: string) => void): Promise<void> {
    if (target.size > SMALL_BYTES_MAX) {
      onWritten(await this.#create(target, (handle) => writeStream(handle, content)));
      return;
    }
    const parts: Buffer[] = [];
    for await (const part of content) parts.push(part);
    const bytes = parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);
    await this.run(async () => {
      const write = async (handle: FileHandle) => {
        await handle.writeFile(bytes);
        return hash('sha256', bytes);
      };
      onWritten(await this.#create(target, write));
    });
  }

  async #create(target: FileTarget, write: (handle: FileHandle) => Promise<string>): Promise<string> {
    await using handle = await open(target.file, 'wx', FILE_MODE).catch((error: unknown) => {
      throw this.#explained(error, target);
    });
    const sha256 = await write(handle);
    await handle.chmod(FILE_MODE);
    return sha256;
  }

  /** Distinct names in the archive may be one to the file system. */
  #explained(error: unknown, target: FileTarget): unknown {
    if (errnoOf(error) !== 'EEXIST') return error;
    return this.#refuse('name_case_conflict', "has a name that the data folder's file system takes for another's", {
      entry: target.entryName,
      cause: error,
    });
  }
}

/** Makes the folders of `paths` below `base`, and those above them. `base` may be there; nothing below it may. */
export async function makeFolders(base: string, paths: Iterable<string>): Promise<void> {
  await mkdir(base, { recursive: true, mode: FOLDER_MODE });
  await chmod(base, FOLDER_MODE);
  const made = new Set(['', '.']);
  for (const path of paths) {
    const missing: string[] = [];
    for (let folder = path; !made.has(folder); folder = dirname(folder)) {
      missing.push(folder);
      made.add(folder);
    }
    for (const folder of missing.reverse()) {
      await mkdir(join(base, folder), FOLDER_MODE);
      await chmod(join(base, folder), FOLDER_MODE);
    }
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
