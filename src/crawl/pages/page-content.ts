import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { FileStore, StoredFile } from '../../files/file-store.ts';
import type { FoundReferences } from '../../web/rewrite/index.ts';
import type { FetchedContent, PackedAt } from '../ask/fetched-url.ts';
import type { ContentPacks } from '../kept/content-packs.ts';
import type { FoundPlace } from './page-work.ts';

const GIVEN_BYTES_MAX = 256 * 1024;

/** For a thread: everything blocks. */
export class PageContents {
  readonly #store: FileStore;
  readonly #packs: ContentPacks;
  readonly #givesPages: boolean;
  #given: ArrayBuffer[] = [];

  constructor(store: FileStore, packs: ContentPacks, givesPages: boolean) {
    this.#store = store;
    this.#packs = packs;
    this.#givesPages = givesPages;
  }

  pack(bytes: Uint8Array): PackedAt {
    return this.#packs.add(bytes);
  }

  read({ sha256, size, packed }: FetchedContent): Uint8Array {
    return packed === null ? readFileSync(this.#store.pathOf(sha256)) : this.#packs.read(packed, size);
  }

  /** Gives the file back where another thread is to store it. */
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
}

/** Bytes of JSON; objects take some three times as much. */
const KEPT_BYTES_MAX = 6 * 1024 ** 2;

/** References of files: the first in a thread's memory, the rest in a file, since 20,000 pages have gigabytes. */
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

  close(): void {
    for (const file of this.#files.values()) closeSync(file);
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
