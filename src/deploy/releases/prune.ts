import type { SiteStore } from './site-store.ts';

export interface PrunedRelease {
  readonly digest: string;
  readonly fetchedAt: string;
  /** Null: never active, as with --no-activate. */
  readonly servedAt: string | null;
}

export interface PruneRule {
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
export async function prune(store: SiteStore, ruleOf: () => Promise<PruneRule>): Promise<readonly string[]> {
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
