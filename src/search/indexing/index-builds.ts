import { randomBytes } from 'node:crypto';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { toDocshelfError } from '../../domain/errors.ts';
import { whileLocked } from '../../files/file-lock.ts';
import { TABLE_FILE } from '../../files/index.ts';
import { heapWithin, ProcessorLimit, type Thread, type ThreadOptions } from '../../threads/index.ts';
import { Scheduler } from '../../threads/scheduler.ts';
import type { IndexedRelease, ReportBuild } from '../ports.ts';
import type { SearchCalls } from '../worker.ts';
import type { BuildIndexRequest } from './build-index.ts';
import { KEYWORD_FILE } from './index-files.ts';

const DERIVED = 'search';

/**
 * Share of the memory limit for the process that builds small sites during a long build. A small site needs a third of the limit
 * (measured).
 */
const ASIDE_PART = 0.5;
/** Estimated size of a release per byte of its file table. A file of 8 KiB takes about 80 bytes of the table. */
const BYTES_A_TABLE_BYTE = 100;
/** Maximum processor time to read a large page. The largest pages take 3 s, or 6 s on a busy machine (measured). */
const PAGE_MS_MAX = 20_000;
/** After this number of pages has killed the indexing process, docshelf skips all large pages. */
const LEFT_OUT_MAX = 3;
/** Time to wait for another replica that builds the same index. After this time, docshelf builds the index in another folder. */
const OTHERS_MS_MAX = 600_000;

export interface BuildRequester {
  readonly site: unknown;
  readonly report: ReportBuild;
}

interface IndexBuildsOptions {
  readonly turns: IndexTurns;
  readonly memoryBytesMax: number;
  readonly thread: (options: Omit<ThreadOptions, 'entry'>) => Thread<SearchCalls>;
  readonly pageMsMax?: number;
}

export class IndexBuilds {
  readonly #options: IndexBuildsOptions;
  readonly #threads: Readonly<Record<BuildPlace, Thread<SearchCalls>>>;

  constructor(options: IndexBuildsOptions) {
    this.#options = options;
    const threadOf = (bytes: number) =>
      options.thread({
        ...{ task: 'build the search index', isProcess: true, heap: heapWithin(bytes), residentBytesMax: bytes },
      });
    const { memoryBytesMax } = options;
    this.#threads = { main: threadOf(memoryBytesMax), aside: threadOf(memoryBytesMax * ASIDE_PART) };
  }

  async build(
    release: IndexedRelease,
    signal: AbortSignal,
    requester: BuildRequester = { site: release, report: () => undefined },
  ): Promise<number | null> {
    requester.report('waiting to index', null);
    const before = await indexIn(release);
    const lock = join(release.releaseDir, `.${DERIVED}.lock`);
    const options = { mode: 'exclusive', waitMsMax: OTHERS_MS_MAX, signal, isTemporary: true } as const;
    return whileLocked(lock, options, async (isTaken) => {
      if ((await indexIn(release)) !== before) return null;
      if (!isTaken) await sweep(release.releaseDir);
      return this.#buildWhenFree(release, signal, requester);
    });
  }

  async end(): Promise<void> {
    await Promise.all(Object.values(this.#threads).map((thread) => thread.end({ withinMs: 0 })));
  }

  async #buildWhenFree(
    release: IndexedRelease,
    signal: AbortSignal,
    { site, report }: BuildRequester,
  ): Promise<number> {
    const { turns } = this.#options;
    // The file table exists before the size of the release is known, so estimate the size from the table.
    const table = await stat(join(release.releaseDir, TABLE_FILE)).catch(() => null);
    const size = release.bytes ?? (table?.size ?? 0) * BYTES_A_TABLE_BYTE;
    let place: BuildPlace = 'main';
    const build = (given: BuildPlace) => {
      place = given;
      report('indexing', null);
      return this.#build(release, given, signal, report);
    };
    try {
      return await turns.build(size, build, signal, site);
    } catch (error) {
      const isOfPlace = (place as BuildPlace) === 'aside' && toDocshelfError(error).code === 'worker_ended';
      if (signal.aborted || !isOfPlace) throw error;
      report('waiting to index', null);
      return turns.build(Number.POSITIVE_INFINITY, build, signal, site);
    }
  }

  async #build(
    { releaseDir, trailingSlash }: IndexedRelease,
    place: BuildPlace,
    signal: AbortSignal,
    report: ReportBuild,
  ): Promise<number> {
    const searchDir = join(releaseDir, `.${DERIVED}-${randomBytes(6).toString('hex')}`);
    try {
      const request = { releaseDir, trailingSlash, searchDir, leftOut: [], leavesOutLarge: false };
      const sections = await this.#attempt(request, place, signal, report);
      await replaceFolder(searchDir, join(releaseDir, DERIVED));
      return sections;
    } finally {
      if (place === 'aside') await this.#threads.aside.terminate();
      if (this.#options.turns.builds === 1) await this.#threads.main.terminate();
      await rm(searchDir, { recursive: true, force: true });
    }
  }

  async #attempt(
    request: BuildIndexRequest,
    place: BuildPlace,
    signal: AbortSignal,
    report: ReportBuild,
  ): Promise<number> {
    const thread = this.#threads[place];
    let page: string | null = null;
    using limit = new ProcessorLimit(thread, this.#options.pageMsMax ?? PAGE_MS_MAX, () => void thread.terminate());
    const onProgress = (path: string | null): void => {
      page = path;
      report('indexing', path);
      if (path === null) limit.end();
      else limit.begin();
    };
    try {
      return await thread.call('build', request, { signal, onProgress });
    } catch (error) {
      const isOfPlace = place === 'aside' && !limit.isOver;
      if (signal.aborted || isOfPlace || toDocshelfError(error).code !== 'worker_ended') throw error;
      const next = nextAttempt(request, page);
      if (next === null) throw error;
      await rm(request.searchDir, { recursive: true, force: true });
      return this.#attempt(next, place, signal, report);
    }
  }
}

function nextAttempt(request: BuildIndexRequest, page: string | null): BuildIndexRequest | null {
  if (page === null || request.leavesOutLarge) return null;
  const leftOut = [...request.leftOut, page];
  return { ...request, leftOut, leavesOutLarge: leftOut.length === LEFT_OUT_MAX };
}

export const searchDirOf = ({ releaseDir }: IndexedRelease): string => join(releaseDir, DERIVED);

async function indexIn(release: IndexedRelease): Promise<string | null> {
  return stat(join(searchDirOf(release), KEYWORD_FILE), { bigint: true }).then(
    ({ ino, mtimeNs }) => `${ino} ${mtimeNs}`,
    () => null,
  );
}

async function sweep(releaseDir: string): Promise<void> {
  for (const name of await readdir(releaseDir)) {
    if (name.startsWith(`.${DERIVED}-`)) await rm(join(releaseDir, name), { recursive: true, force: true });
  }
}

/** Replaces a folder by two renames. After a crash between the renames, docshelf builds the missing index again. */
async function replaceFolder(from: string, to: string): Promise<void> {
  const former = `${from}-former`;
  await rename(to, former).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  await rename(from, to);
  await rm(former, { recursive: true, force: true });
}

/** Time after which the embedding of a release pauses if other work waits. Resuming takes only 3 s for 100,000 passages. */
const TURN_MS = 60_000;

const LONG_BUILD_MS = 5_000;

const BUILDING = 0;
const EMBEDDING = 1;

type BuildPlace = 'main' | 'aside';

interface Times {
  readonly turnMs?: number | undefined;
  readonly longBuildMs?: number | undefined;
}

interface Build {
  readonly size: number;
  isLong: boolean;
  place: BuildPlace;
}

/**
 * Runs one build or embedding at a time, so that each can use the whole memory limit. A build interrupts embedding, because a new
 * version waits for its index. During a long build, a second task builds smaller sites.
 */
export class IndexTurns {
  readonly #scheduler = new Scheduler({ max: () => (this.#mayBuildAside() ? 2 : 1) });
  readonly #turnMs: number;
  readonly #longBuildMs: number;
  readonly #waiting = new Set<Build>();
  readonly #running = new Set<Build>();
  #turn: AbortController | null = null;

  constructor({ turnMs = TURN_MS, longBuildMs = LONG_BUILD_MS }: Times = {}) {
    this.#turnMs = turnMs;
    this.#longBuildMs = longBuildMs;
  }

  get builds(): number {
    return this.#waiting.size + this.#running.size;
  }

  get waiting(): number {
    return this.#scheduler.waiting;
  }

  /**
   * @param size relative size of the build. Among sites with equally many turns so far, the smallest build runs first
   * @param site object that identifies the site, because sites take turns
   * @throws errors of `work`; the signal's reason if it aborts
   */
  async build<Result>(
    size: number,
    work: (place: BuildPlace) => Promise<Result>,
    signal: AbortSignal,
    site: unknown = work,
  ): Promise<Result> {
    const build: Build = { size, isLong: false, place: 'main' };
    this.#turn?.abort(OVER);
    this.#waiting.add(build);
    const act = async (): Promise<Result> => {
      this.#waiting.delete(build);
      if ([...this.#running].some(({ place }) => place === 'main')) build.place = 'aside';
      this.#running.add(build);
      const timer = setTimeout(() => {
        build.isLong = true;
        this.#scheduler.look();
      }, this.#longBuildMs).unref();
      return work(build.place).finally(() => {
        clearTimeout(timer);
        this.#running.delete(build);
      });
    };
    try {
      return await this.#scheduler.run(act, { key: site, priority: BUILDING, size, signal });
    } finally {
      this.#waiting.delete(build);
    }
  }

  #mayBuildAside(): boolean {
    const long = [...this.#running].filter(({ isLong }) => isLong);
    return [...this.#waiting].some(({ size }) => long.some((other) => size < other.size));
  }

  /**
   * @param work function to call for each turn. It must resume where its previous call stopped, and end when its signal aborts.
   * The time of a turn starts when `work` calls `onBegun`, so that each turn makes progress
   * @throws errors of `work`; the signal's reason if it aborts
   */
  async embed<Result>(
    work: (signal: AbortSignal, onBegun: () => void) => Promise<Result>,
    signal: AbortSignal,
    site: unknown = work,
  ): Promise<Result> {
    for (;;) {
      const turn = new AbortController();
      try {
        const act = () => this.#embed(turn, work, signal);
        return await this.#scheduler.run(act, { key: site, priority: EMBEDDING, signal });
      } catch (error) {
        signal.throwIfAborted();
        if (!turn.signal.aborted) throw error;
      }
    }
  }

  async #embed<Result>(
    turn: AbortController,
    work: (signal: AbortSignal, onBegun: () => void) => Promise<Result>,
    signal: AbortSignal,
  ): Promise<Result> {
    let timer: NodeJS.Timeout | undefined;
    const onBegun = (): void => {
      timer ??= setInterval(() => {
        if (this.#scheduler.waiting > 0) turn.abort(OVER);
      }, this.#turnMs).unref();
    };
    this.#turn = turn;
    try {
      return await work(AbortSignal.any([signal, turn.signal]), onBegun);
    } finally {
      clearInterval(timer);
      this.#turn = null;
    }
  }
}

const OVER = new Error('its turn is over');
