import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DocshelfError, type PlainError } from '../domain/errors.ts';
import { readIfThere } from '../files/index.ts';
import { HEAPS, heapWithin, Thread, type ThreadOptions, threadEntry } from '../threads/index.ts';
import { Scheduler } from '../threads/scheduler.ts';
import type { EmbedProgressOf } from './indexing/embed-index.ts';
import { type BuildAsked, IndexBuilds, IndexTurns, searchDirOf } from './indexing/index-builds.ts';
import { LEFT_OUT_FILE, REFUSED_FILE } from './indexing/index-files.ts';
import type { Embedder, EmbedProgress, IndexedRelease, IndexFacts, ModelChoice, ReportBuild } from './ports.ts';
import type { QueryRequest, UsableVectors } from './query/query-thread.ts';
import { PLAIN_FORM, type ResultForm, type SearchAnswer, type SearchRequest, WrittenAnswer } from './request.ts';
import { embedWith } from './semantic/embedders.ts';
import type { SearchCalls } from './worker.ts';

export interface Model {
  readonly choice: ModelChoice;
  /** For threads that let the parent thread embed. */
  readonly embedder: Embedder | null;
}

interface EmbeddedEngineOptions {
  /** Called when the model is first needed, and again after a failure. */
  readonly model: () => Promise<Model>;
  readonly cacheDir: string;
  /** Maximum resident memory of the process that indexes or embeds. A process that takes more is ended. */
  readonly memoryBytesMax: number;
  /** After this time, a second process builds the indexes of smaller sites. Default: 5 s. */
  readonly longBuildMs?: number;
  /** After this time without a new vector, another process that embeds the release counts as dead. Default: 2 min. */
  readonly othersSilentMs?: number;
}

/** An open index. Sites that serve the same release share it. */
interface Held {
  readonly sites: Set<EmbeddedIndex>;
  readonly facts: Promise<IndexFacts>;
}

const URGENT = { isUrgent: true };

/** Maximum per site: a reader does not wait for more than a second. */
const QUERIES_WAITING_MAX = 400;
/** The thread looks words up for one query while the model reads for others: with eight it is never idle. */
const QUERIES_RUNNING_MAX = 8;

/** A query reads all vectors that were added: 0.4 GB for a million passages. */
const VECTORS_EVERY_MS = 30_000;

/** Interval of looking for vectors of another process on the folder: 1 s at first, doubled each time up to this. */
const OTHERS_EVERY_MS_MAX = 30_000;
/** Two processes that embed one release write the same rows. */
const OTHERS_SILENT_MS = 120_000;

/** Embedding ends between two batches, 80 ms each; a model that is being loaded, or a pass over a million passages, is ended. */
const ENDING_MS_MAX = 2_000;
/** The thread of queries may hold a model, and is not terminated in it. A shorter `server.shutdownTimeout` (20 s) comes first. */
const QUERIES_ENDING_MS_MAX = 60_000;

/**
 * Indexes in the releases' folders, for all sites of a daemon. One thread answers all queries. One process at a time builds or
 * embeds; a second process builds for smaller sites if that takes long. Both have low priority and bounded
 * memory, and the kernel ends them first.
 */
export class EmbeddedEngine {
  readonly #options: EmbeddedEngineOptions;
  readonly #queries: Thread<SearchCalls>;
  readonly #indexing: IndexBuilds;
  readonly #embedding: Thread<SearchCalls>;
  readonly #lanes: EmbedLanes;
  /** Queries of all sites go to one thread. */
  readonly #queryScheduler = new Scheduler({
    max: QUERIES_RUNNING_MAX,
    waitingMax: QUERIES_WAITING_MAX,
    refuse: () =>
      new DocshelfError('queue_full', 'Cannot search now: too many calls are waiting', {
        next: 'Try again in a moment.',
        fields: { retryAfterS: 1 },
      }),
  });
  readonly #turns: IndexTurns;
  /** Joins the builds of one release, if two sites find its index damaged. `#turns` bounds the number of builds. */
  readonly #builds = new Scheduler(Number.POSITIVE_INFINITY);
  /** One at a time, so that queries are answered between the checks of a hundred sites that start together. */
  readonly #checkScheduler = new Scheduler(1);
  /** By search folder. */
  readonly #held = new Map<string, Held>();
  readonly #tasks = new Set<Promise<unknown>>();
  readonly #stopping = new AbortController();

  constructor(options: EmbeddedEngineOptions) {
    this.#options = options;
    this.#turns = new IndexTurns({ longBuildMs: options.longBuildMs });
    this.#queries = this.#thread({
      task: 'search',
      heap: HEAPS.query,
      codes: { ended: 'index_damaged' },
    });
    const { memoryBytesMax } = options;
    this.#lanes = new EmbedLanes(availableParallelism(), memoryBytesMax);
    const process = { isProcess: true, heap: heapWithin(memoryBytesMax), residentBytesMax: memoryBytesMax };
    this.#indexing = new IndexBuilds({
      ...{ turns: this.#turns, memoryBytesMax },
      thread: (ofBuilds) => this.#thread(ofBuilds),
    });
    this.#embedding = this.#thread({ task: 'embed the search index', ...process, abortWithinMs: ENDING_MS_MAX });
  }

  async build(release: IndexedRelease, signal: AbortSignal, asked: BuildAsked): Promise<IndexFacts> {
    const build = (wanted: AbortSignal) => {
      const either = AbortSignal.any([wanted, this.#stopping.signal]);
      return this.#task(this.#build(release, either, asked));
    };
    return this.#builds.run(build, { share: release.releaseDir, signal });
  }

  /** Verifies the index again if this site has it open already: the site doubts it. */
  async open(release: IndexedRelease, site: EmbeddedIndex, isAsked: boolean): Promise<IndexFacts> {
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
    const facts = this.#checkScheduler.run(open, { key: site, signal: this.#stopping.signal });
    const opened: Held = { sites: new Set(held?.sites).add(site), facts };
    this.#held.set(searchDir, opened);
    facts.catch(() => {
      if (this.#held.get(searchDir) === opened) this.#held.delete(searchDir);
    });
    return facts;
  }

  /** @param onVectors called soon after the first vectors exist, at intervals while more are computed, and with the last */
  async embed(
    release: IndexedRelease,
    onProgress: (progress: EmbedProgress) => void,
    onVectors: (vectors: UsableVectors) => void,
    signal: AbortSignal,
    site: EmbeddedIndex,
  ): Promise<void> {
    const { choice: model } = await this.#options.model();
    const { cacheDir } = this.#options;
    const request = {
      ...{ searchDir: searchDirOf(release), release: release.digest },
      ...{ cacheDir, model, lanesMax: this.#lanes.max },
    };
    let toldMs = Number.NEGATIVE_INFINITY;
    const embed = (ignoresOthers: boolean) => async (turn: AbortSignal, onBegun: () => void) => {
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
        return await this.#embedding.call('embed', { ...request, ignoresOthers }, { onProgress: told, signal: turn });
      } finally {
        // Within the turn, so that the next task starts another process. A build has the memory for itself.
        if (this.#turns.waiting === 0 || this.#turns.builds > 0) await this.#embedding.terminate();
      }
    };
    const either = AbortSignal.any([signal, this.#stopping.signal]);
    const silentMs = this.#options.othersSilentMs ?? OTHERS_SILENT_MS;
    const inTurn = (ignoresOthers: boolean) => this.#turns.embed(embed(ignoresOthers), either, site);
    await this.#task(untilWhole(inTurn, silentMs, either));
  }

  /** Called for each request of a reader: embedding then leaves the cores to readers. */
  noteRead(): void {
    this.#lanes.noteRead();
  }

  async search(order: QueryRequest, site: EmbeddedIndex): Promise<Uint8Array<ArrayBuffer>> {
    this.#stopping.signal.throwIfAborted();
    return this.#queryScheduler.run(() => this.#queries.call('search', order), { key: site });
  }

  async close(release: IndexedRelease, site: EmbeddedIndex): Promise<void> {
    const searchDir = searchDirOf(release);
    const held = this.#held.get(searchDir);
    held?.sites.delete(site);
    if (held !== undefined && held.sites.size > 0) return;
    this.#held.delete(searchDir);
    await this.#queries.call('close', searchDir, URGENT);
  }

  /** Ends all tasks in progress with `stopping`. */
  async stop(): Promise<void> {
    this.#stopping.abort(new DocshelfError('stopping', 'Cannot go on: docshelf is stopping'));
    await Promise.allSettled(this.#tasks);
    await Promise.all([
      this.#indexing.end(),
      this.#embedding.end({ withinMs: ENDING_MS_MAX }),
      this.#queries.end({ withinMs: QUERIES_ENDING_MS_MAX }),
    ]);
  }

  async #build(release: IndexedRelease, signal: AbortSignal, asked: BuildAsked): Promise<IndexFacts> {
    const built = await this.#indexing.build(release, signal, asked);
    const order = { searchDir: searchDirOf(release), isAsked: false };
    const sections = built ?? (await this.#queries.call('open', order, URGENT)).sections;
    return { sections, ...(await this.#flawsOf(release)) };
  }

  async #flawsOf(release: IndexedRelease): Promise<Pick<IndexFacts, 'refused' | 'leftOut'>> {
    const searchDir = searchDirOf(release);
    const refused = await readIfThere(join(searchDir, REFUSED_FILE));
    const leftOut = await readIfThere(join(searchDir, LEFT_OUT_FILE));
    return {
      refused: refused === null ? null : (JSON.parse(refused) as PlainError),
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

/** @param embed returns null, or the number of vectors while another process computes the rest @throws the signal's reason */
async function untilWhole(
  embed: (ignoresOthers: boolean) => Promise<number | null>,
  silentMs: number,
  signal: AbortSignal,
): Promise<void> {
  let former: number | null = null;
  let changedMs = performance.now();
  for (let waits = 0; ; waits += 1) {
    const embedded = await embed(performance.now() - changedMs > silentMs);
    if (embedded === null) return;
    if (embedded !== former) changedMs = performance.now();
    former = embedded;
    const pauseMs = Math.min(OTHERS_EVERY_MS_MAX, 1_000 * 2 ** waits);
    await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => signal.throwIfAborted());
  }
}

/** The indexes of one site. After the end of the engine every call throws `stopping`. */
export class EmbeddedIndex {
  readonly #engine: EmbeddedEngine;
  /** Vectors by search folder. Null before the first vectors exist. */
  readonly #opened = new Map<string, UsableVectors | null>();

  constructor(engine: EmbeddedEngine) {
    this.#engine = engine;
  }

  /**
   * Replaces an existing index, unless another process on the folder does. A fault in the text of a page is no failure.
   * @throws the signal's reason
   */
  build(release: IndexedRelease, signal: AbortSignal, tell: ReportBuild = () => undefined): Promise<IndexFacts> {
    return this.#engine.build(release, signal, { site: this, tell });
  }

  /**
   * Verifies the index; also if it is open already, since the caller doubts it.
   * @param isAsked readers are searching the site: the index stays in memory for the next query
   * @throws DocshelfError `index_damaged` if there is no sound index of this version
   */
  async open(release: IndexedRelease, isAsked = false): Promise<IndexFacts> {
    const facts = await this.#engine.open(release, this, isAsked);
    this.#opened.set(searchDirOf(release), null);
    return facts;
  }

  /**
   * Computes the missing vectors at low priority. Queries use each vector soon after. If interrupted, it resumes from there.
   * @throws DocshelfError `model_invalid`, `embedder_failed`; the signal's reason
   */
  async embed(
    release: IndexedRelease,
    onProgress: (progress: EmbedProgress) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const searchDir = searchDirOf(release);
    const use = (vectors: UsableVectors): void => {
      if (this.#opened.has(searchDir)) this.#opened.set(searchDir, vectors);
    };
    await this.#engine.embed(release, onProgress, use, signal, this);
  }

  /**
   * Best results first.
   * @param label version of the release. `filter.version` finds by it the pages that name no version
   * @throws DocshelfError `index_damaged`, `queue_full`
   */
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

  /** Closes it for this site; other sites may have it open. Queries in progress may fail with `index_damaged`. */
  async close(release: IndexedRelease): Promise<void> {
    if (this.#opened.delete(searchDirOf(release))) await this.#engine.close(release, this);
  }
}

/** The part of an index that `SiteSearch` uses. */
export type SearchIndex = Pick<EmbeddedIndex, 'build' | 'open' | 'embed' | 'search' | 'close'>;

const MIB = 1024 ** 2;
/** The process with one model takes 213 MiB, each further one 75 MiB (measured, all-MiniLM-L6-v2 int8); some of it is the tables'. */
const FIRST_BYTES = 240 * MIB;
const NEXT_BYTES = 80 * MIB;
/** For so long after a request somebody is taken to read on. */
const READING_MS = 30_000;

/** Texts that are embedded at once: on all cores but one when nobody reads, on one when someone does. */
export class EmbedLanes {
  /** By cores and memory. */
  readonly max: number;
  #readMs = Number.NEGATIVE_INFINITY;

  /** @param memoryBytes of the process that embeds */
  constructor(cores: number, memoryBytes: number) {
    const models = 1 + Math.max(0, Math.floor((memoryBytes - FIRST_BYTES) / NEXT_BYTES));
    this.max = Math.max(1, Math.min(cores - 1, models));
  }

  /** For each request of a reader. */
  noteRead(nowMs = performance.now()): void {
    this.#readMs = nowMs;
  }

  now(nowMs = performance.now()): number {
    return nowMs - this.#readMs < READING_MS ? 1 : this.max;
  }
}
