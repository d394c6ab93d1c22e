import { randomBytes } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError } from '../domain/errors.ts';
import { HEAPS, Thread, type ThreadOptions, threadEntry } from '../threads/index.ts';
import type { ModelChoice } from './orders.ts';
import { embedWith } from './parent-embedder.ts';
import type { Embedder, EmbedProgress, IndexedRelease, SearchIndex } from './ports.ts';
import type { SearchAnswer, SearchRequest } from './request.ts';
import type { SearchCalls } from './worker.ts';

export interface Model {
  readonly choice: ModelChoice;
  /** For threads whose model is the parent's. */
  readonly embedder: Embedder | null;
}

export interface EmbeddedIndexOptions {
  /** Called when it is first needed, and again after a failure. */
  readonly model: () => Promise<Model>;
  /** Null without one in a folder. A bundle may bring its vectors. */
  readonly modelFolder: string | null;
  readonly cacheDir: string;
}

/** More than a second's worth is of no use to whoever waits. */
const WAITING_MAX = 400;
const URGENT = { isUrgent: true };

/** Embedding ends between two batches, 80 ms each; a model that is being loaded, or a pass over a million passages, is ended. */
const ENDING_MS_MAX = 2_000;
/** The thread of queries may hold a model, and is not terminated in it. A shorter `server.shutdownTimeout` (20 s) comes first. */
const QUERIES_ENDING_MS_MAX = 60_000;

const DERIVED = 'search';

/** One thread answers all queries; each build has a thread of its own, and each embedding a process. */
export class EmbeddedIndex implements SearchIndex {
  readonly #options: EmbeddedIndexOptions;
  readonly #queries: Thread<SearchCalls>;
  readonly #opened = new Set<string>();
  readonly #tasks = new Set<Promise<unknown>>();
  readonly #stopping = new AbortController();

  constructor(options: EmbeddedIndexOptions) {
    this.#options = options;
    this.#queries = this.#thread({
      task: 'search',
      heap: HEAPS.query,
      codes: { ended: 'index_damaged', full: 'queue_full' },
      callsMax: WAITING_MAX,
      onEnd: () => this.#opened.clear(),
    });
  }

  async build(release: IndexedRelease, signal: AbortSignal): Promise<{ sections: number }> {
    const { releaseDir, trailingSlash } = release;
    await sweep(releaseDir);
    const searchDir = join(releaseDir, `.${DERIVED}-${randomBytes(6).toString('hex')}`);
    try {
      const order = { releaseDir, trailingSlash, searchDir, modelFolder: this.#options.modelFolder };
      const facts = await this.#run(
        { task: 'build the search index', heap: HEAPS.index },
        (thread) => thread.call('build', order),
        signal,
      );
      await replaceFolder(searchDir, join(releaseDir, DERIVED));
      return facts;
    } finally {
      await rm(searchDir, { recursive: true, force: true });
    }
  }

  async open(release: IndexedRelease): Promise<{ sections: number }> {
    const searchDir = dirOf(release);
    this.#stopping.signal.throwIfAborted();
    const facts = await this.#queries.call('open', searchDir, URGENT);
    this.#opened.add(searchDir);
    return facts;
  }

  async embed(
    release: IndexedRelease,
    onProgress: (progress: EmbedProgress) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { choice: model } = await this.#options.model();
    const searchDir = dirOf(release);
    const order = { searchDir, release: release.digest, cacheDir: this.#options.cacheDir, model };
    const { modelDigest } = await this.#run(
      { task: 'embed the search index', heap: HEAPS.embed, isProcess: true, abortWithinMs: ENDING_MS_MAX },
      (thread) => thread.call('embed', order, { onProgress }),
      signal,
    );
    this.#stopping.signal.throwIfAborted();
    await this.#queries.call('useVectors', { searchDir, modelDigest, model }, URGENT);
  }

  async search(release: IndexedRelease, request: SearchRequest, label: string): Promise<SearchAnswer> {
    this.#stopping.signal.throwIfAborted();
    return answerOf(await this.#queries.call('search', { searchDir: dirOf(release), request, label }));
  }

  async close(release: IndexedRelease): Promise<void> {
    const searchDir = dirOf(release);
    if (this.#opened.delete(searchDir)) await this.#queries.call('close', searchDir, URGENT);
  }

  async stop(): Promise<void> {
    this.#stopping.abort(stopping());
    await Promise.allSettled(this.#tasks);
    this.#opened.clear();
    await this.#queries.end({ withinMs: QUERIES_ENDING_MS_MAX });
  }

  async #run<Result>(
    options: Omit<ThreadOptions, 'entry'>,
    call: (thread: Thread<SearchCalls>) => Promise<Result>,
    aborted: AbortSignal,
  ): Promise<Result> {
    const signal = AbortSignal.any([aborted, this.#stopping.signal]);
    const thread = this.#thread({ ...options, signal });
    const task = this.#callAndEnd(thread, call, options.abortWithinMs ?? 0);
    this.#tasks.add(task);
    return task.finally(() => this.#tasks.delete(task));
  }

  async #callAndEnd<Result>(
    thread: Thread<SearchCalls>,
    call: (thread: Thread<SearchCalls>) => Promise<Result>,
    withinMs: number,
  ): Promise<Result> {
    try {
      return await call(thread);
    } finally {
      await thread.end({ withinMs });
    }
  }

  #thread(options: Omit<ThreadOptions, 'entry'>): Thread<SearchCalls> {
    const handlers = embedWith(async () => (await this.#options.model()).embedder);
    return new Thread({ ...options, entry: threadEntry('./worker', import.meta), handlers });
  }
}

/** Goes to a client as it is: where this thread read it and wrote it again, one core answered 5 % fewer searches. */
function answerOf(json: Uint8Array<ArrayBuffer>): SearchAnswer {
  return {
    json,
    get results() {
      return JSON.parse(new TextDecoder().decode(json));
    },
  };
}

const stopping = () => new DocshelfError('stopping', 'Cannot go on: docshelf is stopping');

const dirOf = (release: IndexedRelease): string => join(release.releaseDir, DERIVED);

async function sweep(releaseDir: string): Promise<void> {
  for (const name of await readdir(releaseDir)) {
    if (name.startsWith(`.${DERIVED}-`)) await rm(join(releaseDir, name), { recursive: true, force: true });
  }
}

/** A crash between the two renames leaves no index: then it is built again. */
async function replaceFolder(from: string, to: string): Promise<void> {
  const former = `${from}-former`;
  await rename(to, former).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rename(from, to);
  await rm(former, { recursive: true, force: true });
}
