import { DocshelfError } from '../domain/errors.ts';
import type { Activation } from './activation.ts';
import type { Renewal } from './fetch/renew.ts';
import type { Journal } from './journal.ts';
import { plan, type ReleaseRef, type Shelf, type Step } from './plan.ts';
import type { ReleaseStore } from './releases/release-store.ts';
import { versionNotFound } from './releases/version-not-found.ts';
import { type DeploySettings, fetchKeyOf, wishOf } from './settings.ts';
import type { Intake } from './take-in/intake.ts';
import { takeInPreload } from './take-in/preload.ts';
import type { TakenIn } from './take-in/take-in.ts';

/** An unpinned start looks at its link and its preload folder first; readers wait no longer than this for the last active version. */
const FALLBACK_AFTER_MS = 3_000;

/** Between attempts at a link that may come back: 10 s, 20 s, 40 s … at most 5 minutes. */
const RETRY_AFTER_MS_MIN = 10_000;
const RETRY_AFTER_MS_MAX = 300_000;

interface PreloadOutcome {
  readonly newest: Shelf['preloaded'];
  readonly failures: DocshelfError[];
}

/** Brings what is served in line with the settings. A step that fails leaves what is served, and is said in the journal. */
export class Settler {
  readonly #store: ReleaseStore;
  readonly #settings: () => DeploySettings;
  readonly #activation: Activation;
  readonly #intake: Intake;
  readonly #renewal: Renewal;
  readonly #journal: Journal;
  readonly #onOff: () => void;
  readonly #stopping: AbortSignal;
  #running: { readonly abort: AbortController; readonly done: Promise<void> } | null = null;
  #retryTimer: NodeJS.Timeout | undefined;
  #retryAfterMs = RETRY_AFTER_MS_MIN;
  /** What the last fetch that came to be served was for; an unpinned link is fetched at a start, after a change, after a failure. */
  #fetchedFor: string | null = null;
  #isMet = true;

  constructor(
    store: ReleaseStore,
    settings: () => DeploySettings,
    activation: Activation,
    intake: Intake,
    renewal: Renewal,
    journal: Journal,
    onOff: () => void,
    stopping: AbortSignal,
  ) {
    this.#store = store;
    this.#settings = settings;
    this.#activation = activation;
    this.#intake = intake;
    this.#renewal = renewal;
    this.#journal = journal;
    this.#onOff = onOff;
    this.#stopping = stopping;
  }

  /** Whether what is served is what the settings ask for, as far as is known. */
  get isMet(): boolean {
    return this.#isMet;
  }

  /** What is asked for is served, by a delivery or by an operator's choice. */
  met(): void {
    this.#isMet = true;
    this.#retryAfterMs = RETRY_AFTER_MS_MIN;
    this.#journal.recovered();
  }

  /** One run; a later call ends an earlier one. Resolves when it is settled, well or not; never rejects. */
  async settle(): Promise<void> {
    const former = this.#running;
    former?.abort.abort(new DocshelfError('stopping', 'Cannot go on: the settings have changed'));
    clearTimeout(this.#retryTimer);
    const abort = new AbortController();
    const signal = AbortSignal.any([abort.signal, this.#stopping]);
    const done = (former?.done ?? Promise.resolve()).then(() => this.#settleOnce(signal));
    this.#running = { abort, done };
    await done;
  }

  /**
   * Has the site exported anew, and serves that, after a run under way; a later `settle` ends it. A failure is said, and
   * what is served goes on being served.
   */
  async exportAnew(): Promise<'done' | 'failed for now'> {
    const former = this.#running;
    const abort = new AbortController();
    // Whoever ends this run ends the one that it waits for.
    abort.signal.addEventListener('abort', () => former?.abort.abort(abort.signal.reason));
    const signal = AbortSignal.any([abort.signal, this.#stopping]);
    const outcome = (former?.done ?? Promise.resolve()).then(() => this.#exportOnce(signal));
    this.#running = { abort, done: outcome.then(() => undefined) };
    return outcome;
  }

  async stop(): Promise<void> {
    clearTimeout(this.#retryTimer);
    await this.#running?.done;
  }

  async #settleOnce(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    let fallbackTimer: NodeJS.Timeout | undefined;
    try {
      const wish = wishOf(this.#settings());
      const mustFetch = this.#fetchedFor !== fetchKeyOf(this.#settings());
      const atOnce = plan(wish, await this.#shelf(null), mustFetch);
      if (!wish.enabled || (wish.pin !== null && atOnce.do === 'serve')) {
        // A pinned version that is here is served before anything else is looked at.
        await this.#carryOut(atOnce, null, signal);
        if (wish.enabled) this.#preloadFailed((await this.#takeInPreload(signal)).failures);
        return;
      }
      if (this.#activation.current === null) {
        fallbackTimer = setTimeout(() => void this.#serveLastActive(signal), FALLBACK_AFTER_MS);
      }
      const { newest, failures } = await this.#takeInPreload(signal);
      try {
        const choicesSeen = this.#activation.choices;
        const step = plan(wish, await this.#shelf(newest), mustFetch);
        // Nothing is there because an archive was refused: that is what has to be said.
        const cause = step.do === 'missing' && step.version === null ? failures.pop() : undefined;
        if (cause !== undefined) throw cause;
        await this.#carryOut(step, wish.pin === null ? choicesSeen : null, signal);
      } finally {
        // After the success that makes former errors history.
        this.#preloadFailed(failures);
      }
    } catch (error) {
      if (signal.aborted) return;
      this.#isMet = false;
      this.#journal.failed('deploy', error);
      if (this.#activation.current === null) await this.#serveLastActive(signal);
      this.#retryLater(error);
    } finally {
      clearTimeout(fallbackTimer);
    }
  }

  async #exportOnce(signal: AbortSignal): Promise<'done' | 'failed for now'> {
    if (signal.aborted) return 'done';
    const fetchKey = fetchKeyOf(this.#settings());
    try {
      await this.#serveFetched(await this.#renewal.exportAnew(signal), null);
      this.#fetchedFor = fetchKey;
      this.met();
      return 'done';
    } catch (error) {
      if (signal.aborted) return 'done';
      this.#journal.failed('renew', error);
      return mayPass(error) ? 'failed for now' : 'done';
    }
  }

  /** @param choicesSeen `choices` from before the folder was read: what was chosen since then stands; null: the step does */
  async #carryOut(step: Step, choicesSeen: number | null, signal: AbortSignal): Promise<void> {
    switch (step.do) {
      case 'off':
        if (this.#activation.current !== null) this.#journal.event({ kind: 'turned-off' });
        try {
          await this.#activation.turnOff();
        } finally {
          this.#onOff();
        }
        break;
      case 'missing': {
        const fault = await versionNotFound(this.#store, step.version, step.sha256);
        if (choicesSeen === null || choicesSeen === this.#activation.choices) throw fault;
        break;
      }
      case 'serve':
        if (step.relabel) await this.#relabel(step.release);
        await this.#activation.serve(step.release, { by: 'settings' }, choicesSeen);
        break;
      case 'fetch':
        await this.#fetchAndServe(step.version, signal);
    }
    this.met();
  }

  async #fetchAndServe(version: string | null, signal: AbortSignal): Promise<void> {
    const fetchKey = fetchKeyOf(this.#settings());
    this.#fetchedFor = null;
    await this.#serveFetched(await this.#renewal.fetch(version, signal), version);
    this.#fetchedFor = fetchKey;
  }

  async #serveFetched(taken: TakenIn, version: string | null): Promise<void> {
    const active = await this.#store.active();
    // An operator's choice holds until the link gives another digest than it gave before.
    const isHeld =
      version === null &&
      active?.heldAgainst === wishOf(this.#settings()).fingerprint &&
      active.lastFetched === taken.digest;
    await this.#activation.serve(isHeld ? active : taken, {
      by: isHeld ? 'settings' : 'delivery',
      fetched: taken.digest,
    });
  }

  /** A pinned label moves to the digest that the settings ask for, where its release is here and says nothing else. */
  async #relabel({ version, digest }: ReleaseRef): Promise<void> {
    const own = (await this.#store.info(digest))?.manifest?.version ?? null;
    if (own !== null && own !== version) {
      throw new DocshelfError(
        'version_mismatch',
        `Cannot pin version "${version}" to digest ${digest.slice(0, 12)}: that bundle's own manifest says version "${own}"`,
        { next: `Set staticExport.version to ${own}, or staticExport.sha256 to the digest of version ${version}.` },
      );
    }
    await this.#store.setLabel(version, { digest, linkDigest: null });
  }

  /** Whatever happens to the new, readers get what was served last. A pinned daemon serves its pin or nothing. */
  async #serveLastActive(signal: AbortSignal): Promise<void> {
    try {
      const { enabled, version } = this.#settings();
      const choicesSeen = this.#activation.choices;
      const active = await this.#store.active();
      if (!enabled || version !== null || active === null || signal.aborted || this.#activation.current !== null)
        return;
      this.#isMet = false;
      await this.#activation.serve(active, { by: 'settings' }, choicesSeen);
    } catch (error) {
      this.#journal.failed('deploy', error);
    }
  }

  async #takeInPreload(signal: AbortSignal): Promise<PreloadOutcome> {
    const { preload, version: pin, sha256 } = this.#settings();
    const { activeCreatedAt } = await this.#shelf(null);
    const { releases, failures } = await takeInPreload(
      this.#store,
      preload.dir,
      preload.mayBeMissing,
      signal,
      (file, fileName, digest) =>
        this.#intake.takeIn({ file, fileName, digest, version: null, source: 'preload', linkDigest: null, signal }),
      ({ version, digest, createdAt }) =>
        pin === null ? createdAt > (activeCreatedAt ?? '') : version === pin || digest === sha256,
    );
    const newest = releases.toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))[0];
    return { newest: newest === undefined ? null : { ...newest, isNew: newest.unpacked }, failures: [...failures] };
  }

  #preloadFailed(failures: readonly DocshelfError[]): void {
    for (const failure of failures) this.#journal.failed('preload', failure);
  }

  async #shelf(preloaded: Shelf['preloaded']): Promise<Shelf> {
    const infos = await this.#store.list();
    const digests = new Set(infos.map((info) => info.digest));
    const labels = [...(await this.#store.labels())].map(([version, { digest }]): [string, string] => [
      version,
      digest,
    ]);
    const active = await this.#store.active();
    return {
      // A label that leads to a damaged release leads nowhere: its bundle is asked for again.
      labels: new Map(labels.filter(([, digest]) => digests.has(digest))),
      digests,
      active,
      activeCreatedAt: infos.find((info) => info.digest === active?.digest)?.createdAt ?? null,
      preloaded,
    };
  }

  #retryLater(error: unknown): void {
    if (!mayPass(error)) return;
    this.#retryTimer = setTimeout(() => void this.settle(), this.#retryAfterMs).unref();
    this.#retryAfterMs = Math.min(this.#retryAfterMs * 2, RETRY_AFTER_MS_MAX);
  }
}

function mayPass(error: unknown): boolean {
  return error instanceof DocshelfError && error.fields.retryable === true;
}
