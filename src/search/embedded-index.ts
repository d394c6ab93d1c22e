import { DocshelfError } from '../domain/errors.ts';
import type { EmbeddedEngine } from './embedded-engine.ts';
import type { EmbedProgress, IndexedRelease, IndexFacts, SearchIndex, TellBuild } from './ports.ts';
import { searchDirOf } from './processes/index-builds.ts';
import type { VectorsOrder } from './query/query-thread.ts';
import { PLAIN_FORM, type ResultForm, type SearchAnswer, type SearchRequest, WrittenAnswer } from './request.ts';

/** One site's indexes in the engine that all sites of a daemon share. */
export class EmbeddedIndex implements SearchIndex {
  readonly #engine: EmbeddedEngine;
  /** By search folder; null before the first vectors are there. */
  readonly #opened = new Map<string, VectorsOrder | null>();

  constructor(engine: EmbeddedEngine) {
    this.#engine = engine;
  }

  build(release: IndexedRelease, signal: AbortSignal, tell: TellBuild = () => undefined): Promise<IndexFacts> {
    return this.#engine.build(release, signal, { site: this, tell });
  }

  async open(release: IndexedRelease, isAsked = false): Promise<IndexFacts> {
    const facts = await this.#engine.open(release, this, isAsked);
    this.#opened.set(searchDirOf(release), null);
    return facts;
  }

  async embed(
    release: IndexedRelease,
    onProgress: (progress: EmbedProgress) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const searchDir = searchDirOf(release);
    const use = (vectors: VectorsOrder): void => {
      if (this.#opened.has(searchDir)) this.#opened.set(searchDir, vectors);
    };
    await this.#engine.embed(release, onProgress, use, signal, this);
  }

  async search(
    release: IndexedRelease,
    request: SearchRequest,
    label: string,
    form: ResultForm = PLAIN_FORM,
  ): Promise<SearchAnswer> {
    const searchDir = searchDirOf(release);
    const vectors = this.#opened.get(searchDir);
    if (vectors === undefined)
      throw new DocshelfError('index_damaged', 'Cannot search: the index of this release is not open');
    return new WrittenAnswer(await this.#engine.search({ searchDir, request, label, form, vectors }, this));
  }

  async close(release: IndexedRelease): Promise<void> {
    if (this.#opened.delete(searchDirOf(release))) await this.#engine.close(release, this);
  }
}
