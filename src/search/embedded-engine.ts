import { randomBytes } from 'node:crypto';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError } from '../domain/errors.ts';
import { Slots } from '../files/lanes.ts';
import { HEAPS, Thread, type ThreadOptions, threadEntry } from '../threads/index.ts';
import { EmbedTurns } from './embed-turns.ts';
import type { ModelChoice } from './orders.ts';
import { embedWith } from './parent-embedder.ts';
import type { Embedder, EmbedProgress, IndexedRelease, SearchIndex } from './ports.ts';
import type { SearchOrder, VectorsOrder } from './query/query-thread.ts';
import { QueryTurns } from './query-turns.ts';
import { SharedWork } from './shared-work.ts';
import type { SearchCalls } from './worker.ts';

export interface Model {
  readonly choice: ModelChoice;
  /** For threads whose model is the parent's. */
  readonly embedder: Embedder | null;
}

export interface EmbeddedEngineOptions {
  /** Called when it is first needed, and again after a failure. */
  readonly model: () => Promise<Model>;
  /** Null without one in a folder. A bundle may bring its vectors. */
  readonly modelFolder: string | null;
  readonly cacheDir: string;
}

interface IndexFacts {
  readonly sections: number;
}

/** An index that sites have opened. Those that serve the same release share it. */
interface Held {
  readonly sites: Set<SearchIndex>;
  readonly facts: Promise<IndexFacts>;
}

/** Each takes up to 400 MB for 10,000 pages; after an upgrade all sites may need one. Two huge sites leave a place for the others. */
const BUILDS_MAX = 3;
const URGENT = { isUrgent: true };

/** Embedding ends between two batches, 80 ms each; a model that is being loaded, or a pass over a million passages, is ended. */
const ENDING_MS_MAX = 2_000;
/** The thread of queries may hold a model, and is not terminated in it. A shorter `server.shutdownTimeout` (20 s) comes first. */
const QUERIES_ENDING_MS_MAX = 60_000;

const DERIVED = 'search';

/**
 * Indexes in the releases' folders, for all sites of a daemon. One thread answers all queries, and one process embeds, as long
 * as there is something to embed; each build has a thread of its own.
 */
export class EmbeddedEngine {
  readonly #options: EmbeddedEngineOptions;
  readonly #queries: Thread<SearchCalls>;
  readonly #embedding: Thread<SearchCalls>;
  readonly #queryTurns = new QueryTurns();
  readonly #embedTurns = new EmbedTurns();
  readonly #builds = new SharedWork<IndexFacts>();
  readonly #buildSlots = new Slots(BUILDS_MAX);
  /** One at a time: queries are answered between the checks of a hundred sites that start together. */
  readonly #checkSlots = new Slots(1);
  /** By search folder. */
  readonly #held = new Map<string, Held>();
  readonly #tasks = new Set<Promise<unknown>>();
  readonly #stopping = new AbortController();

  constructor(options: EmbeddedEngineOptions) {
    this.#options = options;
    this.#queries = this.#thread({
      task: 'search',
      heap: HEAPS.query,
      codes: { ended: 'index_damaged' },
    });
    this.#embedding = this.#thread({
      task: 'embed the search index',
      heap: HEAPS.embed,
      isProcess: true,
      abortWithinMs: ENDING_MS_MAX,
    });
  }

  /** One build of a release at a time, also where two sites find its index damaged. */
  async build(release: IndexedRelease, signal: AbortSignal): Promise<IndexFacts> {
    const build = (wanted: AbortSignal) => {
      const either = AbortSignal.any([wanted, this.#stopping.signal]);
      return this.#task(this.#buildSlots.run(() => this.#build(release, either), either));
    };
    return this.#builds.run(release.releaseDir, build, signal);
  }

  /** A site that has it and opens it again doubts it: then it is read through anew. */
  async open(release: IndexedRelease, site: SearchIndex, isAsked: boolean): Promise<IndexFacts> {
    this.#stopping.signal.throwIfAborted();
    const searchDir = searchDirOf(release);
    const held = this.#held.get(searchDir);
    if (held !== undefined && !held.sites.has(site)) {
      held.sites.add(site);
      return held.facts;
    }
    const order = { searchDir, isAsked };
    const facts = this.#checkSlots.run(() => this.#queries.call('open', order, URGENT), this.#stopping.signal);
    const opened = { sites: new Set(held?.sites).add(site), facts };
    this.#held.set(searchDir, opened);
    facts.catch(() => {
      if (this.#held.get(searchDir) === opened) this.#held.delete(searchDir);
    });
    return facts;
  }

  async embed(
    { releaseDir, digest: release }: IndexedRelease,
    onProgress: (progress: EmbedProgress) => void,
    signal: AbortSignal,
  ): Promise<VectorsOrder> {
    const { choice: model } = await this.#options.model();
    const searchDir = join(releaseDir, DERIVED);
    const order = { searchDir, release, cacheDir: this.#options.cacheDir, model };
    const embed = async (turn: AbortSignal, onBegun: () => void) => {
      const told = (progress: EmbedProgress): void => {
        onBegun();
        onProgress(progress);
      };
      try {
        return await this.#embedding.call('embed', order, { onProgress: told, signal: turn });
      } finally {
        // Within the turn: whoever comes now waits for its end, and starts another.
        if (this.#embedTurns.waiting === 0) await this.#embedding.terminate();
      }
    };
    const either = AbortSignal.any([signal, this.#stopping.signal]);
    const { modelDigest } = await this.#task(this.#embedTurns.run(embed, either));
    return { modelDigest, model };
  }

  async search(order: SearchOrder, site: SearchIndex): Promise<Uint8Array<ArrayBuffer>> {
    this.#stopping.signal.throwIfAborted();
    return this.#queryTurns.run(site, () => this.#queries.call('search', order));
  }

  async close(release: IndexedRelease, site: SearchIndex): Promise<void> {
    const searchDir = searchDirOf(release);
    const held = this.#held.get(searchDir);
    held?.sites.delete(site);
    if (held !== undefined && held.sites.size > 0) return;
    this.#held.delete(searchDir);
    await this.#queries.call('close', searchDir, URGENT);
  }

  /** Ends all that is under way with `stopping`. */
  async stop(): Promise<void> {
    this.#stopping.abort(new DocshelfError('stopping', 'Cannot go on: docshelf is stopping'));
    await Promise.allSettled(this.#tasks);
    await Promise.all([
      this.#embedding.end({ withinMs: ENDING_MS_MAX }),
      this.#queries.end({ withinMs: QUERIES_ENDING_MS_MAX }),
    ]);
  }

  async #build({ releaseDir, trailingSlash }: IndexedRelease, signal: AbortSignal): Promise<IndexFacts> {
    await sweep(releaseDir);
    const searchDir = join(releaseDir, `.${DERIVED}-${randomBytes(6).toString('hex')}`);
    const thread = this.#thread({ task: 'build the search index', heap: HEAPS.index, signal });
    try {
      const order = { releaseDir, trailingSlash, searchDir, modelFolder: this.#options.modelFolder };
      const facts = await thread.call('build', order);
      await replaceFolder(searchDir, join(releaseDir, DERIVED));
      return facts;
    } finally {
      await thread.end({ withinMs: 0 });
      await rm(searchDir, { recursive: true, force: true });
    }
  }

  async #task<Result>(task: Promise<Result>): Promise<Result> {
    this.#tasks.add(task);
    return task.finally(() => this.#tasks.delete(task));
  }

  #thread(options: Omit<ThreadOptions, 'entry'>): Thread<SearchCalls> {
    const handlers = embedWith(async () => (await this.#options.model()).embedder);
    return new Thread({ ...options, entry: threadEntry('./worker', import.meta), handlers });
  }
}

export const searchDirOf = ({ releaseDir }: IndexedRelease): string => join(releaseDir, DERIVED);

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
