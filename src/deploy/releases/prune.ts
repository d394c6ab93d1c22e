import type { ReleaseStore } from './release-store.ts';

/**
 * Removes old releases: keeps the newest `keep` by the time of taking in, besides those that must stay.
 *
 * @param stays digests that are active, pinned, or served by another daemon on this folder
 * @returns the digests that went
 */
export async function prune(store: ReleaseStore, keep: number, stays: ReadonlySet<string>): Promise<string[]> {
  const old = (await store.list())
    .filter((info) => !stays.has(info.digest))
    .sort((a, b) => (a.fetchedAt < b.fetchedAt ? 1 : -1));
  const leaving = old.slice(keep).map((info) => info.digest);
  for (const digest of leaving) {
    for (const [version, pointer] of await store.labels()) {
      if (pointer.digest === digest) await store.removeLabel(version);
    }
    await store.removeRelease(digest);
  }
  return leaving;
}
