import { LRUCache } from 'lru-cache';
import { DocshelfError } from '../../domain/errors.ts';
import { ReleaseSearch } from './release-search.ts';

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
  readonly #opening = new Map<string, Promise<ReleaseSearch>>();
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
  async check(searchDir: string, isAsked: boolean): Promise<{ readonly sections: number }> {
    const release = await ReleaseSearch.open(searchDir).catch((error: unknown) => {
      this.close(searchDir);
      throw error;
    });
    this.#checked.add(searchDir);
    // In place of the one that is open, which may be of a file that was replaced.
    if (isAsked || this.#open.has(searchDir)) this.#keep(searchDir, release);
    else release.close();
    return { sections: release.sections };
  }

  /** @throws DocshelfError `index_damaged` where it cannot be opened, or is closed meanwhile; what `act` throws */
  async use<Result>(searchDir: string, act: (release: ReleaseSearch) => Promise<Result>): Promise<Result> {
    for (;;) {
      const release = this.#open.get(searchDir)?.release ?? (await this.#opened(searchDir));
      // Another one may have taken its place between its opening and this turn.
      if (release.isClosed) continue;
      try {
        return await act(release);
      } finally {
        // Its caches and vectors have grown.
        if (this.#open.peek(searchDir)?.release === release) this.#keep(searchDir, release);
      }
    }
  }

  /** Once its queries under way have their answers. */
  close(searchDir: string): void {
    this.#opening.delete(searchDir);
    this.#checked.delete(searchDir);
    this.#open.delete(searchDir);
  }

  #opened(searchDir: string): Promise<ReleaseSearch> {
    const known = this.#opening.get(searchDir);
    if (known !== undefined) return known;
    const opening: Promise<ReleaseSearch> = ReleaseSearch.open(searchDir, this.#checked.has(searchDir)).then(
      (release) => {
        if (this.#opening.get(searchDir) === opening) this.#keep(searchDir, release);
        else {
          release.close();
          throw new DocshelfError('index_damaged', 'Cannot search: the index of this release was closed');
        }
        return release;
      },
    );
    this.#opening.set(searchDir, opening);
    const forget = (): void => {
      if (this.#opening.get(searchDir) === opening) this.#opening.delete(searchDir);
    };
    opening.then(forget, forget);
    return opening;
  }

  #keep(searchDir: string, release: ReleaseSearch): void {
    const former = this.#open.peek(searchDir)?.release;
    if (former !== undefined && former !== release) former.close();
    this.#open.set(searchDir, { release }, { size: Math.min(release.bytes, this.#bytesMax) });
  }
}
