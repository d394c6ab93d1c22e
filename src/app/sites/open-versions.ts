import { LRUCache } from 'lru-cache';
import type { SiteSearch } from '../../search/index.ts';
import { SamePages, type SiteServer, type SiteSnapshot } from '../../serve/index.ts';

export interface OpenVersion {
  readonly server: SiteServer;
  readonly snapshot: SiteSnapshot;
}

/** Of all versions beside the active ones. */
const OPEN_BYTES_MAX = 64 * 1024 ** 2;
/** 110,000 files take 14 MiB (`files/file-table.ts`). */
const FILE_BYTES = 136;
/** Of the prepared files of one. */
const PREPARED_BYTES = 1024 ** 2;
/** After the last request: who compares two versions comes back sooner. */
const IDLE_MS = 10 * 60_000;
/** The engine bounds the memory of their indexes. */
const SEARCHES_MAX = 32;

/** Versions that readers have opened beside the active ones, over all sites of a daemon: the last used ones. */
export class OpenVersions {
  readonly pages = new SamePages();
  readonly #open: LRUCache<string, OpenVersion>;
  readonly #opening = new Map<string, Promise<OpenVersion>>();
  readonly #searches: LRUCache<string, SiteSearch>;

  constructor({ bytesMax = OPEN_BYTES_MAX, idleMs = IDLE_MS } = {}) {
    const untilIdle = { ttl: idleMs, updateAgeOnGet: true, ttlAutopurge: true };
    this.#open = new LRUCache({
      ...untilIdle,
      maxSize: bytesMax,
      sizeCalculation: ({ snapshot }) => Math.min(bytesMax, PREPARED_BYTES + FILE_BYTES * snapshot.release.files.size),
    });
    this.#searches = new LRUCache({ ...untilIdle, max: SEARCHES_MAX, dispose: (search) => search.forget() });
  }

  /** With their tables in memory. */
  get size(): number {
    return this.#open.size;
  }

  /** Concurrent readers share the opening. @throws what `open` throws */
  get(key: string, open: () => Promise<OpenVersion>): Promise<OpenVersion> {
    const known = this.#open.get(key);
    if (known !== undefined) return Promise.resolve(known);
    const opening =
      this.#opening.get(key) ??
      open()
        .then((opened) => {
          this.#open.set(key, opened);
          return opened;
        })
        .finally(() => this.#opening.delete(key));
    this.#opening.set(key, opening);
    return opening;
  }

  /** Its index is opened by its first question. */
  search(key: string, make: () => SiteSearch): SiteSearch {
    const known = this.#searches.get(key);
    if (known !== undefined) return known;
    const made = make();
    this.#searches.set(key, made);
    return made;
  }
}
