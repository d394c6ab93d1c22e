import { closeSync, openSync, readSync, writeFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';
import type { FileStore } from '../../files/file-store.ts';
import type { FetchedContent, PackedAt } from '../ask/fetched-url.ts';

export interface PackFolders {
  readonly jobDir: string;
  readonly recordDir: string;
}

/** Content in few files: making one costs more than all else of keeping a page. Each thread has its own pack. */
export class ContentPacks {
  readonly #folders: PackFolders;
  readonly #ownName: string;
  readonly #files = new Map<string, number>();
  #own: number | null = null;
  #end = 0;

  /** @param ownName of the pack to append to */
  constructor(folders: PackFolders, ownName: string) {
    this.#folders = folders;
    this.#ownName = ownName;
  }

  add(bytes: Uint8Array): PackedAt {
    this.#own ??= openSync(join(this.#folders.jobDir, this.#ownName), 'ax+');
    // Not writeSync, which may write a part and say so.
    writeFileSync(this.#own, bytes);
    const at = { pack: this.#ownName, offset: this.#end };
    this.#end += bytes.length;
    return at;
  }

  read(at: PackedAt, size: number): Uint8Array {
    return readFully(this.#fileOf(at.pack), at, size);
  }

  close(): void {
    for (const file of this.#files.values()) closeSync(file);
    if (this.#own !== null) closeSync(this.#own);
  }

  #fileOf(pack: string): number {
    if (pack === this.#ownName && this.#own !== null) return this.#own;
    const known = this.#files.get(pack);
    if (known !== undefined) return known;
    const file = openFirst(pack, [this.#folders.jobDir, this.#folders.recordDir]);
    this.#files.set(pack, file);
    return file;
  }
}

function readFully(file: number, { pack, offset }: PackedAt, size: number): Uint8Array {
  const bytes = new Uint8Array(size);
  let length = 0;
  while (length < size) {
    const bytesRead = readSync(file, bytes, length, size - length, offset + length);
    if (bytesRead === 0) throw gone(pack);
    length += bytesRead;
  }
  return bytes;
}

function openFirst(pack: string, dirs: readonly string[]): number {
  for (const dir of dirs) {
    try {
      return openSync(join(dir, pack), 'r');
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
  }
  throw gone(pack);
}

function gone(pack: string): DocshelfError {
  return new DocshelfError('cannot_read', `Cannot read "${pack}": content of the crawl is not in it any more`, {
    next: 'Start a new export.',
  });
}

export class KeptContent {
  readonly #store: FileStore;
  readonly #folders: PackFolders;
  /** Of packs that nobody appends to. */
  readonly #sizes = new Map<string, number>();

  constructor(store: FileStore, folders: PackFolders) {
    this.#store = store;
    this.#folders = folders;
  }

  async has({ sha256, size, packed }: FetchedContent): Promise<boolean> {
    if (packed !== null) return (await this.#sizeOf(packed.pack)) >= packed.offset + size;
    return (await sizeOf(this.#store.pathOf(sha256))) === size;
  }

  /** @throws DocshelfError `cannot_read` where a pack is gone */
  async read({ sha256, size, packed }: FetchedContent): Promise<Uint8Array> {
    if (packed === null) return readFile(this.#store.pathOf(sha256));
    const { jobDir, recordDir } = this.#folders;
    const file = openFirst(packed.pack, [jobDir, recordDir]);
    try {
      return readFully(file, packed, size);
    } finally {
      closeSync(file);
    }
  }

  async #sizeOf(pack: string): Promise<number> {
    const known = this.#sizes.get(pack);
    if (known !== undefined) return known;
    const { jobDir, recordDir } = this.#folders;
    const size = Math.max(await sizeOf(join(jobDir, pack)), await sizeOf(join(recordDir, pack)));
    this.#sizes.set(pack, size);
    return size;
  }
}

async function sizeOf(file: string): Promise<number> {
  const info = await stat(file).catch(() => null);
  return info?.size ?? -1;
}
