import { DocshelfError } from '../domain/errors.ts';
import type { KeptRelease } from '../domain/release.ts';
import type { ActiveVersion } from '../domain/status.ts';
import { isSame, type ReleaseRef } from './plan.ts';
import type { ActivePointer, OwnRelease, SiteRecords } from './releases/site-store.ts';
import type { SiteContext } from './site-context.ts';

const HISTORY_MAX = 10;

/** Minimum time that the previous release stays on disk after a swap, for requests that still read it, even if `keep` is 0. */
const DRAIN_MS = 10_000;

/** Coarsest resolution of file times (FAT). Two changes of a folder within this period can leave the same modification time. */
const TICK_MS = 2_000;

export interface ActivationReason {
  /**
   * Cause of the activation. `operator` stores the release as the operator's choice, `delivery` deletes a stored choice, and
   * `settings` keeps a stored choice.
   */
  readonly by: 'operator' | 'delivery' | 'settings';
  readonly isRollback?: boolean;
  readonly fetched?: string;
}

export class Activation {
  /** Time of the next pruning, in milliseconds since 1970. Null if no release was activated since the last pruning. */
  pruneAtMs: number | null = null;
  readonly #context: SiteContext;
  #previous: string | null = null;
  #followedMs = 0;
  #following: Promise<void> | null = null;

  constructor(context: SiteContext) {
    this.#context = context;
  }

  get current(): ActiveVersion | null {
    const { served } = this.#context.serving;
    if (served === null) return null;
    const { version, digest, pages, bytes } = served.release;
    return { version, digest, pages, bytes, activatedAt: served.activatedAt };
  }

  /** Serves a release, if the site is enabled, and stores it as the active release. */
  async serve(release: ReleaseRef, reason: ActivationReason): Promise<void> {
    const { settings, tracer } = this.#context;
    const { enabled, version: pin } = settings;
    // If the config pins a version, only an operator can change the stored active release. docshelf serves the stored active
    // release after the pin is removed.
    const recorded = pin === null || reason.by === 'operator' ? reason : null;
    if (enabled && !isSame(this.current, release)) {
      const facts = { 'docshelf.version': release.version, 'docshelf.bundle.sha256': release.digest };
      await tracer.span('swap', { facts }, () => this.#swap(release, recorded));
    } else if (recorded !== null) await this.#writePointers(release, recorded);
  }

  /**
   * Serves a release. Runs all steps that can fail before the old release is replaced, so that after a failure, the site still
   * serves the old release.
   * @param recorded reason to store with the active release. Null keeps the stored active release
   */
  async #swap({ digest, version }: ReleaseRef, recorded: ActivationReason | null): Promise<void> {
    const { store, serving, registration, journal } = this.#context;
    const former = this.current;
    const view = await store.view(digest, version);
    const { releases } = await store.records();
    const commit = await serving.prepare(view, this.#retainedBeside(digest, releases));
    // Mark the new and the former release as served, so that other daemons do not remove either before this daemon prunes again.
    await store.whileStored('shared', async () => {
      await registration.setServed([digest, ...(former === null ? [] : [former.digest])]);
      // If another daemon has removed the release, call `view`, because it throws the error for a missing release.
      if (!(await store.has(digest))) await store.view(digest, version);
    });
    const nowMs = Date.now();
    const activatedAt = new Date(nowMs).toISOString();
    // Pruning keeps the most recently active releases, so set the active time of the former release just before the new one's.
    if (former !== null) await store.markServed(former.digest, new Date(nowMs - 1).toISOString());
    await store.markServed(digest, activatedAt);
    if (releases.get(digest)?.manifest != null) await store.noteActive({ version, createdAt: view.createdAt });
    if (recorded !== null) await this.#writePointers({ digest, version }, recorded);
    const committed = commit(activatedAt);
    this.#previous = former?.digest ?? null;
    await committed;
    journal.event({ kind: 'activated', version, digest, previous: former?.version ?? null });
    this.pruneAtMs = Date.now() + (this.#context.settings.keep === 0 && former !== null ? DRAIN_MS : 0);
  }

  async #writePointers(release: ReleaseRef, { by, fetched, isRollback }: ActivationReason): Promise<void> {
    const { store } = this.#context;
    const { digest, version } = release;
    const chosen = await store.choice();
    const former = await store.active();
    const isRepeated = former !== null && isSame(former, release);
    const passed = former === null || isRepeated ? [] : [{ digest: former.digest, version: former.version }];
    const history = former?.history ?? [];
    const pointer: ActivePointer = {
      digest,
      version,
      activatedAt: isRepeated ? former.activatedAt : new Date().toISOString(),
      lastFetched: fetched ?? former?.lastFetched ?? null,
      history: isRollback === true ? history.slice(1) : [...passed, ...history].slice(0, HISTORY_MAX),
    };
    // Store the operator's choice before the active release. After a crash between both writes, either the chosen or the
    // former release is active.
    if (by === 'operator') await store.setChoice({ digest, version, fingerprint: this.#context.wanted().fingerprint });
    else if (by === 'delivery' && chosen !== null) await store.setChoice(null);
    if (JSON.stringify(pointer) === JSON.stringify(former)) return;
    try {
      await store.setActive(pointer);
    } catch (error) {
      if (by === 'operator') await store.setChoice(chosen).catch(() => undefined);
      throw error;
    }
  }

  async turnOff(): Promise<void> {
    const { journal, serving, registration } = this.#context;
    const wasServing = this.current !== null;
    await serving.turnOff();
    if (wasServing) journal.event({ kind: 'turned-off' });
    await registration.setServed([]);
  }

  /** Updates the list of stored releases except the served one. From these releases, the site serves the assets of older pages. */
  updateRetained(releases: SiteRecords['releases']): void {
    const { serving } = this.#context;
    if (serving.served === null) return;
    const retained = this.#retainedBeside(serving.served.release.digest, releases);
    if (stateOf(retained) !== this.#retainedState) serving.updateRetained(retained);
  }

  /**
   * Updates the retained releases if another daemon activated a release. Never rejects.
   * @returns true if the retained releases changed
   */
  async refreshFromDisk(): Promise<boolean> {
    const former = this.#retainedState;
    if (this.current !== null) await this.#followChanges().catch(() => undefined);
    // If the site was turned off during this call, its list of retained releases is empty. Do not report the empty list as a change.
    return this.current !== null && this.#retainedState !== former;
  }

  get #retainedState(): string {
    return stateOf(this.#context.serving.served?.retained ?? []);
  }

  async #followChanges(): Promise<void> {
    const changedMs = await this.#context.store.servedChangedMs();
    if (changedMs === this.#followedMs) return;
    // A running update may have read the `served` folder before the latest change of this folder. Wait for that update, then read
    // again.
    await this.#following;
    this.#following ??= this.#follow().finally(() => {
      this.#following = null;
    });
    await this.#following;
    this.#followedMs = Date.now() - changedMs > TICK_MS ? changedMs : 0;
  }

  async #follow(): Promise<void> {
    const { serving, store, journal } = this.#context;
    const former = serving.served?.release;
    try {
      const { releases } = await store.records();
      if (serving.served?.release === former) this.updateRetained(releases);
    } catch (error) {
      journal.failed('deploy', error);
    }
  }

  /** Removes a version label, and its release if no other version label points to that release. @throws DocshelfError `in_use` */
  async remove(version: string, digest: string): Promise<void> {
    const { store } = this.#context;
    await store.removeReleases(async () => {
      const records = await store.records();
      const isShared = [...records.labels].some(([label, pointer]) => label !== version && pointer.digest === digest);
      const { inUse } = await this.#pruneRule(records);
      const use = this.current?.version === version ? USE.served : isShared ? undefined : inUse.get(digest);
      if (use !== undefined) {
        const { state, next } = use;
        throw new DocshelfError('in_use', `Cannot remove version "${version}": ${state}`, { next });
      }
      await store.removeLabel(version);
      return isShared ? [] : [digest];
    });
  }

  /** Removes releases that are no longer needed. Logs a failure instead of throwing it, because the next swap prunes again. */
  async prune(): Promise<void> {
    const { store, registration, journal } = this.#context;
    this.pruneAtMs = null;
    const choose = async (): Promise<string[]> => {
      const records = await store.records();
      return digestsToPrune([...records.releases.values()], await this.#pruneRule(records));
    };
    try {
      await registration.setServed(this.current === null ? [] : [this.current.digest]);
      // Choose releases to remove without the lock first, because pruning rarely finds one.
      const digests = (await choose()).length === 0 ? [] : await store.removeReleases(choose);
      if (digests.length > 0) journal.event({ kind: 'pruned', digests });
    } catch (error) {
      journal.failed('prune', error);
    }
  }

  async #pruneRule({ labels, active, choice }: SiteRecords): Promise<PruneRule & { inUse: ReadonlyMap<string, Use> }> {
    const { settings, registration } = this.#context;
    const { version: pin, keep } = settings;
    const former = active?.history.find(({ digest }) => digest !== active.digest);
    const pinned = pin === null ? null : labels.get(pin);
    const inUse = new Map<string, Use>();
    for (const digest of await registration.servedByOthers()) inUse.set(digest, USE.elsewhere);
    // If a release has several uses, the error names only the last one in this list, so `USE.served` comes last.
    const uses = [
      [choice, USE.unpinned],
      [active, USE.unpinned],
      [pinned, USE.pinned],
      [this.current, USE.served],
    ] as const;
    for (const [release, use] of uses) if (release != null) inUse.set(release.digest, use);
    return { keep, inUse, previous: new Set([this.#previous, former?.digest]) };
  }

  #retainedBeside(digest: string, releases: SiteRecords['releases']): KeptRelease[] {
    const retained: KeptRelease[] = [];
    for (const release of releases.values())
      if (release.digest !== digest) retained.push(this.#context.store.kept(release, release.servedAt));
    return retained.sort(newestFirst(({ servedAt }) => servedAt ?? ''));
  }
}

export type PrunedRelease = Pick<OwnRelease, 'digest' | 'fetchedAt' | 'servedAt'>;

interface Use {
  readonly state: string;
  readonly next: string;
}

const USE = {
  served: {
    state: 'it is the active version',
    next: 'Activate another version first. If the config pins this version, pin another version.',
  },
  pinned: { state: 'the config pins it', next: 'Pin another version first.' },
  unpinned: {
    state: 'docshelf activates it again when the config no longer pins a version',
    next: 'Activate the pinned version first ("docshelf bundle activate VERSION").',
  },
  elsewhere: {
    state: 'another daemon serves it',
    next: 'First activate another version on the daemon that serves this version.',
  },
} as const satisfies Record<string, Use>;

interface PruneRule {
  readonly keep: number;
  readonly inUse: Pick<ReadonlySet<string>, 'has'>;
  /** Releases that a rollback can activate. If `keep` is above 0, pruning keeps these releases, and they count toward `keep`. */
  readonly previous: Pick<ReadonlySet<string>, 'has'>;
}

/**
 * Selects the releases to remove. Omits releases in use, the `keep` most recently active releases, and the `keep` newest
 * releases that were never active.
 */
export function digestsToPrune(releases: readonly PrunedRelease[], { keep, inUse, previous }: PruneRule): string[] {
  const wereActive: PrunedRelease[] = [];
  const staged: PrunedRelease[] = [];
  let rollbacks = 0;
  for (const release of releases) {
    if (inUse.has(release.digest)) continue;
    if (keep > 0 && previous.has(release.digest)) rollbacks += 1;
    else (release.servedAt === null ? staged : wereActive).push(release);
  }
  wereActive.sort(newestFirst(({ servedAt }) => servedAt ?? ''));
  staged.sort(newestFirst(({ fetchedAt }) => fetchedAt));
  const leaving = [...wereActive.slice(Math.max(0, keep - rollbacks)), ...staged.slice(keep)];
  return leaving.map(({ digest }) => digest);
}

function newestFirst<Release>(timeOf: (release: Release) => string) {
  return (a: Release, b: Release): number => (timeOf(a) < timeOf(b) ? 1 : -1);
}

/**
 * Text that is equal for equal lists of retained releases. Omits activation times, because a new time matters only if it
 * changes the order of the list.
 */
const stateOf = (releases: readonly KeptRelease[]): string =>
  releases.map(({ digest, servedAt }) => `${digest} ${servedAt === null}`).join();
