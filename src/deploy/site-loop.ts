import { AsyncLocalStorage } from 'node:async_hooks';
import { isTransient } from '../net/retry.ts';
import { Activation, type ActivationReason } from './activation.ts';
import { Fetcher, type FetchTask } from './fetch/fetcher.ts';
import type { ImportedBundle, Importer } from './import/importer.ts';
import { relabel } from './import/label.ts';
import { Preload } from './import/preload.ts';
import {
  type Choice,
  isSame,
  type ObservedState,
  type Progress,
  plan,
  type ReleaseRef,
  type Step,
  type Wanted,
} from './plan.ts';
import { versionNotFound } from './releases/stored-versions.ts';
import type { SiteContext } from './site-context.ts';

/** Time to wait for the link and the preload folder before a site without a pinned version serves its last active release. */
const SERVE_LAST_AFTER_MS = 3_000;

/** Maximum steps of one pass of the site loop. A pass usually has ten steps, but an error in `plan` could repeat steps endlessly. */
const STEPS_MAX = 1_000;

const RETRY_WAIT_MS_MIN = 10_000;
const RETRY_WAIT_MS_MAX = 300_000;

/** Longest delay that `setTimeout` accepts, about 24 days (signed 32-bit milliseconds). */
const TIMER_MS_MAX = 2 ** 31 - 1;

interface Command {
  readonly run: () => Promise<unknown>;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

/** Runs commands and the passes of the site loop, one at a time. */
export abstract class WorkQueue {
  readonly #stopping: AbortSignal;
  readonly #commands: Command[] = [];
  /** Callers that wait for the end of a pass. If `isForIdle` is true, a caller waits until `isBusy` is false too. */
  readonly #waiting: { readonly isForIdle: boolean; readonly resolve: () => void }[] = [];
  /** Number of `wake` calls since the current series of passes began. 0 while no pass runs. */
  #wakes = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Async context outside any trace. Passes run in this context, because a pass works for all callers, not for one. */
  readonly #outside = AsyncLocalStorage.snapshot();

  constructor(stopping: AbortSignal) {
    this.#stopping = stopping;
  }

  /** Runs steps until none is due. @returns time of the next step, or null to wait for a `wake` call */
  protected abstract pass(): Promise<number | null>;

  /** True while a fetch or an import of the preload folder runs outside the queue. At its end, this work must call `wake`. */
  protected abstract get isBusy(): boolean;

  protected get hasCommand(): boolean {
    return this.#commands.length > 0;
  }

  wake(): void {
    this.#wakes += 1;
    if (this.#wakes === 1) void this.#outside(() => this.#run());
  }

  /** Runs `act` between two steps of the site loop. Resolves after `act`, when the loop has no further step to run now. */
  runExclusive<T>(act: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#commands.push({ run: AsyncLocalStorage.bind(act), resolve, reject });
    this.wake();
    return promise;
  }

  protected async runCommand(): Promise<void> {
    const command = this.#commands.shift();
    try {
      const result = (await command?.run()) as never;
      this.#waiting.push({ isForIdle: false, resolve: () => command?.resolve(result) });
    } catch (error) {
      command?.reject(error);
    }
  }

  protected rejectCommands(reason: unknown): void {
    for (const command of this.#commands.splice(0)) command.reject(reason);
  }

  protected whenIdle(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ isForIdle: true, resolve });
    this.wake();
    return promise;
  }

  async #run(): Promise<void> {
    const stopping = this.#stopping;
    let nextMs: number | null = null;
    for (let seen = 0; seen < this.#wakes; ) {
      seen = this.#wakes;
      clearTimeout(this.#timer);
      nextMs = await this.pass();
    }
    this.#wakes = 0;
    if (stopping.aborted) this.rejectCommands(stopping.reason);
    const isIdle = stopping.aborted || !this.isBusy;
    for (const each of this.#waiting.splice(0)) {
      if (each.isForIdle && !isIdle) this.#waiting.push(each);
      else each.resolve();
    }
    if (nextMs === null || stopping.aborted) return;
    const waitMs = Math.min(Math.max(nextMs - Date.now(), 0), TIMER_MS_MAX);
    this.#timer = setTimeout(() => this.wake(), waitMs).unref();
  }
}

type Phase =
  | { readonly name: 'paused' | 'due' | 'settled' }
  /** If `serveLastAtMs` is null, docshelf has already tried to serve the last active release. */
  | { readonly name: 'reconciling'; readonly serveLastAtMs: number | null };

/** Deploys a site: observes the disk, plans, and runs one step at a time. If a step fails, the site keeps its served release. */
export class SiteLoop extends WorkQueue {
  readonly activation: Activation;
  readonly #context: SiteContext;
  readonly #fetcher: Fetcher;
  readonly #preload: Preload;
  /**
   * Delay before the next attempt after a failure, which each failure doubles. Null if no step failed since the site matched its
   * settings.
   */
  #retryWaitMs: number | null = null;
  /**
   * Progress of the loop. `paused`: it waits for a `reconcile` call. `due`: the next pass applies new settings, and a step that
   * is still running must not set `settled`.
   */
  #phase: Phase = { name: 'paused' };
  #choiceHasEnded = false;
  #fault: Progress['fault'] = null;
  #fetchedFor: string | null = null;

  constructor(context: SiteContext, importer: Importer) {
    super(context.stopping);
    this.#context = context;
    this.activation = new Activation(context);
    this.#fetcher = new Fetcher(context, importer, {
      onFetched: (bundle, task, signal) => this.runExclusive(() => this.#finishFetch(bundle, task, signal)),
      onFailed: (error, { of }) => (of === null ? context.journal.failed('renew', error) : this.#failed(of, error)),
      wake: () => this.wake(),
    });
    this.#preload = new Preload(context, importer, {
      // Let the site loop run after each imported archive, so that the site serves the archive before the next import.
      onImported: () => this.runExclusive(async () => undefined),
      onEnd: () => {
        if (this.#phase.name !== 'reconciling') this.#reportPreloadFailures();
        this.wake();
      },
    });
  }

  get hasStartedRound(): boolean {
    return this.#phase.name !== 'paused';
  }

  /** False after a failure, until the site matches its settings. */
  get isReconciled(): boolean {
    return this.#retryWaitMs === null;
  }

  async reconcile(): Promise<void> {
    if (this.#context.stopping.aborted) return;
    this.#phase = { name: 'due' };
    await this.whenIdle();
  }

  settingsChanged(isOtherConfig: boolean): void {
    this.#phase = { name: 'paused' };
    if (isOtherConfig) this.#choiceHasEnded = true;
  }

  async activate(release: ReleaseRef, reason: ActivationReason): Promise<void> {
    await this.activation.serve(release, reason);
    if (reason.by === 'operator') this.#choiceHasEnded = false;
    this.#markReconciled();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#fetcher.done, this.#preload.done]);
    await this.whenIdle();
  }

  protected override get isBusy(): boolean {
    return this.#fetcher.current !== null || this.#preload.state === 'running';
  }

  protected override async pass(): Promise<number | null> {
    const { stopping, journal, store, opened } = this.#context;
    try {
      if (stopping.aborted) return null;
      await opened();
      for (let steps = 0; steps < STEPS_MAX; steps += 1) {
        const { settings } = this.#context;
        const found = await store.observe();
        const observed = { ...found, choice: this.#expireIfStale(found.choice) };
        // If docshelf began to stop while this pass read the disk, plan no step, because a plan would restart the aborted fetch.
        if (stopping.aborted) return null;
        // If the settings changed while this pass read the disk, plan again with the new settings.
        if (settings !== this.#context.settings) continue;
        if (this.#phase.name === 'due') this.#beginRound();
        const wanted = this.#context.wanted();
        const step = plan(wanted, observed, this.#progress());
        if (step.do === 'wait') {
          this.activation.updateRetained(found.releases);
          return step.untilMs;
        }
        await this.#act(step, wanted, observed);
      }
      throw new Error(`Cannot deploy the site: its state still differs from the config after ${STEPS_MAX} steps`);
    } catch (error) {
      // Reject the waiting commands, because no command can run if the site's folder cannot be opened or read.
      const retryAtMs = this.#nextRetryMs();
      journal.failed('deploy', error);
      this.rejectCommands(error);
      return retryAtMs;
    }
  }

  async #act(step: Step, wanted: Wanted, { activeCreatedAt }: ObservedState): Promise<void> {
    const { store, journal } = this.#context;
    switch (step.do) {
      case 'run-command':
        return this.runCommand();
      case 'abort-fetch':
        return this.#fetcher.abort();
      case 'turn-off':
      case 'activate':
        try {
          if (step.do === 'turn-off') await this.activation.turnOff();
          else await this.#activate(step, wanted);
        } catch (error) {
          return this.#failed(step.of, error);
        }
        return this.#succeeded();
      case 'import-preload':
        return this.#preload.start(activeCreatedAt);
      case 'serve-last':
        this.#phase = { name: 'reconciling', serveLastAtMs: null };
        this.#retryWaitMs ??= RETRY_WAIT_MS_MIN;
        return this.activation
          .serve(step.release, { by: 'settings' })
          .catch((error: unknown) => journal.failed('deploy', error));
      case 'fetch':
        return this.#fetcher.start({ key: wanted.fetchKey, version: step.version, of: step.of });
      case 'export':
        return this.#fetcher.start({ key: wanted.fetchKey, version: null, of: null });
      case 'report-missing': {
        const failures = step.version === null ? this.#preload.takeFailures() : [];
        this.#reportPreloadFailures(failures.slice(0, -1));
        return this.#failed(step.of, failures.at(-1) ?? (await versionNotFound(store, step.version, step.sha256)));
      }
      case 'mark-done':
        this.#noteFetched(wanted);
        return this.#succeeded();
      case 'forget-choice':
        await store.setChoice(null);
        this.#choiceHasEnded = false;
        return;
      case 'retry':
        return this.#beginRound();
      case 'prune':
        return this.activation.prune();
    }
  }

  async #activate({ release, relabel: mustRelabel, asFetched }: Step & { do: 'activate' }, wanted: Wanted) {
    if (mustRelabel) await relabel(this.#context.store, release);
    const { newest } = this.#preload;
    // A new archive in the preload folder counts as a delivery, so it replaces a release that an operator activated.
    const isNew = newest?.isNew === true && isSame(newest, release);
    if (asFetched === true) await this.#serveFetched(release, null);
    else await this.activation.serve(release, { by: isNew ? 'delivery' : 'settings' });
    this.#noteFetched(wanted);
  }

  /**
   * Serves the fetched release. If the previous fetch returned the same digest, serves `choice` instead, the release that an
   * operator activated.
   */
  async #serveFetched(fetched: ReleaseRef, choice: ReleaseRef | null): Promise<void> {
    const isHeld = choice !== null && (await this.#context.store.active())?.lastFetched === fetched.digest;
    await this.activation.serve(isHeld ? choice : fetched, {
      by: isHeld ? 'settings' : 'delivery',
      fetched: fetched.digest,
    });
  }

  async #finishFetch(bundle: ImportedBundle, { key, version }: FetchTask, signal: AbortSignal): Promise<void> {
    const { store } = this.#context;
    const { fetchKey, fingerprint } = this.#context.wanted();
    if (signal.aborted || key !== fetchKey) return;
    const choice = version === null ? this.#expireIfStale(await store.choice()) : null;
    await this.#serveFetched(bundle, choice?.fingerprint === fingerprint ? choice : null);
    this.#fetchedFor = key;
    this.#succeeded();
  }

  /** Records the fetch. Without a pinned version, the loop fetches the link again only after a start or a change of the settings. */
  #noteFetched({ pin, hasLink, fetchKey }: Wanted): void {
    if (pin === null && hasLink) this.#fetchedFor = fetchKey;
  }

  #markReconciled(): void {
    if (this.#phase.name === 'reconciling') this.#phase = { name: 'settled' };
    this.#retryWaitMs = null;
    this.#context.journal.recovered();
  }

  #succeeded(): void {
    this.#fault = null;
    this.#markReconciled();
    this.#reportPreloadFailures();
  }

  #failed(of: string, error: unknown): void {
    this.#retryWaitMs ??= RETRY_WAIT_MS_MIN;
    this.#reportPreloadFailures();
    this.#context.journal.failed('deploy', error);
    this.#fault = { of, retryAtMs: isTransient(error) ? this.#nextRetryMs() : null };
  }

  #nextRetryMs(): number {
    const waitMs = this.#retryWaitMs ?? RETRY_WAIT_MS_MIN;
    this.#retryWaitMs = Math.min(waitMs * 2, RETRY_WAIT_MS_MAX);
    return Date.now() + waitMs;
  }

  #reportPreloadFailures(failures = this.#preload.takeFailures()): void {
    for (const failure of failures) this.#context.journal.failed('preload', failure);
  }

  /** Once the settings have changed, an operator's choice of a release stays ended, even if the settings change back later. */
  #expireIfStale(choice: Choice | null): Choice | null {
    return choice !== null && this.#choiceHasEnded ? { ...choice, fingerprint: 'ended' } : choice;
  }

  #progress(): Progress {
    const isSettled = this.#phase.name === 'settled';
    return {
      nowMs: Date.now(),
      hasStartedRound: this.hasStartedRound,
      hasCommand: this.hasCommand,
      served: this.activation.current,
      preload: this.#preload.state,
      preloaded: isSettled ? null : this.#preload.newest,
      fetching: this.#fetcher.current,
      fetchedFor: this.#fetchedFor,
      exportAtMs: this.#fetcher.exportAtMs,
      isSettled,
      fault: this.#fault,
      serveLastAtMs: this.#phase.name === 'reconciling' ? this.#phase.serveLastAtMs : null,
      pruneAtMs: this.activation.pruneAtMs,
    };
  }

  #beginRound(): void {
    const { settings } = this.#context;
    this.#phase = { name: 'reconciling', serveLastAtMs: Date.now() + SERVE_LAST_AFTER_MS };
    this.#fault = null;
    this.#fetcher.exportEvery(settings.enabled ? (settings.renew?.everyMs ?? null) : null);
    this.#preload.beginRound();
  }
}
