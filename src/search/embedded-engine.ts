import { randomBytes } from 'node:crypto';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { DocshelfError, type PlainError, toDocshelfError } from '../domain/errors.ts';
import { readIfThere } from '../files/index.ts';
import { Slots } from '../files/lanes.ts';
import { HEAPS, heapWithin, Thread, type ThreadOptions, threadEntry } from '../threads/index.ts';
import { CarriedAttempts, carriedFolder } from './bundle-data/carried-attempts.ts';
import { EmbedLanes } from './embed-lanes.ts';
import { IndexTurns } from './index-turns.ts';
import type { BuiltIndex, IndexOrder } from './indexing/build-index.ts';
import { LEFT_OUT_FILE } from './indexing/index-files.ts';
import type { EmbedProgressOf, ModelChoice } from './orders.ts';
import { embedWith } from './parent-embedder.ts';
import type { Embedder, EmbedProgress, IndexedRelease, IndexFacts, SearchIndex } from './ports.ts';
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
  /** Of the process that indexes and embeds, all in all: where it takes more it is ended. */
  readonly memoryBytesMax: number;
}

/** An index that sites have opened. Those that serve the same release share it. */
interface Held {
  readonly sites: Set<SearchIndex>;
  readonly facts: Promise<IndexFacts>;
}

const URGENT = { isUrgent: true };

/** A query that takes in what has joined reads it all: 0.4 GB of a million passages. */
const VECTORS_EVERY_MS = 30_000;

/** Embedding ends between two batches, 80 ms each; a model that is being loaded, or a pass over a million passages, is ended. */
const ENDING_MS_MAX = 2_000;
/** The thread of queries may hold a model, and is not terminated in it. A shorter `server.shutdownTimeout` (20 s) comes first. */
const QUERIES_ENDING_MS_MAX = 60_000;

const DERIVED = 'search';
/** Each costs the process that reads it. */
const LEFT_OUT_MAX = 20;

/**
 * Indexes in the releases' folders, for all sites of a daemon. One thread answers all queries. One process at a time builds or
 * embeds, as long as there is something to do: of low priority, its memory bounded, the first that the kernel ends.
 */
export class EmbeddedEngine {
  readonly #options: EmbeddedEngineOptions;
  readonly #queries: Thread<SearchCalls>;
  readonly #building: Thread<SearchCalls>;
  readonly #embedding: Thread<SearchCalls>;
  readonly #lanes: EmbedLanes;
  readonly #queryTurns = new QueryTurns();
  readonly #turns = new IndexTurns();
  readonly #builds = new SharedWork<IndexFacts>();
  readonly #attempts: CarriedAttempts;
  /** One at a time: queries are answered between the checks of a hundred sites that start together. */
  readonly #checkSlots = new Slots(1);
  /** By search folder. */
  readonly #held = new Map<string, Held>();
  readonly #tasks = new Set<Promise<unknown>>();
  readonly #stopping = new AbortController();

  constructor(options: EmbeddedEngineOptions) {
    this.#options = options;
    this.#attempts = new CarriedAttempts(join(options.cacheDir, 'refused'));
    this.#queries = this.#thread({
      task: 'search',
      heap: HEAPS.query,
      codes: { ended: 'index_damaged' },
    });
    const { memoryBytesMax } = options;
    this.#lanes = new EmbedLanes(availableParallelism(), memoryBytesMax);
    const process = { isProcess: true, heap: heapWithin(memoryBytesMax), residentBytesMax: memoryBytesMax };
    // What a build has written is in a folder of its own, and of no use.
    this.#building = this.#thread({ task: 'build the search index', ...process });
    this.#embedding = this.#thread({ task: 'embed the search index', ...process, abortWithinMs: ENDING_MS_MAX });
  }

  /** One build of a release at a time, also where two sites find its index damaged. */
  async build(release: IndexedRelease, former: IndexedRelease | null, signal: AbortSignal): Promise<IndexFacts> {
    const build = (wanted: AbortSignal) => {
      const either = AbortSignal.any([wanted, this.#stopping.signal]);
      return this.#task(this.#turns.build(() => this.#build(release, former, either), either));
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
    const open = async (): Promise<IndexFacts> => {
      const { sections } = await this.#queries.call('open', order, URGENT);
      return { sections, ...(await this.#flawsOf(release)) };
    };
    const facts = this.#checkSlots.run(open, this.#stopping.signal);
    const opened = { sites: new Set(held?.sites).add(site), facts };
    this.#held.set(searchDir, opened);
    facts.catch(() => {
      if (this.#held.get(searchDir) === opened) this.#held.delete(searchDir);
    });
    return facts;
  }

  /** @param onVectors called soon after the first are there, now and then while more join, and with the last */
  async embed(
    { releaseDir, digest: release }: IndexedRelease,
    onProgress: (progress: EmbedProgress) => void,
    onVectors: (vectors: VectorsOrder) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { choice: model } = await this.#options.model();
    const searchDir = join(releaseDir, DERIVED);
    const order = { searchDir, release, cacheDir: this.#options.cacheDir, model, lanesMax: this.#lanes.max };
    let toldMs = Number.NEGATIVE_INFINITY;
    const embed = async (turn: AbortSignal, onBegun: () => void) => {
      const told = (progress: EmbedProgressOf): void => {
        onBegun();
        const { modelDigest, passages, embedded } = progress;
        onProgress({ passages, embedded });
        const isDue = embedded > 0 && performance.now() - toldMs >= VECTORS_EVERY_MS;
        if (!isDue && embedded < passages) return;
        toldMs = performance.now();
        onVectors({ modelDigest, model, revision: embedded });
      };
      try {
        await this.#embedding.call('embed', order, { onProgress: told, signal: turn });
      } finally {
        // Within the turn: whoever comes now waits for its end, and starts another. A build has the memory for itself.
        if (this.#turns.waiting === 0 || this.#turns.builds > 0) await this.#embedding.terminate();
      }
    };
    const either = AbortSignal.any([signal, this.#stopping.signal]);
    await this.#task(this.#turns.embed(embed, either));
  }

  /** For each request of a reader: embedding leaves the cores to them. */
  noteRead(): void {
    this.#lanes.noteRead();
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
      this.#building.end({ withinMs: 0 }),
      this.#embedding.end({ withinMs: ENDING_MS_MAX }),
      this.#queries.end({ withinMs: QUERIES_ENDING_MS_MAX }),
    ]);
  }

  async #build(release: IndexedRelease, former: IndexedRelease | null, signal: AbortSignal): Promise<IndexFacts> {
    const { releaseDir } = release;
    await sweep(releaseDir);
    const searchDir = join(releaseDir, `.${DERIVED}-${randomBytes(6).toString('hex')}`);
    try {
      const facts = await this.#fill(searchDir, release, former, signal);
      await replaceFolder(searchDir, join(releaseDir, DERIVED));
      return { ...facts, ...(await this.#flawsOf(release)) };
    } finally {
      if (this.#turns.builds === 1) await this.#building.terminate();
      await rm(searchDir, { recursive: true, force: true });
    }
  }

  /** What a bundle carries is tried once: where it is bad, or takes more memory than there is, the pages are read. */
  async #fill(
    searchDir: string,
    { releaseDir, trailingSlash, digest }: IndexedRelease,
    former: IndexedRelease | null,
    signal: AbortSignal,
  ): Promise<{ readonly sections: number }> {
    const { modelFolder } = this.#options;
    const formerDir = former === null || former.digest === digest ? null : searchDirOf(former);
    const order = { releaseDir, trailingSlash, searchDir, modelFolder, formerDir };
    const build = (usesCarried: boolean) => this.#buildWithout([], { ...order, usesCarried }, signal);
    const hasCarried = (await stat(carriedFolder(releaseDir)).catch(() => null)) !== null;
    if (!hasCarried || !(await this.#attempts.begin(digest))) return build(false);
    try {
      const facts = await build(true);
      if (facts.refused === null) await this.#attempts.end(digest);
      else await this.#attempts.refuse(digest, facts.refused);
      return facts;
    } catch (error) {
      const { code, message } = toDocshelfError(error);
      if (signal.aborted || code !== 'worker_ended') {
        await this.#attempts.end(digest);
        throw error;
      }
      await this.#attempts.refuse(digest, tooMuch(message));
      await rm(searchDir, { recursive: true, force: true });
      return build(false);
    }
  }

  /** A page that takes the process along is left out of the next attempt. */
  async #buildWithout(
    leftOut: readonly string[],
    order: Omit<IndexOrder, 'leftOut'>,
    signal: AbortSignal,
  ): Promise<BuiltIndex> {
    let page: string | null = null;
    const onProgress = (path: string | null): void => {
      page = path;
    };
    try {
      return await this.#building.call('build', { ...order, leftOut }, { signal, onProgress });
    } catch (error) {
      if (signal.aborted || page === null || toDocshelfError(error).code !== 'worker_ended') throw error;
      if (leftOut.length === LEFT_OUT_MAX) throw error;
      await rm(order.searchDir, { recursive: true, force: true });
      return this.#buildWithout([...leftOut, page], { ...order, usesCarried: false }, signal);
    }
  }

  async #flawsOf(release: IndexedRelease): Promise<Pick<IndexFacts, 'refused' | 'leftOut'>> {
    const leftOut = await readIfThere(join(searchDirOf(release), LEFT_OUT_FILE));
    return {
      refused: await this.#attempts.refusal(release.digest),
      leftOut: leftOut === null ? [] : (JSON.parse(leftOut) as string[]),
    };
  }

  async #task<Result>(task: Promise<Result>): Promise<Result> {
    this.#tasks.add(task);
    return task.finally(() => this.#tasks.delete(task));
  }

  #thread(options: Omit<ThreadOptions, 'entry'>): Thread<SearchCalls> {
    const embedder = embedWith(async () => (await this.#options.model()).embedder);
    const handlers = { ...embedder, lanes: () => this.#lanes.now() };
    return new Thread({ ...options, entry: threadEntry('./worker', import.meta), handlers });
  }
}

function tooMuch(message: string): PlainError {
  const next = 'The pages are indexed instead. Export again to save that time.';
  return new DocshelfError('bad_search_data', `Cannot use the bundle's search data: ${message}`, { next }).toPlain();
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
