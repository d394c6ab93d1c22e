import { readFileSync } from 'node:fs';
import type { FileStore, StoredFile } from '../../files/file-store.ts';
import type { FetchedContent, PackedAt } from '../ask/fetched-url.ts';
import type { ContentPacks } from '../kept/content-packs.ts';

/** What is larger is stored at once, so that little is held in memory. */
const GIVEN_BYTES_MAX = 256 * 1024;

/** The content of files as it came, for a thread. Everything blocks: it has nothing else to do. */
export class PageContent {
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

  /** Stores what is exported, or gives it back for another thread to do so. */
  store(bytes: Uint8Array): StoredFile | Uint8Array {
    const isWhole = bytes.byteLength === bytes.buffer.byteLength;
    if (!this.#givesPages || !isWhole || bytes.length > GIVEN_BYTES_MAX) return this.#store.putBlocking(bytes);
    this.#given.push(bytes.buffer as ArrayBuffer);
    return bytes;
  }

  /** The memory of what was given back since this was called last: it goes with it to the other thread. */
  takeGiven(): ArrayBuffer[] {
    const given = this.#given;
    this.#given = [];
    return given;
  }
}
