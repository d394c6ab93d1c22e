import { closeSync, openSync, readFileSync, readSync, writeFileSync, writeSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';
import type { FileStore, StoredFile } from '../../files/file-store.ts';
import type { FoundReferences } from '../../web/rewrite/index.ts';
import type { FetchedContent, FetchedUrl, FoundPlace, PackedAt } from '../entry.ts';
import type { FetchedAnswer } from '../fetcher.ts';

export type PackFolders = { readonly jobDir: string; readonly recordDir: string };

const GIVEN_BYTES_MAX = 256 * 1024;

/** Synchronous storage of a thread. Fetched content goes to a pack per thread, because creating a file costs more than everything else. */
export class PageContents {
  readonly #store: FileStore;
  readonly #folders: PackFolders;
  readonly #ownPack: string;
  readonly #givesPages: boolean;
  readonly #packs = new Map<string, number>();
  #ownFile: number | null = null;
  #end = 0;
  #given: ArrayBuffer[] = [];

  constructor(store: FileStore, folders: PackFolders, ownPack: string, givesPages: boolean) {
    this.#store = store;
    this.#folders = folders;
    this.#ownPack = ownPack;
    this.#givesPages = givesPages;
  }

  pack(bytes: Uint8Array): PackedAt {
    this.#ownFile ??= openSync(join(this.#folders.jobDir, this.#ownPack), 'ax+');
    writeFileSync(this.#ownFile, bytes);
    const at = { pack: this.#ownPack, offset: this.#end };
    this.#end += bytes.length;
    return at;
  }

  read({ sha256, size, packed }: FetchedContent): Uint8Array {
    if (packed === null) return readFileSync(this.#store.pathOf(sha256));
    return readFully(this.#fileOf(packed.pack), packed, size);
  }

  store(bytes: Uint8Array): StoredFile | Uint8Array {
    const isWhole = bytes.byteLength === bytes.buffer.byteLength;
    if (!this.#givesPages || !isWhole || bytes.length > GIVEN_BYTES_MAX) return this.#store.putBlocking(bytes);
    this.#given.push(bytes.buffer as ArrayBuffer);
    return bytes;
  }

  takeGiven(): ArrayBuffer[] {
    const given = this.#given;
    this.#given = [];
    return given;
  }

  #fileOf(pack: string): number {
    if (pack === this.#ownPack && this.#ownFile !== null) return this.#ownFile;
    const file = this.#packs.get(pack) ?? openFirst(pack, this.#folders);
    this.#packs.set(pack, file);
    return file;
  }
}

/** A browser gets a body as one message, with several copies in memory. */
const BROWSER_BODY_BYTES_MAX = 64 * 1024 ** 2;

/** Asynchronous storage for the crawl's main thread. Only reading a pack blocks. */
export class KeptContent {
  readonly #store: FileStore;
  readonly #folders: PackFolders;
  /** Sizes of packs that no thread writes to. */
  readonly #sizes = new Map<string, number>();

  constructor(store: FileStore, folders: PackFolders) {
    this.#store = store;
    this.#folders = folders;
  }

  async has({ sha256, size, packed }: FetchedContent): Promise<boolean> {
    if (packed !== null) return (await this.#sizeOf(packed.pack)) >= packed.offset + size;
    return (await sizeOf(this.#store.pathOf(sha256))) === size;
  }

  async read({ sha256, size, packed }: FetchedContent): Promise<Uint8Array> {
    if (packed === null) return readFile(this.#store.pathOf(sha256));
    const file = openFirst(packed.pack, this.#folders);
    try {
      return readFully(file, packed, size);
    } finally {
      closeSync(file);
    }
  }

  async answer({ url, status, contentType, location, content }: FetchedUrl): Promise<FetchedAnswer> {
    if (content !== null && content.size > BROWSER_BODY_BYTES_MAX)
      throw new DocshelfError('source_too_large', `Cannot show "${url}" in a browser: it has ${content.size} bytes`);
    const headers: Readonly<Record<string, string | null>> = { 'content-type': contentType || null, location };
    const body = content === null ? new Uint8Array() : await this.read(content);
    return { status, header: (name) => headers[name] ?? null, body };
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

function openFirst(pack: string, { jobDir, recordDir }: PackFolders): number {
  for (const dir of [jobDir, recordDir]) {
    try {
      return openSync(join(dir, pack), 'r');
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
  }
  throw gone(pack);
}

function gone(pack: string): DocshelfError {
  return new DocshelfError('cannot_read', `Cannot read "${pack}": it no longer contains the content of the crawl`, {
    next: 'Start a new export.',
  });
}

/** Bytes of JSON. Objects take about three times as much. */
const KEPT_BYTES_MAX = 6 * 1024 ** 2;

/** References of files, first in memory and then in a file, because 20,000 pages have gigabytes. */
export class FoundStore {
  readonly #dir: string;
  readonly #thread: number;
  readonly #files = new Map<number, number>();
  readonly #kept = new Map<number, FoundReferences>();
  #keptBytes = 0;
  #end = 0;

  constructor(dir: string, thread: number) {
    this.#dir = dir;
    this.#thread = thread;
    this.#files.set(thread, openSync(this.#pathOf(thread), 'wx+'));
  }

  add(found: FoundReferences): FoundPlace {
    if (this.#keptBytes < KEPT_BYTES_MAX) return this.#keep(found);
    const bytes = Buffer.from(JSON.stringify(found));
    writeSync(this.#fileOf(this.#thread), bytes, 0, bytes.length, this.#end);
    const place = { thread: this.#thread, offset: this.#end, length: bytes.length };
    this.#end += bytes.length;
    return place;
  }

  read({ thread, offset, length }: FoundPlace): FoundReferences {
    const kept = length === 0 ? this.#kept.get(offset) : undefined;
    if (kept !== undefined) return kept;
    const bytes = Buffer.allocUnsafe(length);
    readSync(this.#fileOf(thread), bytes, 0, length, offset);
    return JSON.parse(bytes.toString('utf8')) as FoundReferences;
  }

  #keep(found: FoundReferences): FoundPlace {
    const offset = this.#kept.size;
    this.#kept.set(offset, found);
    this.#keptBytes += found.spans.length * 6 + found.urls.reduce((sum, url) => sum + url.length, 0);
    return { thread: this.#thread, offset, length: 0 };
  }

  #fileOf(thread: number): number {
    const known = this.#files.get(thread);
    if (known !== undefined) return known;
    const file = openSync(this.#pathOf(thread), 'r');
    this.#files.set(thread, file);
    return file;
  }

  #pathOf(thread: number): string {
    return join(this.#dir, `found-${thread}`);
  }
}
