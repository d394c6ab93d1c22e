import { join } from 'node:path';
import { LRUCache } from 'lru-cache';
import { DocshelfError } from '../../domain/errors.ts';
import { VECTOR_FILE } from '../indexing/index-files.ts';
import type { Embedder, ModelChoice } from '../ports.ts';
import { type ResultForm, type SearchAnswer, type SearchRequest, writeAnswer } from '../request.ts';
import { rememberQueries } from '../semantic/embedders.ts';
import { type CosineScale, measureScale, VectorIndex } from '../semantic/vector-index.ts';
import { VectorTable } from '../semantic/vector-table.ts';
import { ReleaseSearch, type SemanticParts } from './release-search.ts';

export interface UsableVectors {
  readonly modelDigest: string;
  readonly model: ModelChoice;
  readonly revision: number;
}

export interface QueryRequest {
  readonly searchDir: string;
  readonly request: SearchRequest;
  readonly label: string;
  readonly form: ResultForm;
  readonly vectors: UsableVectors | null;
}

/** Maximum bytes of open indexes, enough for about 45 sites of 100 pages. With 100 such sites, the process stays under 500 MiB. */
const OPEN_BYTES_MAX = 192 * 1024 ** 2;

export class QueryThread {
  readonly #releases = new OpenReleases(OPEN_BYTES_MAX);
  readonly #load: (model: ModelChoice) => Promise<Embedder>;
  readonly #models = new Map<string, Promise<{ embedder: Embedder; scale: CosineScale }>>();

  constructor(load: (model: ModelChoice) => Promise<Embedder>) {
    this.#load = load;
  }

  async end(): Promise<void> {
    const models = await Promise.allSettled(this.#models.values());
    await Promise.all(models.map((model) => (model.status === 'fulfilled' ? model.value.embedder.close?.() : null)));
  }

  open(searchDir: string): { readonly sections: number } {
    return this.#releases.check(searchDir);
  }

  close(searchDir: string): void {
    this.#releases.close(searchDir);
  }

  search({ searchDir, request, label, form, vectors }: QueryRequest): Promise<SearchAnswer> {
    const semantic =
      vectors === null || request.isByWords
        ? null
        : {
            digest: vectors.modelDigest,
            revision: vectors.revision,
            load: () => this.#parts(searchDir, vectors),
          };
    return this.#releases.use(searchDir, async (release) => {
      // Read the query's corrections and the filter values before the search: afterwards, docshelf may have closed this release.
      const facts = request.wantsFacts ? release.facts(request) : null;
      const results = await release.search(request, label, semantic, form);
      return writeAnswer(results, facts === null ? undefined : { ...facts, semantic: vectors !== null });
    });
  }

  async #parts(searchDir: string, { modelDigest, model }: UsableVectors): Promise<SemanticParts> {
    const { embedder, scale } = await this.#model(modelDigest, model);
    const table = VectorTable.open(join(searchDir, VECTOR_FILE), modelDigest);
    if (table === null)
      throw new DocshelfError('index_building', 'Cannot search by meaning: the vectors no longer exist');
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
    loading.catch(() => this.#models.delete(digest));
    return loading;
  }
}

/** Opens an index at its first query. Over `bytesMax`, closes the least recently used index, except that of the current query. */
export class OpenReleases {
  readonly #open: LRUCache<string, ReleaseSearch>;
  readonly #checked = new Set<string>();

  constructor(bytesMax: number) {
    this.#open = new LRUCache<string, ReleaseSearch>({
      maxSize: bytesMax,
      sizeCalculation: ({ bytes }) => Math.min(bytes, bytesMax),
      dispose: (release) => release.close(),
    });
  }

  get size(): number {
    return this.#open.size;
  }

  /** Verifies an index by reading all of it, even if it is already open. @throws DocshelfError `index_damaged` */
  check(searchDir: string): { readonly sections: number } {
    let release: ReleaseSearch;
    try {
      release = new ReleaseSearch(searchDir);
    } catch (error) {
      this.close(searchDir);
      throw error;
    }
    this.#checked.add(searchDir);
    if (this.#open.has(searchDir)) this.#open.set(searchDir, release);
    else release.close();
    return { sections: release.sections };
  }

  async use<Result>(searchDir: string, act: (release: ReleaseSearch) => Promise<Result>): Promise<Result> {
    return act(this.#open.get(searchDir) ?? this.#reopen(searchDir));
  }

  close(searchDir: string): void {
    this.#checked.delete(searchDir);
    this.#open.delete(searchDir);
  }

  #reopen(searchDir: string): ReleaseSearch {
    const release = new ReleaseSearch(searchDir, this.#checked.has(searchDir));
    this.#open.set(searchDir, release);
    return release;
  }
}
