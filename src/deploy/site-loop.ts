import { Backoff, mayPass } from '../net/retry.ts';
import { Activation } from './activation.ts';
import { FetchLane } from './fetch/renew.ts';
import type { Intake, TakenIn } from './import/importer.ts';
import { relabel } from './import/label.ts';
import { PreloadRun } from './import/preload.ts';
import { type Choice, isSame, type Progress, plan, type Step, type Wanted } from './plan.ts';
import { observe } from './releases/site-store.ts';
import { versionNotFound } from './releases/stored-versions.ts';
import type { SiteContext } from './site-context.ts';
import { SingleFlight } from './work-queue.ts';

/** An unpinned start prefers its link and its preload folder; readers wait this long for the last active version. */
const FALLBACK_AFTER_MS = 3_000;

/** In one pass, which takes some ten: a plan that goes in circles must not take a processor. */
const STEPS_MAX = 1_000;

/**
 * The loop of one site: observe, plan, one step, again. A fetch and the preload folder go on beside it and wake it. A
 * step that fails leaves what is served, goes to the journal, and is tried again when it may pass.
 */
export class Reconciler {
  readonly activation: Activation;
  readonly #context: SiteContext;
  readonly #intake: Intake;
  readonly #fetching: FetchLane;
  readonly #loop: SingleFlight;

  /** False between new settings and their round, and on a folder that one command works on. */
  #follows = false;
  #isSettled = false;
  #isMet = true;
  #choiceHasEnded = false;
  #fallbackAtMs: number | null = null;
  #fault: Progress['fault'] = null;
  readonly #backoff = new Backoff();
  #preload: PreloadRun | null = null;
  #formerPreload: Promise<void> = Promise.resolve();
  #fetchedFor: string | null = null;
  /** Until whoever waits for it has heard of its end, which is later than the end of its fetch. */
  #export: (PromiseWithResolvers<'done' | 'failed for now'> & { isBegun: boolean }) | null = null;

  constructor(context: SiteContext, intake: Intake) {
    this.#context = context;
    this.#intake = intake;
    this.activation = new Activation(context);
    this.#fetching = new FetchLane(context, intake);
    this.#loop = new SingleFlight({
      pass: () => this.#reconcile(),
      isBusy: () => this.#fetching.current !== null || this.#preload?.state === 'running',
      stopping: context.stopping,
    });
  }

  get follows(): boolean {
    return this.#follows;
  }

  get isMet(): boolean {
    return this.#isMet;
  }

  /** Begins a round. Resolves when it is settled, well or not; never rejects. */
  async settle(): Promise<void> {
    if (this.#context.stopping.aborted) return;
    this.#beginRound();
    await this.#loop.untilQuiet();
  }

  settingsChanged(isOtherConfig: boolean): void {
    this.#follows = false;
    if (isOtherConfig) this.#choiceHasEnded = true;
    if (this.#fetching.current?.isExport !== true) this.#endExport('done');
    this.wake();
  }

  chosen(): void {
    this.#choiceHasEnded = false;
    this.met();
  }

  met(): void {
    this.#isSettled = true;
    this.#isMet = true;
    this.#backoff.reset();
    this.#context.journal.recovered();
  }

  /** Carries an act out between two steps. Resolves when the loop has done all that follows from it at once. */
  inLoop<T>(act: () => Promise<T>): Promise<T> {
    return this.#loop.inTurn(act);
  }

  exportAnew(): Promise<'done' | 'failed for now'> {
    this.#export ??= { ...Promise.withResolvers(), isBegun: false };
    this.wake();
    return this.#export.promise;
  }

  wake(): void {
    this.#loop.wake();
  }

  async stop(): Promise<void> {
    await Promise.all([this.#fetching.done, this.#preload?.done]);
    await this.#loop.untilQuiet();
  }

  /** @returns when something is due next; null: when somebody wakes the loop */
  async #reconcile(): Promise<number | null> {
    const { stopping, journal } = this.#context;
    try {
      // What could not be opened is not tried once more to be stopped.
      if (stopping.aborted) return null;
      await this.#context.opened();
      for (let steps = 0; steps < STEPS_MAX; steps += 1) {
        const settings = this.#context.settings();
        const wanted = this.#context.wanted();
        const shelf = await observe(this.#context.store, wanted.sha256, (choice) => this.#asItHolds(choice));
        // A fetch that the stop has ended is not begun again.
        if (stopping.aborted) return null;
        // A step for the former settings is none for the round that new ones have begun.
        if (this.#context.settings() !== settings) continue;
        const step = plan(wanted, shelf, this.#progress());
        if (step.do === 'wait') return this.activation.followOthers().then(() => step.untilMs);
        await this.#carryOut(step, wanted, shelf.activeCreatedAt);
      }
      throw new Error(`Cannot settle: there is no end after ${STEPS_MAX} steps`);
    } catch (error) {
      // The folder itself cannot be opened or read: no order can be carried out.
      this.#isMet = false;
      journal.failed('deploy', error);
      this.#loop.rejectOrders(error);
      return this.#backoff.nextMs();
    }
  }

  async #carryOut(step: Step, wanted: Wanted, activeCreatedAt: string | null): Promise<void> {
    const { store, journal } = this.#context;
    switch (step.do) {
      case 'carry-out-order':
        return this.#loop.carryOutOrder();
      case 'abort-fetch':
        return this.#fetching.abort();
      case 'turn-off':
        return this.#attempt(step.of, () => this.activation.turnOff());
      case 'take-in-preload':
        return this.#takeInPreload(activeCreatedAt);
      case 'activate':
        return this.#attempt(step.of, async () => {
          if (step.relabel) await relabel(store, step.release);
          const newest = this.#preload?.newest ?? null;
          // An archive that came since ends an operator's choice, as any delivery does.
          const isNew = newest?.isNew === true && isSame(newest, step.release);
          if (step.asFetched === true) await this.activation.serveFetched(step.release, null);
          else await this.activation.serve(step.release, { by: isNew ? 'delivery' : 'settings' });
          this.#noteFetched(wanted);
        });
      case 'fall-back':
        this.#fallbackAtMs = null;
        this.#isMet = false;
        return this.activation
          .serve(step.release, { by: 'settings' })
          .catch((error: unknown) => journal.failed('deploy', error));
      case 'fetch':
        return this.#fetch(wanted.fetchKey, step.version, step.of);
      case 'export':
        return this.#fetch(wanted.fetchKey, null, null);
      case 'say-missing': {
        // Nothing is there because an archive was refused: say that.
        const cause = step.version === null ? this.#preload?.failures.pop() : undefined;
        return this.#failed(step.of, cause ?? (await versionNotFound(store, step.version, step.sha256)));
      }
      case 'note-settled':
        this.#noteFetched(wanted);
        return this.#settled();
      case 'forget-choice':
        await store.setChoice(null);
        this.#choiceHasEnded = false;
        return;
      case 'try-again':
        return this.#beginRound();
      case 'prune':
        return this.activation.prune();
    }
  }

  #takeInPreload(activeCreatedAt: string | null): void {
    this.#preload = new PreloadRun(this.#context, this.#intake, {
      activeCreatedAt,
      after: this.#formerPreload,
      // It may be what is waited for: served before the next archive is looked at.
      onTaken: () => this.inLoop(async () => undefined),
      onEnd: () => {
        if (this.#isSettled) this.#sayPreloadFailures();
        this.wake();
      },
    });
  }

  /** @param of the target that it is for; null: an export at an interval */
  #fetch(key: string, version: string | null, of: string | null): void {
    const onTaken = async (taken: TakenIn, signal: AbortSignal): Promise<void> => {
      await this.#fetched(taken, key, version, signal);
      if (of === null) this.#endExport('done');
    };
    const onFailed = (error: unknown, isAborted: boolean): void => {
      if (of === null) this.#endExport(!isAborted && mayPass(error) ? 'failed for now' : 'done');
      if (of === null && !isAborted) this.#context.journal.failed('renew', error);
      if (of !== null && !isAborted) this.#failed(of, error);
      this.wake();
    };
    if (of === null && this.#export !== null) this.#export.isBegun = true;
    this.#fetching.start({ key, version, isExport: of === null, onTaken, onFailed });
  }

  #fetched(taken: TakenIn, key: string, version: string | null, signal: AbortSignal): Promise<void> {
    return this.inLoop(async () => {
      this.#fetching.end();
      const { fetchKey, fingerprint } = this.#context.wanted();
      if (signal.aborted || key !== fetchKey) return;
      const choice = version === null ? await this.#context.store.choice() : null;
      const isHeld = choice !== null && this.#asItHolds(choice).fingerprint === fingerprint;
      await this.activation.serveFetched(taken, isHeld ? choice : null);
      this.#fetchedFor = key;
      this.#settled();
    });
  }

  /** What an unpinned link is to give is served, and is not asked for again before a start or a change. */
  #noteFetched({ pin, hasLink, fetchKey }: Wanted): void {
    if (pin === null && hasLink) this.#fetchedFor = fetchKey;
  }

  #endExport(outcome: 'done' | 'failed for now'): void {
    this.#export?.resolve(outcome);
    this.#export = null;
  }

  async #attempt(of: string, act: () => Promise<void>): Promise<void> {
    await act().then(
      () => this.#settled(),
      (error: unknown) => this.#failed(of, error),
    );
  }

  #settled(): void {
    this.#fault = null;
    this.met();
    this.#sayPreloadFailures();
  }

  #failed(of: string, error: unknown): void {
    this.#isMet = false;
    this.#sayPreloadFailures();
    this.#context.journal.failed('deploy', error);
    this.#fault = { of, retryAtMs: mayPass(error) ? this.#backoff.nextMs() : null };
  }

  #sayPreloadFailures(): void {
    if (this.#preload?.state !== 'done') return;
    for (const failure of this.#preload.failures.splice(0)) this.#context.journal.failed('preload', failure);
  }

  /** Changing the settings back does not bring a choice back. */
  #asItHolds(choice: Choice): Choice {
    return this.#choiceHasEnded ? { ...choice, fingerprint: 'ended' } : choice;
  }

  #progress(): Progress {
    return {
      nowMs: Date.now(),
      follows: this.#follows,
      hasOrder: this.#loop.hasOrder,
      served: this.activation.current,
      preload: this.#preload?.state ?? 'due',
      preloaded: this.#isSettled ? null : (this.#preload?.newest ?? null),
      fetching: this.#fetching.current,
      fetchedFor: this.#fetchedFor,
      exportIsDue: this.#export?.isBegun === false,
      isSettled: this.#isSettled,
      fault: this.#fault,
      fallbackAtMs: this.#fallbackAtMs,
      pruneAtMs: this.activation.pruneAtMs,
    };
  }

  #beginRound(): void {
    this.#follows = true;
    this.#isSettled = false;
    this.#fault = null;
    this.#fallbackAtMs = Date.now() + FALLBACK_AFTER_MS;
    if (this.#preload?.goesOnFor(this.#context.settings()) === true) return;
    this.#preload?.abort();
    this.#formerPreload = this.#preload?.done ?? this.#formerPreload;
    this.#preload = null;
  }
}
