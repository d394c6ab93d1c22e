import { readFileSync } from 'node:fs';
import type { FileStore } from '../file-store.ts';
import type { ContentPacks } from './content-packs.ts';
import type { FetchedContent, PackedAt } from './fetched-url.ts';

/** The content of files as it came, for a thread. Everything blocks: it has nothing else to do. */
export class PageContent {
  readonly #store: FileStore;
  readonly #packs: ContentPacks;

  constructor(store: FileStore, packs: ContentPacks) {
    this.#store = store;
    this.#packs = packs;
  }

  pack(bytes: Uint8Array): PackedAt {
    return this.#packs.add(bytes);
  }

  read({ sha256, size, packed }: FetchedContent): Uint8Array {
    return packed === null ? readFileSync(this.#store.pathOf(sha256)) : this.#packs.read(packed, size);
  }

  /** As it is exported. */
  store(bytes: Uint8Array): { readonly sha256: string; readonly size: number } {
    return this.#store.putBlocking(bytes);
  }
}
