import { LRUCache } from 'lru-cache';
import { DocshelfError } from '../../domain/errors.ts';
import { type CallContext, HEAPS, Thread, type ThreadCall, threadEntry } from '../../threads/index.ts';
import { sharedLoads } from '../../threads/once.ts';
import type { Embedder } from '../ports.ts';
import { readsLanguage } from './scripts.ts';
import type { ModelCalls, ModelFacts } from './worker.ts';

const BYTES_MAX = 4 * 1024 * 1024;
const BYTES_PER_ENTRY = 200;

/** Caches query vectors. Readers repeat queries, and embedding takes most of the time of a query (0.13 ms per token). */
export function rememberQueries(embedder: Embedder): Embedder {
  const vectors = new LRUCache<string, Float32Array, () => Promise<Float32Array>>({
    maxSize: BYTES_MAX,
    sizeCalculation: (vector, text) => vector.byteLength + 2 * text.length + BYTES_PER_ENTRY,
    ...sharedLoads<Float32Array>(),
  });
  return {
    digest: embedder.digest,
    dims: embedder.dims,
    reads: (language) => embedder.reads(language),
    // Passes no signal, because several sites can wait for the same query, and one site must not abort the query for the others.
    embedQuery: (text) => vectors.forceFetch(text, { context: () => embedder.embedQuery(text) }),
    embedPassages: (texts, signal) => embedder.embedPassages(texts, signal),
    close: async () => embedder.close?.(),
  };
}

/** Calls to the parent thread, which sends the texts to an embedding service (`parent` in `ModelChoice`). */
export interface EmbedderCalls {
  embedQuery(text: string, context: CallContext): Promise<Float32Array>;
  embedPassages(texts: readonly string[], context: CallContext): Promise<Float32Array[]>;
}

export class ParentEmbedder implements Embedder {
  readonly digest: string;
  readonly dims: number;
  readonly #call: ThreadCall<EmbedderCalls>;

  constructor(digest: string, dims: number, call: ThreadCall<EmbedderCalls>) {
    this.digest = digest;
    this.dims = dims;
    this.#call = call;
  }

  reads(): boolean {
    return true;
  }

  embedQuery(text: string, signal?: AbortSignal): Promise<Float32Array> {
    return this.#call('embedQuery', text, { signal });
  }

  embedPassages(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array[]> {
    return this.#call('embedPassages', texts, { signal });
  }
}

export function embedWith(model: () => Promise<Embedder | null>): EmbedderCalls {
  const given = async (): Promise<Embedder> => {
    const embedder = await model();
    if (embedder === null)
      throw new DocshelfError('internal', 'Cannot search by meaning: no embedding model is loaded');
    return embedder;
  };
  return {
    embedQuery: async (text, { signal }) => (await given()).embedQuery(text, signal),
    embedPassages: async (texts, { signal }) => (await given()).embedPassages(texts, signal),
  };
}

/** Time to wait until a thread ends. Long, because terminating a thread that loads a model can end docshelf (see `startProcess`). */
const ENDING_MS_MAX = 60_000;

/**
 * Runs the model in threads, because the model blocks its thread (2.6 ms for a question of 19 tokens). Each thread loads the
 * model at its first call. If a thread has died, the next call starts a new thread.
 */
export class ModelThreads implements Embedder {
  readonly digest: string;
  readonly dims: number;
  readonly #scripts: ReadonlySet<string>;
  readonly #threads: readonly Thread<ModelCalls>[];

  private constructor({ digest, dims, scripts }: ModelFacts, threads: readonly Thread<ModelCalls>[]) {
    this.digest = digest;
    this.dims = dims;
    this.#scripts = scripts;
    this.#threads = threads;
  }

  static async load(folder: string, count = 1): Promise<ModelThreads> {
    const threads = Array.from({ length: count }, () => modelThread(folder));
    try {
      return new ModelThreads(await leastBusy(threads).call('facts', null), threads);
    } catch (error) {
      await endAll(threads);
      throw error;
    }
  }

  reads(language: string | null): boolean {
    return readsLanguage(this.#scripts, language);
  }

  embedQuery(text: string): Promise<Float32Array> {
    return leastBusy(this.#threads).call('embedQuery', text);
  }

  embedPassages(texts: readonly string[]): Promise<Float32Array[]> {
    return leastBusy(this.#threads).call('embedPassages', texts);
  }

  close(): Promise<void> {
    return endAll(this.#threads);
  }
}

function modelThread(folder: string): Thread<ModelCalls> {
  return new Thread<ModelCalls>({
    task: 'embed',
    heap: HEAPS.model,
    entry: threadEntry('./worker', import.meta),
    data: folder,
    codes: { ended: 'embedder_failed', over: 'embedder_failed' },
  });
}

/** Returns the first of equally busy threads, so that a thread loads the model only if all previous threads are busy. */
function leastBusy(threads: readonly Thread<ModelCalls>[]): Thread<ModelCalls> {
  return threads.reduce((least, each) => (each.waiting < least.waiting ? each : least));
}

async function endAll(threads: readonly Thread<ModelCalls>[]): Promise<void> {
  await Promise.all(threads.map((thread) => thread.end({ withinMs: ENDING_MS_MAX })));
}
