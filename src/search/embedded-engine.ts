import { stat } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DocshelfError, type PlainError } from '../domain/errors.ts';
import { readIfThere } from '../files/index.ts';
import { HEAPS, heapWithin, Thread, type ThreadOptions, threadEntry } from '../threads/index.ts';
import { Scheduler } from '../threads/scheduler.ts';
import type { EmbedProgressOf } from './indexing/embed-index.ts';
import { type BuildRequester, IndexBuilds, IndexTurns, searchDirOf } from './indexing/index-builds.ts';
import { KEYWORD_FILE, LEFT_OUT_FILE, REFUSED_FILE } from './indexing/index-files.ts';
import type { Embedder, EmbedProgress, IndexedRelease, IndexFacts, ModelChoice, ReportBuild } from './ports.ts';
import type { UsableVectors } from './query/query-thread.ts';
import { PLAIN_FORM, type ResultForm, type SearchAnswer, type SearchRequest } from './request.ts';
import { embedWith } from './semantic/embedders.ts';
import type { SearchCalls } from './worker.ts';

export interface Model {
  readonly choice: ModelChoice;
  readonly embedder: Embedder | null;
}

interface EmbeddedEngineOptions {
  readonly model: () => Promise<Model>;
  readonly cacheDir: string;
  readonly memoryBytesMax: number;
  /** Duration of a build after which a second process starts to build smaller sites. Default: 5 s. */
  readonly longBuildMs?: number;
  readonly othersSilentMs?: number;
}

interface OpenedBySite {
  readonly searchDir: string;
  /** Vectors of the release. Null until `embed` has found or computed them. */
  vectors: UsableVectors | null;
}

const URGENT = { isUrgent: true };

/** Maximum waiting queries per site, so that a reader waits for at most a second. */
const QUERIES_WAITING_MAX = 400;
/** Maximum queries in the query thread. Eight keep it busy: it looks up words of some queries while the model embeds other queries. */
const QUERIES_RUNNING_MAX = 8;

const VECTORS_EVERY_MS = 30_000;

/** Maximum interval between checks whether another process has computed the missing vectors. The interval begins at 1 s and doubles. */
const OTHERS_EVERY_MS_MAX = 30_000;
const OTHERS_SILENT_MS = 120_000;

/** Time limit for the embedding process to finish a batch of texts (usually 80 ms). Then, docshelf kills the process. */
const ENDING_MS_MAX = 2_000;
/** Time limit for the query thread to end. Long, because terminating the thread while the model runs can crash docshelf. */
const QUERIES_ENDING_MS_MAX = 60_000;

/**
 * Indexes of all sites of a daemon. Any object can identify a site; calls without an object share one site. One thread runs all
 * queries, and one process at a time builds or embeds. During a long build, a second process builds smaller sites.
 */
export class EmbeddedEngine {
  readonly #options: EmbeddedEngineOptions;
  readonly #queries: Thread<SearchCalls>;
  readonly #indexing: IndexBuilds;
  readonly #embedding: Thread<SearchCalls>;
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
  /** Sites with the same release share one build. `#turns` limits the number of concurrent builds. */
  readonly #builds = new Scheduler(Number.POSITIVE_INFINITY);
  /** Verifies one index at a time, so that queries run in between if a hundred sites start together. */
  readonly #checkScheduler = new Scheduler(1);
  /** Open indexes by site and release folder. */
  readonly #opened = new Map<object, Map<string, OpenedBySite>>();
  readonly #tasks = new Set<Promise<unknown>>();
  readonly #stopping = new AbortController();

  constructor(options: EmbeddedEngineOptions) {
    this.#options = options;
    this.#turns = new IndexTurns({ longBuildMs: options.longBuildMs });
    this.#queries = this.#thread({ task: 'search', heap: HEAPS.query, codes: { ended: 'index_damaged' } });
    const { memoryBytesMax } = options;
    const process = { isProcess: true, heap: heapWithin(memoryBytesMax), residentBytesMax: memoryBytesMax };
    this.#indexing = new IndexBuilds({
      ...{ turns: this.#turns, memoryBytesMax },
      thread: (ofBuilds) => this.#thread(ofBuilds),
    });
    this.#embedding = this.#thread({ task: 'embed the search index', ...process, abortWithinMs: ENDING_MS_MAX });
  }

  /**
   * Builds the index, unless another process replaces the index while this call waits for its turn.
   * @param site object that identifies the site in the queue, because sites take turns
   * @throws the signal's reason if it aborts
   */
  async build(
    release: IndexedRelease,
    signal: AbortSignal,
    report: ReportBuild = () => undefined,
    site: object = this,
  ): Promise<IndexFacts> {
    const requester = { site, report };
    const build = (wanted: AbortSignal) => {
      const either = AbortSignal.any([wanted, this.#stopping.signal]);
      return this.#task(this.#build(release, either, requester));
    };
    return this.#builds.run(build, { share: release.releaseDir, signal });
  }

  /**
   * Verifies the index, and opens it for the queries of a site.
   * @throws DocshelfError `index_damaged` if the index is missing, damaged, or has another format version
   */
  async open(release: IndexedRelease, site: object = this): Promise<IndexFacts> {
    this.#stopping.signal.throwIfAborted();
    const searchDir = searchDirOf(release);
    const verify = () => this.#queries.call('open', searchDir, URGENT);
    const turn = { key: site, share: searchDir, signal: this.#stopping.signal };
    const { sections } = await this.#checkScheduler.run(verify, turn);
    const facts = { sections, ...(await this.#factsOf(release)) };
    const openedBySite = this.#opened.get(site) ?? new Map<string, OpenedBySite>();
    this.#opened.set(site, openedBySite.set(release.releaseDir, { searchDir, vectors: null }));
    return facts;
  }

  /**
   * Computes the missing vectors. Queries use new vectors after the first batch, then at intervals, and at the end.
   * @throws DocshelfError `model_invalid`, `embedder_failed`; the signal's reason if it aborts
   */
  async embed(
    release: IndexedRelease,
    onProgress: (progress: EmbedProgress) => void,
    signal: AbortSignal,
    site: object = this,
  ): Promise<void> {
    const { choice: model } = await this.#options.model();
    const { cacheDir, memoryBytesMax } = this.#options;
    const searchDir = searchDirOf(release);
    const lanesMax = embedLanes(availableParallelism(), memoryBytesMax);
    const request = { searchDir, release: release.digest, cacheDir, model, lanesMax };
    let storedMs = Number.NEGATIVE_INFINITY;
    const embed = (ignoresOthers: boolean) => async (turn: AbortSignal, onBegun: () => void) => {
      const report = (progress: EmbedProgressOf): void => {
        onBegun();
        const { modelDigest, passages, embedded } = progress;
        onProgress({ passages, embedded });
        const isDue = embedded > 0 && performance.now() - storedMs >= VECTORS_EVERY_MS;
        if (!isDue && embedded < passages) return;
        storedMs = performance.now();
        const open = this.#opened.get(site)?.get(release.releaseDir);
        if (open !== undefined) open.vectors = { modelDigest, model, revision: embedded };
      };
      try {
        return await this.#embedding.call('embed', { ...request, ignoresOthers }, { onProgress: report, signal: turn });
      } finally {
        // End the embedding process if a build needs its memory, or if no other release waits to reuse the loaded model.
        if (this.#turns.waiting === 0 || this.#turns.builds > 0) await this.#embedding.terminate();
      }
    };
    const either = AbortSignal.any([signal, this.#stopping.signal]);
    const silentMs = this.#options.othersSilentMs ?? OTHERS_SILENT_MS;
    const embedWhenFree = (ignoresOthers: boolean) => this.#turns.embed(embed(ignoresOthers), either, site);
    await this.#task(untilWhole(embedWhenFree, silentMs, either));
  }

  /**
   * @param label version label of the release. If `filter.version` is this label, pages without a version also match
   * @throws DocshelfError `index_damaged`, `queue_full`
   */
  async search(
    release: IndexedRelease,
    request: SearchRequest,
    label: string,
    form: ResultForm = PLAIN_FORM,
    site: object = this,
  ): Promise<SearchAnswer> {
    this.#stopping.signal.throwIfAborted();
    const opened = this.#opened.get(site)?.get(release.releaseDir);
    if (opened === undefined)
      throw new DocshelfError('index_damaged', 'Cannot search: the index of this release is not open');
    const query = { ...opened, request, label, form };
    return this.#queryScheduler.run(() => this.#queries.call('search', query), { key: site });
  }

  async close(release: IndexedRelease, site: object = this): Promise<void> {
    const openedBySite = this.#opened.get(site);
    if (openedBySite?.delete(release.releaseDir) !== true) return;
    if (openedBySite.size === 0) this.#opened.delete(site);
    const isShared = this.#opened.values().some((other) => other.has(release.releaseDir));
    if (!isShared) await this.#queries.call('close', searchDirOf(release), URGENT);
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new DocshelfError('stopping', 'Cannot continue: docshelf is stopping'));
    await Promise.allSettled(this.#tasks);
    await Promise.all([
      this.#indexing.end(),
      this.#embedding.end({ withinMs: ENDING_MS_MAX }),
      this.#queries.end({ withinMs: QUERIES_ENDING_MS_MAX }),
    ]);
  }

  async #build(release: IndexedRelease, signal: AbortSignal, requester: BuildRequester): Promise<IndexFacts> {
    const built = await this.#indexing.build(release, signal, requester);
    const sections = built ?? (await this.#queries.call('open', searchDirOf(release), URGENT)).sections;
    return { sections, ...(await this.#factsOf(release)) };
  }

  async #factsOf(release: IndexedRelease): Promise<Omit<IndexFacts, 'sections'>> {
    const searchDir = searchDirOf(release);
    const refused = await readIfThere(join(searchDir, REFUSED_FILE));
    const leftOut = await readIfThere(join(searchDir, LEFT_OUT_FILE));
    const builtAtMs = await stat(join(searchDir, KEYWORD_FILE)).then(
      ({ mtimeMs }) => mtimeMs,
      () => null,
    );
    return {
      builtAtMs,
      refused: refused === null ? null : (JSON.parse(refused) as PlainError),
      leftOut: leftOut === null ? [] : (JSON.parse(leftOut) as string[]),
    };
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

/**
 * Calls `embed` until all vectors exist, with pauses while another process computes them.
 * @param embed function that returns null if all vectors exist, or else the number of existing vectors
 */
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
    await sleep(pauseMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

export type SearchIndex = Pick<EmbeddedEngine, 'build' | 'open' | 'embed' | 'search' | 'close'>;

const MIB = 1024 ** 2;
/** Each loaded copy of the model takes memory: the first copy of all-MiniLM-L6-v2 int8 213 MiB, further copies 75 MiB (measured). */
const FIRST_BYTES = 240 * MIB;
const NEXT_BYTES = 80 * MIB;

/** Number of texts to embed at once: as many as the memory allows. One core stays free for the requests of readers. */
export function embedLanes(cores: number, memoryBytes: number): number {
  const models = 1 + Math.max(0, Math.floor((memoryBytes - FIRST_BYTES) / NEXT_BYTES));
  return Math.max(1, Math.min(cores - 1, models));
}
