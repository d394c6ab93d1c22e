import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { DocshelfError } from '../../domain/errors.ts';
import { VECTOR_FILE } from '../indexing/index-files.ts';
import type { Embedder, ModelChoice } from '../ports.ts';
import type { ResponseBody, ResultForm, SearchRequest } from '../request.ts';
import { rememberQueries } from '../semantic/embedders.ts';
import { type CosineScale, measureScale, VectorIndex } from '../semantic/vector-index.ts';
import { VectorTable } from '../semantic/vector-table.ts';
import { ReleaseSearch, type SemanticParts } from './release-search.ts';

export interface OpenIndexRequest {
  readonly searchDir: string;
  /** Readers were asking the site: the index stays open for the next query. */
  readonly isAsked: boolean;
}

/** Vectors are read by the first query, which takes 0.2 s longer if it is also the first to need the model. */
export interface UsableVectors {
  readonly modelDigest: string;
  readonly model: ModelChoice;
  /** Changes whenever vectors are added. */
  readonly revision: number;
}

export interface QueryRequest {
  readonly searchDir: string;
  readonly request: SearchRequest;
  readonly label: string;
  readonly form: ResultForm;
  /** Null before the release has vectors: it is searched by keywords alone. */
  readonly vectors: UsableVectors | null;
}

/** Fits 30 sites of 100 pages with full caches. A hundred searched in turn stay under 500 MiB resident; opening one takes 30 ms. */
const OPEN_BYTES_MAX = 128 * 1024 ** 2;

/** Each request contains all that it needs, so that another thread can replace one that died. */
export class QueryThread {
  readonly #releases = new OpenReleases(OPEN_BYTES_MAX);
  readonly #load: (model: ModelChoice) => Promise<Embedder>;
  readonly #models = new Map<string, Promise<{ embedder: Embedder; scale: CosineScale }>>();

  constructor(load: (model: ModelChoice) => Promise<Embedder>) {
    this.#load = load;
  }

  /** Ends the models: no later query uses them. */
  async end(): Promise<void> {
    const models = await Promise.allSettled(this.#models.values());
    await Promise.all(models.map((model) => (model.status === 'fulfilled' ? model.value.embedder.close?.() : null)));
  }

  open({ searchDir, isAsked }: OpenIndexRequest): { readonly sections: number } {
    return this.#releases.check(searchDir, isAsked);
  }

  close(searchDir: string): void {
    this.#releases.close(searchDir);
  }

  /** @returns the response body. A clone of ten results with 200 highlights took 0.6 ms more than their bytes */
  search({ searchDir, request, label, form, vectors }: QueryRequest): Promise<Uint8Array<ArrayBuffer>> {
    const semantic =
      vectors === null || request.isByWords
        ? null
        : {
            digest: vectors.modelDigest,
            revision: vectors.revision,
            load: () => this.#parts(searchDir, vectors),
          };
    return this.#releases.use(searchDir, async (release) => {
      const results = await release.search(request, label, semantic, form);
      const body: ResponseBody = request.wantsFacts
        ? { results, ...release.facts(request), semantic: vectors !== null }
        : results;
      return new TextEncoder().encode(JSON.stringify(body));
    });
  }

  async #parts(searchDir: string, { modelDigest, model }: UsableVectors): Promise<SemanticParts> {
    const { embedder, scale } = await this.#model(modelDigest, model);
    const table = VectorTable.open(join(searchDir, VECTOR_FILE), modelDigest);
    // Another process on the folder is rebuilding the index. The next query retries.
    if (table === null) throw new DocshelfError('index_building', 'Cannot search by meaning: the vectors are gone');
    return { embedder, vectors: new VectorIndex(table, scale) };
  }

  #model(digest: string, choice: ModelChoice): Promise<{ embedder: Embedder; scale: CosineScale }> {
    const known = this.#models.get(digest);
    if (known !== undefined) return known;
    const loading = this.#load(choice).then(async (embedder) => {
      try {
        return { embedder: rememberQueries(embedder), scale: await measureScale(embedder) };
      } catch (error) {
        await embedder.close?.();
        throw error;
      }
    });
    this.#models.set(digest, loading);
    // The next query retries an endpoint that failed.
    loading.catch(() => this.#models.delete(digest));
    return loading;
  }
}

/** A new object for each `set`, because LRUCache does not update the size of a value that it contains. */
interface Open {
  readonly release: ReleaseSearch;
}

/**
 * Indexes by their search folder: opened by the first query, closed if memory is short, the least recently used
 * first. The index of the current query stays open, whatever its size.
 */
export class OpenReleases {
  readonly #open: LRUCache<string, Open>;
  readonly #bytesMax: number;
  /** Verified by this thread. */
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
