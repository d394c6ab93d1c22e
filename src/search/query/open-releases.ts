import { LRUCache } from 'lru-cache';
import { ReleaseSearch } from './release-search.ts';

/** A new object for each `set`: LRUCache keeps the size of a value that it has. */
interface Open {
  readonly release: ReleaseSearch;
}

/**
 * Indexes by their search folder, opened when they are first asked and closed where memory is short, those first that were asked
 * longest ago. The one that is asked stays, whatever its size.
 */
export class OpenReleases {
  readonly #open: LRUCache<string, Open>;
  readonly #bytesMax: number;
  /** Found whole by this thread, and not read through again. */
  readonly #checked = new Set<string>();

  /** @param bytesMax of all that are open, by `ReleaseSearch.bytes` */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
    this.#open = new LRUCache<string, Open>({
      maxSize: bytesMax,
      noDisposeOnSet: true,
      dispose: ({ release }) => release.close(),
    });
  }

  get bytes(): number {
    return this.#open.calculatedSize;
  }

  get size(): number {
    return this.#open.size;
  }

  /**
   * Reads an index through, also one that is open; queries go on meanwhile.
   * @param isAsked it stays open; else it is opened again by its first query
   * @throws DocshelfError `index_damaged`
   */
  check(searchDir: string, isAsked: boolean): { readonly sections: number } {
    let release: ReleaseSearch;
    try {
      release = ReleaseSearch.open(searchDir);
    } catch (error) {
      this.close(searchDir);
      throw error;
    }
    this.#checked.add(searchDir);
    // In place of the one that is open, which may be of a file that was replaced.
    if (isAsked || this.#open.has(searchDir)) this.#keep(searchDir, release);
    else release.close();
    return { sections: release.sections };
  }

  /** @throws DocshelfError `index_damaged`; what `act` throws */
  async use<Result>(searchDir: string, act: (release: ReleaseSearch) => Promise<Result>): Promise<Result> {
    const release = this.#open.get(searchDir)?.release ?? this.#reopen(searchDir);
    try {
      return await act(release);
    } finally {
      // Its caches and vectors have grown.
      if (this.#open.peek(searchDir)?.release === release) this.#keep(searchDir, release);
    }
  }

  /** Once its queries under way have their answers. */
  close(searchDir: string): void {
    this.#checked.delete(searchDir);
    this.#open.delete(searchDir);
  }

  #reopen(searchDir: string): ReleaseSearch {
    const release = ReleaseSearch.open(searchDir, this.#checked.has(searchDir));
    this.#keep(searchDir, release);
    return release;
  }

  #keep(searchDir: string, release: ReleaseSearch): void {
    const former = this.#open.peek(searchDir)?.release;
    if (former !== undefined && former !== release) former.close();
    this.#open.set(searchDir, { release }, { size: Math.min(release.bytes, this.#bytesMax) });
  }
}
