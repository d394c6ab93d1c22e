import { randomBytes } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Worker } from 'node:worker_threads';
import { DocshelfError } from '../domain/errors.ts';
import { CalledThread } from '../threads/called-thread.ts';
import { endInOrder } from '../threads/end-in-order.ts';
import { embedFor } from './embed-for.ts';
import type { FromThread, ModelChoice, QueryCall, SearchRole, ToThread } from './messages.ts';
import type { Embedder, EmbedProgress, IndexedRelease, SearchIndex } from './ports.ts';
import type { SearchAnswer, SearchRequest } from './request.ts';

export interface Model {
  readonly choice: ModelChoice;
  /** Embeds for threads whose model is the parent's. */
  readonly embedder: Embedder | null;
}

export interface EmbeddedIndexOptions {
  /** Starts a search thread. */
  readonly spawn: (role: SearchRole) => Worker;
  /** The model, when it is first needed; what fails is asked for again. */
  readonly model: () => Promise<Model>;
  /** Of a model that lies in a folder: a bundle may bring its vectors. */
  readonly modelFolder: string | null;
  /** The data folder's `vectors/`. */
  readonly cacheDir: string;
}

/** Queries that wait at once. More than a second's worth is of no use to whoever waits. */
const WAITING_MAX = 400;

const DERIVED = 'search';

/**
 * The embedded engine: an SQLite file and a vector file in each release's folder, made and read in threads of their own. One
 * thread answers all queries; building and embedding have one for each task, which ends with it.
 */
export class EmbeddedIndex implements SearchIndex {
  readonly #options: EmbeddedIndexOptions;
  readonly #queries: CalledThread;
  readonly #opened = new Set<string>();
  readonly #tasks = new Set<Promise<unknown>>();
  readonly #stopping = new AbortController();

  constructor(options: EmbeddedIndexOptions) {
    this.#options = options;
    this.#queries = new CalledThread({
      spawn: () => {
        this.#stopping.signal.throwIfAborted();
        return options.spawn({ role: 'query' });
      },
      died: (cause) => new DocshelfError('index_damaged', 'Cannot search: the search thread has ended', { cause }),
      over: stopping,
      hear: (thread, message: FromThread) => {
        if (message.kind === 'embed') void this.#embedFor(thread, message);
      },
      onEnd: () => this.#opened.clear(),
    });
  }

  async build(release: IndexedRelease, signal: AbortSignal): Promise<{ sections: number }> {
    const { releaseDir, trailingSlash } = release;
    await sweep(releaseDir);
    const searchDir = join(releaseDir, `.${DERIVED}-${randomBytes(6).toString('hex')}`);
    try {
      const order = { releaseDir, trailingSlash, searchDir, modelFolder: this.#options.modelFolder };
      const facts = (await this.#run({ role: 'build', order }, signal, () => undefined)) as { sections: number };
      await replaceFolder(searchDir, join(releaseDir, DERIVED));
      return facts;
    } finally {
      await rm(searchDir, { recursive: true, force: true });
    }
  }

  async open(release: IndexedRelease): Promise<{ sections: number }> {
    const searchDir = dirOf(release);
    const facts = (await this.#call({ kind: 'open', searchDir })) as { sections: number };
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
    const { modelDigest } = (await this.#run({ role: 'embed', order }, signal, onProgress)) as { modelDigest: string };
    await this.#call({ kind: 'vectors', searchDir, modelDigest, model });
  }

  async search(release: IndexedRelease, request: SearchRequest, label: string): Promise<SearchAnswer> {
    if (this.#queries.waiting >= WAITING_MAX) {
      throw new DocshelfError('queue_full', 'Cannot search now: too many searches are waiting', {
        fields: { retryAfterS: 1 },
        next: 'Try again in a moment.',
      });
    }
    const searchDir = dirOf(release);
    const json = await this.#call({ kind: 'search', searchDir, request, label });
    return answerOf(json as Uint8Array<ArrayBuffer>);
  }

  async close(release: IndexedRelease): Promise<void> {
    const searchDir = dirOf(release);
    if (this.#opened.delete(searchDir)) await this.#call({ kind: 'close', searchDir });
  }

  async stop(): Promise<void> {
    this.#stopping.abort(stopping());
    await Promise.allSettled(this.#tasks);
    this.#opened.clear();
    await this.#queries.end();
  }

  /** Runs a thread to its end. An abort ends it at once, and so does `stop`. */
  async #run(role: SearchRole, signal: AbortSignal, onProgress: (progress: EmbedProgress) => void): Promise<unknown> {
    const task = this.#runThread(role, AbortSignal.any([signal, this.#stopping.signal]), onProgress);
    this.#tasks.add(task);
    return task.finally(() => this.#tasks.delete(task));
  }

  async #runThread(
    role: SearchRole,
    signal: AbortSignal,
    onProgress: (progress: EmbedProgress) => void,
  ): Promise<unknown> {
    signal.throwIfAborted();
    const thread = this.#options.spawn(role);
    const ended = Promise.withResolvers<unknown>();
    const abort = (): void => ended.reject(signal.reason as Error);
    signal.addEventListener('abort', abort, { once: true });
    thread.on('message', (message: FromThread) => {
      if (message.kind === 'progress') onProgress(message.progress);
      else if (message.kind === 'embed') void this.#embedFor(thread, message);
      else if (message.kind === 'done') ended.resolve(message.result);
      else if (message.kind === 'failed') ended.reject(DocshelfError.fromPlain(message.error));
    });
    thread.on('error', ended.reject);
    thread.on('exit', (code) =>
      ended.reject(
        new DocshelfError('internal', `Cannot ${role.role} the search index: its thread ended with ${code}`),
      ),
    );
    try {
      return await ended.promise;
    } finally {
      signal.removeEventListener('abort', abort);
      if (role.role === 'build') await thread.terminate();
      else await endInOrder(thread);
    }
  }

  #call(call: QueryCall): Promise<unknown> {
    return this.#queries.ask((id) => ({ kind: 'call', id, call }) satisfies ToThread);
  }

  async #embedFor(thread: Worker, message: FromThread & { kind: 'embed' }): Promise<void> {
    const model = this.#options.model().then(({ embedder }) => embedder);
    thread.postMessage(await embedFor(message, model));
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

/** What killed builds left in a release's folder. */
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
