import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { DocshelfError, type ErrorCode, toDocshelfError } from '../domain/errors.ts';
import type { SearchIndex } from './embedded-engine.ts';
import { searchDirOf } from './indexing/index-builds.ts';
import type { EmbedProgress, IndexedRelease, IndexFacts, ReportBuild } from './ports.ts';
import { PLAIN_FORM, type ResultForm, type SearchAnswer, type SearchRequest } from './request.ts';

type LegState = 'ready' | 'building' | 'off' | 'failed';

export interface SearchStatus {
  readonly keyword: LegState;
  readonly semantic: LegState;
  readonly sections: number;
  readonly embedded: number;
}

export type SearchEvent =
  | { readonly kind: 'indexed'; readonly sections: number; readonly seconds: number }
  | { readonly kind: 'embedded'; readonly passages: number; readonly seconds: number }
  /** The error is null if the index is missing. This is no error, because a restored backup contains no index. */
  | { readonly kind: 'rebuilding'; readonly error: DocshelfError | null }
  | { readonly kind: 'refused'; readonly error: DocshelfError }
  | { readonly kind: 'failed'; readonly step: 'index' | 'embed'; readonly error: DocshelfError };

interface SiteSearchOptions {
  readonly index: SearchIndex;
  readonly isSemantic: boolean;
  readonly embedAfterMs: number;
  /** Delay before the first retry, which doubles for each further retry, up to ten minutes. Default: 1 s. */
  readonly againAfterMs?: number;
  readonly onEvent: (event: SearchEvent) => void;
}

/** State of search for one release. When another release becomes active, docshelf creates a new state. */
interface Legs {
  keyword: LegState;
  semantic: LegState;
  sections: number;
  progress: EmbedProgress;
  facts: Omit<IndexFacts, 'sections'>;
  failure: DocshelfError | null;
}

interface Served extends Legs {
  readonly release: IndexedRelease;
  readonly label: string;
  readonly abort: AbortController;
  opened: Promise<void>;
}

const NAMED_MAX = 20;
const OFF: Readonly<Legs> = {
  keyword: 'off',
  semantic: 'off',
  sections: 0,
  progress: { passages: 0, embedded: 0 },
  facts: { refused: null, leftOut: [], builtAtMs: null },
  failure: null,
};
const AGAIN_AFTER_MS_MAX = 600_000;
/** Errors that a retry cannot fix. */
const LASTING: ReadonlySet<ErrorCode> = new Set(['model_invalid', 'stopping']);

export class SiteSearch {
  readonly #options: SiteSearchOptions;
  #served: Served | null = null;

  constructor(options: SiteSearchOptions) {
    this.#options = options;
  }

  get status(): SearchStatus {
    const { keyword, semantic, sections, progress } = this.#served ?? OFF;
    const { passages, embedded } = progress;
    const part = passages === 0 ? 0 : embedded / passages;
    const share = semantic === 'ready' ? 1 : part;
    return { keyword, semantic, sections, embedded: Math.floor(sections * share) };
  }

  get reading() {
    const { sections, embedded, semantic } = this.status;
    return { waiting: semantic === 'off' ? 0 : sections - embedded, builtAtMs: (this.#served ?? OFF).facts.builtAtMs };
  }

  get notices(): string[] {
    const { facts, failure } = this.#served ?? OFF;
    const { refused, leftOut } = facts;
    const faults = [failure, refused].filter((fault) => fault !== null);
    const notices = faults.map(({ code, message, next }) => `${message} (${code}). ${next ?? ''}`.trimEnd());
    if (leftOut.length === 0) return notices;
    const named = leftOut.slice(0, NAMED_MAX).map((path) => `"${path}"`);
    const others = leftOut.length - named.length;
    const pages = [...named, ...(others > 0 ? [`and ${others} more`] : [])].join(', ');
    return [
      ...notices,
      `Search omits ${pages}. Reading each of these pages takes too long, or needs more memory than search.memory allows.`,
    ];
  }

  async index(release: IndexedRelease, signal: AbortSignal, report?: ReportBuild): Promise<void> {
    try {
      await this.#build(release, signal, report);
    } catch (error) {
      signal.throwIfAborted();
      this.#reportFailure('index', error);
    }
  }

  async #build(release: IndexedRelease, signal: AbortSignal, report?: ReportBuild): Promise<void> {
    const startedMs = performance.now();
    const { sections, refused } = await this.#options.index.build(release, signal, report, this);
    if (refused !== null) this.#options.onEvent({ kind: 'refused', error: DocshelfError.fromPlain(refused) });
    this.#options.onEvent({ kind: 'indexed', sections, seconds: (performance.now() - startedMs) / 1000 });
  }

  switchTo(release: IndexedRelease, label: string): void {
    const former = this.#served;
    former?.abort.abort(new DocshelfError('stopping', 'Cannot continue: the active version has changed'));
    const semantic = this.#options.isSemantic ? 'building' : 'off';
    const place = { release, label, abort: new AbortController(), opened: Promise.resolve() };
    const served: Served = { ...OFF, keyword: 'building', semantic, ...place };
    served.opened = this.#open(served);
    // Ignore the error here, because `search` reports the error.
    served.opened.catch(() => undefined);
    this.#served = served;
    if (former !== null && former.release.digest !== release.digest) void this.#closeAfter(former, served.opened);
  }

  close(): void {
    const former = this.#served;
    former?.abort.abort(new DocshelfError('stopping', 'Cannot continue: serving is turned off'));
    this.#served = null;
    if (former !== null) void this.#closeAfter(former, Promise.resolve());
  }

  async search(request: SearchRequest, form: ResultForm = PLAIN_FORM): Promise<SearchAnswer> {
    const served = this.#served;
    if (served === null) throw building('no version of the documentation is active');
    if (served.keyword === 'building')
      await Promise.race([served.opened.catch(() => undefined), sleep(1_000, undefined, { ref: false })]);
    try {
      const answer = await this.#options.index.search(served.release, request, served.label, form, this);
      if (this.#served === served) return answer;
    } catch (error) {
      if (this.#served === served) throw this.#faultOf(toDocshelfError(error), served);
    }
    return this.search(request, form);
  }

  #faultOf(fault: DocshelfError, { release, label, keyword }: Served): DocshelfError {
    if (fault.code !== 'index_damaged') return fault;
    if (keyword === 'failed') return building('docshelf could not build its search index');
    if (keyword === 'building') return building('docshelf is still building its search index');
    this.#options.onEvent({ kind: 'rebuilding', error: fault });
    this.switchTo(release, label);
    return building('its search index was damaged, and docshelf builds it again');
  }

  /** Callers wait only for the first attempt. Retries run in the background. */
  async #open(served: Served, attempt = 0): Promise<void> {
    const { index, onEvent } = this.#options;
    const { release, abort } = served;
    const { signal } = abort;
    try {
      const facts = await index.open(release, this).catch(async (error: unknown) => {
        signal.throwIfAborted();
        const fault = toDocshelfError(error);
        if (fault.code === 'stopping') throw fault;
        onEvent({ kind: 'rebuilding', error: existsSync(searchDirOf(release)) ? fault : null });
        await this.#build(release, signal);
        return index.open(release, this);
      });
      signal.throwIfAborted();
      served.sections = facts.sections;
      served.facts = facts;
      served.failure = null;
      served.keyword = 'ready';
      if (served.semantic === 'failed') served.semantic = 'building';
    } catch (error) {
      if (signal.aborted) throw building('another version is served');
      served.keyword = 'failed';
      served.semantic = served.semantic === 'off' ? 'off' : 'failed';
      this.#reportFailure('index', error);
      served.failure = toDocshelfError(error);
      void this.#again(error, attempt, signal, () => {
        served.keyword = 'building';
        return this.#open(served, attempt + 1);
      });
      throw error;
    }
    if (served.semantic !== 'off') void this.#embed(served);
  }

  async #embed(served: Served, attempt = 0): Promise<void> {
    const { release, abort } = served;
    const { signal } = abort;
    const startedMs = performance.now();
    try {
      const { embedAfterMs } = this.#options;
      if (embedAfterMs > 0) await sleep(embedAfterMs, undefined, { signal, ref: false });
      const onProgress = (progress: EmbedProgress): void => {
        served.progress = progress;
      };
      await this.#options.index.embed(release, onProgress, signal, this);
      if (signal.aborted) return;
      served.semantic = 'ready';
      const seconds = (performance.now() - startedMs) / 1000;
      this.#options.onEvent({ kind: 'embedded', passages: served.progress.passages, seconds });
    } catch (error) {
      if (signal.aborted) return;
      served.semantic = 'failed';
      this.#reportFailure('embed', error);
      void this.#again(error, attempt, signal, () => {
        served.semantic = 'building';
        return this.#embed(served, attempt + 1);
      });
    }
  }

  /** Retries `act` after a delay. The cause may be temporary: a dead process, a timeout of the model, or a full disk. */
  async #again(cause: unknown, attempt: number, signal: AbortSignal, act: () => Promise<void>): Promise<void> {
    if (LASTING.has(toDocshelfError(cause).code)) return;
    const afterMs = Math.min(AGAIN_AFTER_MS_MAX, (this.#options.againAfterMs ?? 1_000) * 2 ** attempt);
    try {
      await sleep(afterMs, undefined, { signal, ref: false });
      await act();
    } catch {
      // Ignore the error: `act` has already reported the error, or the retry was aborted because another version is active.
    }
  }

  /** Does not report `stopping`, because the end of the daemon is not an error of the site. */
  #reportFailure(step: 'index' | 'embed', cause: unknown): void {
    const error = toDocshelfError(cause);
    if (error.code !== 'stopping') this.#options.onEvent({ kind: 'failed', step, error });
  }

  async #closeAfter({ release, opened }: Served, next: Promise<void>): Promise<void> {
    await Promise.allSettled([opened, next]);
    if (this.#served?.release.digest !== release.digest)
      await this.#options.index.close(release, this).catch(() => undefined);
  }
}

function building(state: string): DocshelfError {
  return new DocshelfError('index_building', `Cannot search now: ${state}`, {
    next: 'Try again in a few seconds. The status of the daemon shows whether the index is ready.',
    fields: { retryAfterS: 5 },
  });
}
