import type { ActivePointer } from './releases/release-store.ts';

/** What the `staticExport` settings ask for. */
export interface Wish {
  readonly enabled: boolean;
  /** The pinned version. */
  readonly pin: string | null;
  /** Something says where to fetch from: a link, or a service that gives one. */
  readonly hasLink: boolean;
  readonly sha256: string | null;
  /** Changes whenever a `staticExport` setting does: an operator's choice holds against one fingerprint. */
  readonly fingerprint: string;
}

export interface ReleaseRef {
  readonly digest: string;
  readonly version: string;
}

/** What is on the disk. */
export interface Shelf {
  /** Label -> digest. */
  readonly labels: ReadonlyMap<string, string>;
  readonly digests: ReadonlySet<string>;
  readonly active: ActivePointer | null;
  readonly activeCreatedAt: string | null;
  /** The newest pre-loaded archive's release. */
  readonly preloaded: (ReleaseRef & { readonly createdAt: string; readonly isNew: boolean }) | null;
}

export type Step =
  | { readonly do: 'off' }
  | { readonly do: 'serve'; readonly release: ReleaseRef; readonly relabel: boolean }
  /** Fetch the configured link, for that version where one is pinned. */
  | { readonly do: 'fetch'; readonly version: string | null }
  | { readonly do: 'missing'; readonly version: string | null; readonly sha256: string | null };

/**
 * What a daemon does about its settings, contract section 2. Pure: all that it looks at is in its arguments.
 *
 * @param mustFetch whether an unpinned link is to be fetched: at a start, when the link changed, after a failed attempt.
 */
export function plan(wish: Wish, shelf: Shelf, mustFetch: boolean): Step {
  if (!wish.enabled) return { do: 'off' };
  return wish.pin === null ? planUnpinned(wish, shelf, mustFetch) : planPinned(wish, wish.pin, shelf);
}

function planPinned({ hasLink, sha256 }: Wish, pin: string, { labels, digests }: Shelf): Step {
  const labelled = labels.get(pin);
  if (labelled !== undefined && (sha256 === null || sha256 === labelled)) return serve(pin, labelled);
  // A pinned label moves only when sha256 asks for another digest.
  if (sha256 !== null && digests.has(sha256)) return { ...serve(pin, sha256), relabel: true };
  if (hasLink) return { do: 'fetch', version: pin };
  return { do: 'missing', version: pin, sha256 };
}

function planUnpinned({ hasLink, sha256, fingerprint }: Wish, shelf: Shelf, mustFetch: boolean): Step {
  const { active, preloaded, labels, digests } = shelf;
  const held = active !== null && active.heldAgainst === fingerprint;
  if (hasLink) {
    if (sha256 !== null && digests.has(sha256)) {
      if (held && active.lastFetched === sha256) return serve(active.version, active.digest);
      const version = labelOf(sha256, labels);
      if (version !== null) return serve(version, sha256);
    }
    if (mustFetch || active === null) return { do: 'fetch', version: null };
    if (active.heldAgainst === null || held) return serve(active.version, active.digest);
    // The settings have changed since an operator chose: what the link gave is served again.
    const version = labelOf(active.lastFetched, labels);
    return version === null || active.lastFetched === null
      ? { do: 'fetch', version: null }
      : serve(version, active.lastFetched);
  }
  if (preloaded !== null) {
    const isNewer = active === null || preloaded.createdAt > (shelf.activeCreatedAt ?? '');
    // What an operator chose holds against archives that were there when he did.
    if (isNewer && (!held || preloaded.isNew)) return serve(preloaded.version, preloaded.digest);
  }
  return active === null ? { do: 'missing', version: null, sha256: null } : serve(active.version, active.digest);
}

function labelOf(digest: string | null, labels: Shelf['labels']): string | null {
  return [...labels].find(([, labelled]) => labelled === digest)?.[0] ?? null;
}

function serve(version: string, digest: string): Step & { do: 'serve' } {
  return { do: 'serve', release: { version, digest }, relabel: false };
}
