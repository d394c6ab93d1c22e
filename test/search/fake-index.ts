import { DocshelfError, type PlainError } from '../../src/domain/errors.ts';
import {
  type IndexedRelease,
  type SearchAnswer,
  type SearchIndex,
  type SearchRequest,
  writeAnswer,
} from '../../src/search/index.ts';
import type { EmbedProgress } from '../../src/search/ports.ts';

export const SECTIONS = 7;

interface Embedding {
  readonly digest: string;
  readonly onProgress: (progress: EmbedProgress) => void;
  readonly signal: AbortSignal;
  readonly end: PromiseWithResolvers<void>;
}

/** An index whose steps end when the test decides. The path of a result is its release and the label. */
export class FakeIndex implements SearchIndex {
  readonly calls: string[] = [];
  readonly sound = new Set<string>();
  readonly opened = new Set<string>();
  readonly embeddings: Embedding[] = [];
  /** For each opening, whether readers were searching. */
  /** Promises for which the steps wait. */
  readonly gates: Partial<Record<'open' | 'build' | 'search', Promise<unknown>>> = {};
  buildFault: Error | null = null;
  refused: PlainError | null = null;

  constructor(...sound: IndexedRelease[]) {
    for (const { digest } of sound) this.sound.add(digest);
  }

  #facts() {
    return { sections: SECTIONS, refused: this.refused, leftOut: [], builtAtMs: 1000 };
  }

  async build({ digest }: IndexedRelease, signal: AbortSignal) {
    this.calls.push(`build ${digest}`);
    await this.gates.build;
    signal.throwIfAborted();
    if (this.buildFault !== null) throw this.buildFault;
    this.sound.add(digest);
    return this.#facts();
  }

  async open({ digest }: IndexedRelease) {
    this.calls.push(`open ${digest}`);
    await this.gates.open;
    if (!this.sound.has(digest)) throw damaged();
    this.opened.add(digest);
    return this.#facts();
  }

  async embed({ digest }: IndexedRelease, onProgress: Embedding['onProgress'], signal: AbortSignal) {
    const end = Promise.withResolvers<void>();
    signal.addEventListener('abort', () => end.reject(signal.reason));
    this.embeddings.push({ digest, onProgress, signal, end });
    await end.promise;
  }

  async search({ digest }: IndexedRelease, _request: SearchRequest, label: string): Promise<SearchAnswer> {
    this.calls.push(`search ${digest}`);
    const isOpen = this.opened.has(digest);
    await this.gates.search;
    if (!isOpen || !this.sound.has(digest)) throw damaged();
    const metadata = { score: 1, title: '', headings: [], version: null, language: null, tags: [], highlights: [] };
    return writeAnswer([{ content: '', path: `/${digest}/${label}`, metadata }]);
  }

  async close({ digest }: IndexedRelease) {
    this.calls.push(`close ${digest}`);
    this.opened.delete(digest);
  }
}

const damaged = () => new DocshelfError('index_damaged', 'Cannot read the index: it is damaged');
