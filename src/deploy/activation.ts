import { DocshelfError } from '../domain/errors.ts';
import type { ReleaseView } from '../domain/release.ts';
import type { ActiveVersion } from '../domain/status.ts';
import { isSame, type ReleaseRef } from './plan.ts';
import { type PruneRule, prune } from './releases/prune.ts';
import type { ActivePointer } from './releases/site-store.ts';
import { type DeploySettings, fingerprintOf } from './settings.ts';
import type { SiteContext } from './site-context.ts';

const HISTORY_MAX = 10;

/** A release that was swapped out stays on disk this long for requests that began on it, even where `keep` is 0. */
const DRAIN_MS = 10_000;

export interface ActivationReason {
  /** `operator`: by command, held over restarts. `settings`: pointer, choice or pin say it already. */
  readonly by: 'operator' | 'delivery' | 'settings';
  readonly isRollback?: boolean;
  readonly fetched?: string;
}

/** What this process serves, what a restart reads, and the swap. Calls are serialised by the loop. */
export class Activation {
  readonly #context: SiteContext;
  readonly #views = new Map<string, ReleaseView>();
  #current: ActiveVersion | null = null;
  #previousDigest: string | null = null;
  #pruneAtMs: number | null = null;

  constructor(context: SiteContext) {
    this.#context = context;
  }

  get current(): ActiveVersion | null {
    return this.#current;
  }

  get pruneAtMs(): number | null {
    return this.#pruneAtMs;
  }

  /**
   * What can fail (tables, new state, choice, pointer) comes before the swap of one reference; a failure changes nothing.
   */
  async serve(release: ReleaseRef, reason: ActivationReason): Promise<void> {
    const { store, registration, journal, settings, prepareSwap } = this.#context;
    const { enabled, keep, version: pin } = settings();
    const previous = this.#current;
    if (!enabled || isSame(previous, release)) {
      if (pin === null) await this.#point(release, reason);
      return;
    }
    const view = await this.#viewOf(release);
    const commit = prepareSwap(view, await this.#olderThan(release.digest));
    await store.whileStored('shared', async () => {
      // Both are marked until the swap is over, against another daemon's pruning.
      await registration.serves([release.digest, ...(previous === null ? [] : [previous.digest])]);
      if (await store.has(release.digest)) return;
      // It has pruned already.
      this.#views.delete(release.digest);
      await this.#viewOf(release);
    });
    const nowMs = Date.now();
    const now = new Date(nowMs).toISOString();
    // Before the new one, whatever the clock's resolution: pruning goes by the order.
    if (previous !== null) await store.markServed(previous.digest, new Date(nowMs - 1).toISOString());
    await store.markServed(release.digest, now);
    if (pin === null) await this.#point(release, reason);
    commit();
    const { version, digest, pages, bytes } = view;
    this.#current = { version, digest, pages, bytes, activatedAt: now };
    this.#previousDigest = previous?.digest ?? null;
    journal.event({ kind: 'activated', version, digest, previous: previous?.version ?? null });
    this.#pruneAtMs = Date.now() + (keep === 0 && previous !== null ? DRAIN_MS : 0);
  }

  /** Serves a fetched release; an operator's choice instead, until a fetch gives another digest than the one before. */
  async serveFetched(fetched: ReleaseRef, choice: ReleaseRef | null): Promise<void> {
    const isHeld = choice !== null && (await this.#context.store.active())?.lastFetched === fetched.digest;
    await this.serve(isHeld ? choice : fetched, { by: isHeld ? 'settings' : 'delivery', fetched: fetched.digest });
  }

  /** Serves nothing; the pointers stay. */
  async turnOff(): Promise<void> {
    // At once, as `serve` swaps: the status never says other than what readers get.
    const wasServing = this.#current !== null;
    this.#current = null;
    this.#views.clear();
    this.#context.onOff();
    if (wasServing) this.#context.journal.event({ kind: 'turned-off' });
    await this.#context.registration.serves([]);
  }

  /** Removes a label, and its release where no other label leads to it. @throws DocshelfError `in_use`. */
  async remove(version: string, digest: string): Promise<void> {
    const { store } = this.#context;
    const removed = await store.removeReleases(async () => {
      const isShared = [...(await store.labels())].some(
        ([label, pointer]) => label !== version && pointer.digest === digest,
      );
      const isCurrent = this.#current?.version === version;
      if (isCurrent || (!isShared && (await this.#pruneRule()).inUse.has(digest))) {
        throw new DocshelfError('in_use', `Cannot remove version "${version}": it is being served`, {
          next: 'Activate another version first.',
        });
      }
      await store.removeLabel(version);
      return isShared ? [] : [digest];
    });
    for (const each of removed) this.#views.delete(each);
  }

  /** A failed clean-up is logged, and made good after the next swap. */
  async prune(): Promise<void> {
    const { store, registration, journal } = this.#context;
    this.#pruneAtMs = null;
    try {
      await registration.serves(this.#current === null ? [] : [this.#current.digest]);
      const digests = await prune(store, () => this.#pruneRule());
      for (const digest of digests) this.#views.delete(digest);
      if (digests.length > 0) journal.event({ kind: 'pruned', digests });
    } catch (error) {
      journal.failed('prune', error);
    }
  }

  /** Writes pointer and choice; a pinned daemon leaves both alone. */
  async #point(release: ReleaseRef, { by, fetched, isRollback }: ActivationReason): Promise<void> {
    const { store, settings } = this.#context;
    const { digest, version } = release;
    const chosen = await store.choice();
    const former = await store.active();
    const passed =
      former === null || isSame(former, release) ? [] : [{ digest: former.digest, version: former.version }];
    const history = former?.history ?? [];
    const pointer: ActivePointer = {
      digest,
      version,
      activatedAt: former !== null && isSame(former, release) ? former.activatedAt : new Date().toISOString(),
      lastFetched: fetched ?? former?.lastFetched ?? null,
      history: isRollback === true ? history.slice(1) : [...passed, ...history].slice(0, HISTORY_MAX),
    };
    // The choice first: a crash in between leaves what was chosen, or what was active.
    if (by === 'operator') await store.setChoice({ digest, version, fingerprint: fingerprintOf(settings()) });
    else if (by === 'delivery' && chosen !== null) await store.setChoice(null);
    // A restart mostly finds it as it is.
    if (JSON.stringify(pointer) === JSON.stringify(former)) return;
    try {
      await store.setActive(pointer);
    } catch (error) {
      if (by === 'operator') await store.setChoice(chosen).catch(() => undefined);
      throw error;
    }
  }

  async #pruneRule(): Promise<PruneRule> {
    const { store, settings, registration } = this.#context;
    const { version: pin, keep }: DeploySettings = settings();
    const active = await store.active();
    const choice = await store.choice();
    const former = active?.history.find(({ digest }) => digest !== active.digest);
    const inUse = [
      this.#current?.digest,
      pin === null ? undefined : (await store.label(pin))?.digest,
      active?.digest,
      choice?.digest,
      ...(await registration.othersServe()),
    ];
    const isThere = (digest: string | null | undefined): digest is string => digest != null;
    return {
      keep,
      inUse: new Set(inUse.filter(isThere)),
      previous: new Set([this.#previousDigest, former?.digest].filter(isThere)),
    };
  }

  async #viewOf(release: ReleaseRef): Promise<ReleaseView> {
    const known = this.#views.get(release.digest);
    if (known?.version === release.version) return known;
    const view = await this.#context.store.view(release.digest, release.version);
    this.#views.set(release.digest, view);
    return view;
  }

  /** The site's other releases, newest first: open tabs ask for their hashed assets. A damaged one is left out. */
  async #olderThan(digest: string): Promise<ReleaseView[]> {
    const { store } = this.#context;
    const others = (await store.ownReleases())
      .filter((info) => info.digest !== digest)
      .sort((a, b) => (a.fetchedAt < b.fetchedAt ? 1 : -1));
    const views: ReleaseView[] = [];
    for (const other of others) {
      const known = this.#views.get(other.digest);
      try {
        views.push(known ?? (await this.#viewOf({ digest: other.digest, version: other.digest.slice(0, 12) })));
      } catch (error) {
        if (!(error instanceof DocshelfError)) throw error;
      }
    }
    return views;
  }
}
