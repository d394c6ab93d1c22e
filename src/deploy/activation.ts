import { DocshelfError } from '../domain/errors.ts';
import type { ReleaseView } from '../domain/release.ts';
import type { DaemonRegistration } from './daemons.ts';
import type { Journal } from './journal.ts';
import type { ReleaseRef } from './plan.ts';
import { prune } from './releases/prune.ts';
import type { ActivePointer, ReleaseStore } from './releases/release-store.ts';
import { type DeploySettings, wishOf } from './settings.ts';
import type { ActiveVersion } from './status.ts';
import { turns } from './turns.ts';

/** How many former versions a rollback can go back through. */
const HISTORY_MAX = 10;

/** How long a release that was swapped out stays on disk for requests that began on it, where `keep` would let it go. */
const DRAIN_MS = 10_000;

/** Builds the serving side's new state whole, and gives the one act that puts it in place. Given by the composition root. */
export type PrepareSwap = (active: ReleaseView, older: readonly ReleaseView[]) => () => void;

/** Why a release becomes active: what the pointer has to remember of it. */
export interface ActivationReason {
  /** `operator`: chosen by command, and held over restarts. `settings`: what the pointer or the pin says already. */
  readonly by: 'operator' | 'delivery' | 'settings';
  readonly isRollback?: boolean;
  /** The digest that a fetch gave. */
  readonly fetched?: string;
}

/** The one release that this process serves: its table in memory, the pointer that a restart reads, the swap between two. */
export class Activation {
  readonly #store: ReleaseStore;
  readonly #settings: () => DeploySettings;
  readonly #prepare: PrepareSwap;
  readonly #registration: DaemonRegistration;
  readonly #journal: Journal;
  readonly #views = new Map<string, ReleaseView>();
  /** Pointers and the served reference change one at a time. */
  readonly #inTurn = turns();
  #current: ActiveVersion | null = null;
  #choices = 0;
  #drain: NodeJS.Timeout | undefined;

  constructor(
    store: ReleaseStore,
    settings: () => DeploySettings,
    prepare: PrepareSwap,
    registration: DaemonRegistration,
    journal: Journal,
  ) {
    this.#store = store;
    this.#settings = settings;
    this.#prepare = prepare;
    this.#registration = registration;
    this.#journal = journal;
  }

  get current(): ActiveVersion | null {
    return this.#current;
  }

  /** How often an operator or a delivery has chosen what is served. */
  get choices(): number {
    return this.#choices;
  }

  /**
   * Serves a release: its tables are read, the new state is built whole, the pointer is written, and last, the one step
   * that cannot fail, the reference is swapped. A failure before that leaves all as it was.
   *
   * @param choicesSeen `choices` from before the folder was read, where that is all the reason: a later choice stands
   */
  async serve(release: ReleaseRef, reason: ActivationReason, choicesSeen: number | null = null): Promise<void> {
    await this.#inTurn(async () => {
      if (choicesSeen !== null && choicesSeen !== this.#choices) return;
      await this.#serve(release, reason);
      if (reason.by !== 'settings') this.#choices += 1;
    });
  }

  /** Serves nothing any more; what a restart would serve stays as it is. */
  async turnOff(): Promise<void> {
    await this.#inTurn(async () => {
      this.#current = null;
      this.#views.clear();
      await this.#registration.serves([]);
    });
  }

  /** Removes a label, and its release where no other label leads to it. @throws DocshelfError `in_use`. */
  async remove(version: string, digest: string): Promise<void> {
    await this.#inTurn(async () => {
      const labels = await this.#store.labels();
      const isShared = [...labels].some(([label, pointer]) => label !== version && pointer.digest === digest);
      const isCurrent = this.#current?.version === version;
      if (isCurrent || (!isShared && (await this.#digestsInUse()).has(digest))) {
        throw new DocshelfError('in_use', `Cannot remove version "${version}": it is being served`, {
          next: 'Activate another version first.',
        });
      }
      await this.#store.removeLabel(version);
      if (isShared) return;
      await this.#store.removeRelease(digest);
      this.#views.delete(digest);
    });
  }

  /** Lets steps under way come to their end. */
  async stop(): Promise<void> {
    clearTimeout(this.#drain);
    await this.#inTurn(async () => undefined);
  }

  async #serve(release: ReleaseRef, reason: ActivationReason): Promise<void> {
    const settings = this.#settings();
    const pointer = await this.#pointerTo(release, reason, settings);
    const previous = this.#current;
    const isSame = previous?.digest === release.digest && previous.version === release.version;
    if (!settings.enabled || isSame) {
      if (pointer !== null) await this.#store.setActive(pointer);
      return;
    }
    const view = await this.#viewOf(release);
    const commit = this.#prepare(view, await this.#olderThan(release.digest));
    // Both are marked until the swap is over: whichever step fails, what is served is not another daemon's to prune.
    await this.#registration.serves([release.digest, ...(previous === null ? [] : [previous.digest])]);
    if (pointer !== null) await this.#store.setActive(pointer);
    commit();
    const { version, digest, pages, bytes } = view;
    this.#current = { version, digest, pages, bytes, activatedAt: new Date().toISOString() };
    this.#journal.event({ kind: 'activated', version, digest, previous: previous?.version ?? null });
    await this.#pruneAfterSwap(settings.keep === 0 && previous !== null);
  }

  /** What `active` is to say; null for a pinned daemon, which leaves that file alone. */
  async #pointerTo(
    release: ReleaseRef,
    reason: ActivationReason,
    settings: DeploySettings,
  ): Promise<ActivePointer | null> {
    if (settings.version !== null) return null;
    const former = await this.#store.active();
    const isSame = former?.digest === release.digest && former.version === release.version;
    const passed = former === null || isSame ? [] : [{ digest: former.digest, version: former.version }];
    const history = former?.history ?? [];
    const { fingerprint } = wishOf(settings);
    const heldAgainst = {
      operator: fingerprint,
      delivery: null,
      // Once the settings have changed, changing them back does not bring the choice back.
      settings: former?.heldAgainst === fingerprint ? fingerprint : null,
    };
    return {
      digest: release.digest,
      version: release.version,
      activatedAt: isSame ? former.activatedAt : new Date().toISOString(),
      heldAgainst: heldAgainst[reason.by],
      lastFetched: reason.fetched ?? former?.lastFetched ?? null,
      history: reason.isRollback === true ? history.slice(1) : [...passed, ...history].slice(0, HISTORY_MAX),
    };
  }

  async #pruneAfterSwap(mustDrain: boolean): Promise<void> {
    clearTimeout(this.#drain);
    if (mustDrain) this.#drain = setTimeout(() => void this.#inTurn(() => this.#prune()), DRAIN_MS).unref();
    else await this.#prune();
  }

  /** A failed clean-up is said and made good after the next swap; the swap itself has succeeded. */
  async #prune(): Promise<void> {
    try {
      await this.#registration.serves(this.#current === null ? [] : [this.#current.digest]);
      const digests = await prune(this.#store, this.#settings().keep, await this.#digestsInUse());
      for (const digest of digests) this.#views.delete(digest);
      if (digests.length > 0) this.#journal.event({ kind: 'pruned', digests });
    } catch (error) {
      this.#journal.failed('prune', error);
    }
  }

  /** What must stay on disk: served here, pinned, what an unpinned restart serves, served by daemons that share the folder. */
  async #digestsInUse(): Promise<Set<string>> {
    const pin = this.#settings().version;
    const pinned = pin === null ? null : await this.#store.label(pin);
    const others = await this.#registration.others();
    const digests = [
      this.#current?.digest,
      pinned?.digest,
      (await this.#store.active())?.digest,
      ...others.flatMap((mark) => mark.serves),
    ];
    return new Set(digests.filter((digest) => digest !== undefined));
  }

  async #viewOf(release: ReleaseRef): Promise<ReleaseView> {
    const known = this.#views.get(release.digest);
    if (known?.version === release.version) return known;
    const view = await this.#store.view(release.digest, release.version);
    this.#views.set(release.digest, view);
    return view;
  }

  /** The other stored releases, newest first: open tabs ask for their hashed assets. A damaged one is passed over. */
  async #olderThan(digest: string): Promise<ReleaseView[]> {
    const others = (await this.#store.list())
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
