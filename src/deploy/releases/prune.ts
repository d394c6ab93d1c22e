import type { SiteStore } from './site-store.ts';

/** A release as pruning sees it. */
export interface PrunedRelease {
  readonly digest: string;
  readonly fetchedAt: string;
  /** When it was active last; null: never, as one that was taken in with --no-activate. */
  readonly servedAt: string | null;
}

/** What pruning may not take. */
export interface PruneRule {
  readonly keep: number;
  /** Digests that are active, pinned, or served by another daemon on this folder. */
  readonly inUse: ReadonlySet<string>;
  /** Digests that were active before those: where a rollback goes. They count against `keep`, and stay unless that is 0. */
  readonly previous: ReadonlySet<string>;
}

/**
 * The digests that go. Those that were active stay by when they last were, `keep` of them; of those that never were, the
 * newest `keep` stay as well, since somebody staged them.
 */
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

/**
 * Removes old releases of a site, their labels first.
 *
 * @returns the digests that went
 */
export async function prune(store: SiteStore, rule: PruneRule): Promise<string[]> {
  const own = await store.ownDigests();
  const served = await store.served();
  const releases = (await store.list())
    .filter(({ digest }) => own.has(digest))
    .map(({ digest, fetchedAt }) => ({ digest, fetchedAt, servedAt: served.get(digest) ?? null }));
  const leaving = digestsToPrune(releases, rule);
  for (const digest of leaving) {
    for (const [version, pointer] of await store.labels()) {
      if (pointer.digest === digest) await store.removeLabel(version);
    }
    await store.removeRelease(digest);
    await store.forgetServed(digest);
  }
  return leaving;
}

function newestFirst(timeOf: (release: PrunedRelease) => string) {
  return (a: PrunedRelease, b: PrunedRelease): number => (timeOf(a) < timeOf(b) ? 1 : -1);
}
