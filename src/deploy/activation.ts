import { DocshelfError } from '../domain/errors.ts';
import type { KeptRelease } from '../domain/release.ts';
import type { ActiveVersion } from '../domain/status.ts';
import { isSame, type ReleaseRef } from './plan.ts';
import type { ActivePointer, SiteStore } from './releases/site-store.ts';
import { type DeploySettings, fingerprintOf } from './settings.ts';
import type { SiteContext } from './site-context.ts';

export interface PrunedRelease {
  readonly digest: string;
  readonly fetchedAt: string;
  /** Null: never active, as with --no-activate. */
  readonly servedAt: string | null;
}

interface PruneRule {
  readonly keep: number;
  readonly inUse: ReadonlySet<string>;
  /** Where a rollback goes. They count against `keep`, and stay unless that is 0. */
  readonly previous: ReadonlySet<string>;
}

/** Keeps the last `keep` that were active, and the newest `keep` of the others, since somebody staged them. */
export function digestsToPrune(releases: readonly PrunedRelease[], { keep, inUse, previous }: PruneRule): string[] {
  const old = releases.filter(({ digest }) => !inUse.has(digest));
  const rollbacks = keep === 0 ? [] : old.filter(({ digest }) => previous.has(digest));
  const rest = old.filter((release) => !rollbacks.includes(release));
  const wereActive = rest
    .filter(({ servedAt }) => servedAt !== null)
    .sort(newestFirst(({ servedAt }) => servedAt ?? ''));
  const staged = rest.filter(({ servedAt }) => servedAt === null).sort(newestFirst(({ fetchedAt }) => fetchedAt));
  const leaving = [...wereActive.slice(Math.max(0, keep - rollbacks.length)), ...staged.slice(keep)];
  return leaving.map(({ digest }) => digest);
}

/** Removes old releases of a site. @returns their digests */
async function prune(store: SiteStore, ruleOf: () => Promise<PruneRule>): Promise<readonly string[]> {
  const look = async (): Promise<string[]> => {
    const served = await store.served();
    const releases = (await store.ownReleases()).map(({ digest, fetchedAt }) => {
      return { digest, fetchedAt, servedAt: served.get(digest) ?? null };
    });
    return digestsToPrune(releases, await ruleOf());
  };
  // Mostly nothing goes, and nobody has to wait.
  return (await look()).length === 0 ? [] : store.removeReleases(look);
}

function newestFirst(timeOf: (release: PrunedRelease) => string) {
  return (a: PrunedRelease, b: PrunedRelease): number => (timeOf(a) < timeOf(b) ? 1 : -1);
}

/** A file system may know no time between two seconds, FAT between two even ones: what has just changed may change again unseen. */
const TICK_MS = 2_000;

/** Tells when a daemon on the folder has marked a release as served: before it serves it, so that others know it in time. */
class ServedChanges {
  readonly #store: Pick<SiteStore, 'servedChangedMs'>;
  #seenMs = 0;
  #following: Promise<void> | null = null;

  constructor(store: Pick<SiteStore, 'servedChangedMs'>) {
    this.#store = store;
  }

  /** Carries `act` out where something has changed since it was last carried out; who asks meanwhile waits for the next one. */
  async follow(act: () => Promise<void>): Promise<void> {
    const changedMs = await this.#store.servedChangedMs();
    if (changedMs === this.#seenMs) return;
    // One that began earlier may have read the folder before this change.
    await this.#following;
    this.#following ??= act().finally(() => {
      this.#following = null;
    });
    await this.#following;
    this.#seenMs = Date.now() - changedMs > TICK_MS ? changedMs : 0;
  }
}

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
  #current: ActiveVersion | null = null;
  #previousDigest: string | null = null;
  #pruneAtMs: number | null = null;
  /** Releases beside the served one, as serving knows them. */
  #others = '';
  /** Between the swap of the reference and the end of all that follows it. */
  #isSwapping = false;
  readonly #changes: ServedChanges;

  constructor(context: SiteContext) {
    this.#context = context;
    this.#changes = new ServedChanges(context.store);
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
    const { settings, tracer } = this.#context;
    const { enabled, version: pin } = settings();
    if (!enabled || isSame(this.#current, release)) {
      if (pin === null) await this.#point(release, reason);
      return;
    }
    await tracer.span('swap', { facts: releaseFacts(release) }, () => this.#swap(release, reason));
  }

  async #swap(release: ReleaseRef, reason: ActivationReason): Promise<void> {
    const { store, registration, journal, settings, prepareSwap } = this.#context;
    const { keep, version: pin } = settings();
    const previous = this.#current;
    const view = await store.view(release.digest, release.version);
    const older = await this.#olderThan(release.digest);
    const commit = await prepareSwap(view, older);
    await store.whileStored('shared', async () => {
      // Both are marked until the swap is over, against another daemon's pruning.
      await registration.serves([release.digest, ...(previous === null ? [] : [previous.digest])]);
      if (await store.has(release.digest)) return;
      // It has pruned already.
      await store.view(release.digest, release.version);
    });
    const nowMs = Date.now();
    const now = new Date(nowMs).toISOString();
    // Before the new one, whatever the clock's resolution: pruning goes by the order.
    if (previous !== null) await store.markServed(previous.digest, new Date(nowMs - 1).toISOString());
    await store.markServed(release.digest, now);
    const isDated = (await store.info(release.digest))?.manifest != null;
    if (isDated) await store.noteActive({ version: view.version, createdAt: view.createdAt });
    if (pin === null) await this.#point(release, reason);
    this.#isSwapping = true;
    await Promise.resolve(commit()).finally(() => {
      this.#isSwapping = false;
    });
    this.#others = stateOf(older);
    const { version, digest, pages, bytes } = view;
    this.#current = { version, digest, pages, bytes, activatedAt: now };
    this.#previousDigest = previous?.digest ?? null;
    journal.event({ kind: 'activated', version, digest, previous: previous?.version ?? null });
    this.#pruneAtMs = Date.now() + (keep === 0 && previous !== null ? DRAIN_MS : 0);
  }

  /** Tells serving of releases that came or went since the swap: `immutable` and old assets go by all of them. Never rejects. */
  async followOthers(): Promise<void> {
    const { onOthers, journal } = this.#context;
    try {
      const served = this.#current;
      if (served === null) return;
      const older = await this.#olderThan(served.digest);
      // A swap in between tells of them itself.
      if (this.#isSwapping || this.#current !== served || stateOf(older) === this.#others) return;
      this.#others = stateOf(older);
      onOthers(older);
    } catch (error) {
      journal.failed('deploy', error);
    }
  }

  /** `followOthers`, where another daemon on the folder may have swapped since. @returns whether there was something to tell */
  async lookAgain(): Promise<boolean> {
    const former = this.#others;
    if (this.#current !== null) await this.#changes.follow(() => this.followOthers()).catch(() => undefined);
    return this.#others !== former;
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
    await this.#context.onOff();
    if (wasServing) this.#context.journal.event({ kind: 'turned-off' });
    await this.#context.registration.serves([]);
  }

  /** Removes a label, and its release where no other label leads to it. @throws DocshelfError `in_use`. */
  async remove(version: string, digest: string): Promise<void> {
    const { store } = this.#context;
    await store.removeReleases(async () => {
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
  }

  /** A failed clean-up is logged, and made good after the next swap. */
  async prune(): Promise<void> {
    const { store, registration, journal } = this.#context;
    this.#pruneAtMs = null;
    try {
      await registration.serves(this.#current === null ? [] : [this.#current.digest]);
      const digests = await prune(store, () => this.#pruneRule());
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

  /** The site's other releases, the one active last first. */
  async #olderThan(digest: string): Promise<KeptRelease[]> {
    const { store } = this.#context;
    const served = await store.served();
    const others = (await store.ownReleases()).filter((info) => info.digest !== digest);
    const timeOf = ({ servedAt }: KeptRelease): string => servedAt ?? '';
    return others
      .map((info) => store.kept(info, served.get(info.digest) ?? null))
      .sort((a, b) => (timeOf(a) < timeOf(b) ? 1 : -1));
  }
}

/** In their order, since an asset comes from the one that was active last; a staged one gives none. */
const stateOf = (releases: readonly KeptRelease[]): string =>
  releases.map(({ digest, servedAt }) => `${digest} ${servedAt}`).join();

const releaseFacts = ({ version, digest }: ReleaseRef) => ({
  'docshelf.version': version,
  'docshelf.bundle.sha256': digest,
});
