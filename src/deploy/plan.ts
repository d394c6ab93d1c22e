export interface Wanted {
  readonly enabled: boolean;
  readonly pin: string | null;
  readonly hasLink: boolean;
  readonly sha256: string | null;
  readonly fingerprint: string;
  readonly fetchKey: string;
  readonly exportsAnew: boolean;
}

export interface ReleaseRef {
  readonly digest: string;
  readonly version: string;
}

export interface Choice extends ReleaseRef {
  readonly fingerprint: string;
}

export interface ObservedState {
  /** Digest of each release, by version label. Omits releases that cannot be read. */
  readonly labels: ReadonlyMap<string, string>;
  readonly digests: Pick<ReadonlySet<string>, 'has'>;
  readonly active: (ReleaseRef & { readonly lastFetched: string | null }) | null;
  readonly activeCreatedAt: string | null;
  readonly choice: Choice | null;
}

export interface Progress {
  readonly nowMs: number;
  /**
   * False after a change of the settings until the next `reconcile` call, and always in commands without a daemon. While
   * false, only commands activate releases.
   */
  readonly hasStartedRound: boolean;
  readonly hasCommand: boolean;
  readonly served: ReleaseRef | null;
  readonly preload: 'due' | 'running' | 'done';
  /** Newest release in the preload folder. Null if the folder has no release, or if docshelf has already applied the settings. */
  readonly preloaded: (ReleaseRef & { readonly createdAt: string; readonly isNew: boolean }) | null;
  readonly fetching: { readonly key: string; readonly isExport: boolean; readonly isAborted: boolean } | null;
  readonly fetchedFor: string | null;
  readonly exportAtMs: number | null;
  readonly isSettled: boolean;
  /**
   * Last failure. `of` identifies the target of the failed step. If `retryAtMs` is null, docshelf retries only after a change of
   * the settings or of this target.
   */
  readonly fault: { readonly of: string; readonly retryAtMs: number | null } | null;
  readonly serveLastAtMs: number | null;
  readonly pruneAtMs: number | null;
}

interface Serving {
  readonly release: ReleaseRef;
  readonly relabel: boolean;
  /** True if the link needs no fetch, because the release with digest `sha256` is already stored. */
  readonly asFetched?: true;
}

interface Missing {
  readonly version: string | null;
  readonly sha256: string | null;
}

export type Target =
  | { readonly do: 'off' }
  | ({ readonly do: 'serve' } & Serving)
  | { readonly do: 'fetch'; readonly version: string | null }
  | ({ readonly do: 'missing' } & Missing);

export type Step =
  | { readonly do: 'run-command' }
  | { readonly do: 'abort-fetch' }
  | { readonly do: 'turn-off'; readonly of: string }
  | { readonly do: 'import-preload' }
  | ({ readonly do: 'activate'; readonly of: string } & Serving)
  | { readonly do: 'serve-last'; readonly release: ReleaseRef }
  | { readonly do: 'fetch'; readonly version: string | null; readonly of: string }
  | { readonly do: 'export' }
  | ({ readonly do: 'report-missing'; readonly of: string } & Missing)
  | { readonly do: 'forget-choice' }
  | { readonly do: 'mark-done' }
  | { readonly do: 'retry' }
  | { readonly do: 'prune' }
  | { readonly do: 'wait'; readonly untilMs: number | null };

export function plan(wanted: Wanted, observed: ObservedState, at: Progress): Step {
  if (at.hasCommand) return { do: 'run-command' };
  const target = targetOf(wanted, observed, at.preloaded, at.fetchedFor !== wanted.fetchKey);
  if (at.fetching !== null && !at.fetching.isAborted && !isWantedFetch(at.fetching, target, wanted)) {
    return { do: 'abort-fetch' };
  }
  if (!at.hasStartedRound) return pruneOrWait(at, null);
  const of = JSON.stringify([wanted.fetchKey, target]);
  const fault = at.fault?.of === of ? at.fault : null;
  const step = target.do === 'off' ? towardsOff(of, fault, at) : towards(target, { of, fault }, wanted, observed, at);
  if (step.do !== 'wait') return step;
  const choiceHasEnded =
    wanted.pin === null && observed.choice !== null && observed.choice.fingerprint !== wanted.fingerprint;
  // When an operator's choice of a release ends, delete it only after docshelf serves the new release. Without the stored choice,
  // docshelf would keep the chosen release, because it is the active one.
  if (choiceHasEnded && (at.isSettled || target.do !== 'serve')) return { do: 'forget-choice' };
  const isBusy = at.fetching !== null || at.preload === 'running';
  const exportAtMs = wanted.exportsAnew ? at.exportAtMs : null;
  const isExportDue = exportAtMs !== null && exportAtMs <= at.nowMs;
  if (isExportDue && !isBusy) return { do: 'export' };
  return pruneOrWait(at, isExportDue ? step.untilMs : earliest(step.untilMs, exportAtMs));
}

function towardsOff(of: string, fault: Progress['fault'], { isSettled, nowMs }: Progress): Step {
  if (fault === null) return isSettled ? { do: 'wait', untilMs: null } : { do: 'turn-off', of };
  return retryOrWait(fault, nowMs);
}

function towards(
  target: Exclude<Target, { do: 'off' }>,
  { of, fault }: { readonly of: string; readonly fault: Progress['fault'] },
  wanted: Wanted,
  observed: ObservedState,
  at: Progress,
): Step {
  // If the pinned version is already stored, do not wait for the import of the preload folder.
  const isPinnedHere = wanted.pin !== null && target.do === 'serve';
  if (isPinnedHere || at.preload === 'done') {
    if (target.do === 'serve') {
      if (!isServed(target, wanted, observed, at) && fault === null) return { ...target, do: 'activate', of };
      if (fault === null && !at.isSettled) return { do: 'mark-done' };
    } else if (fault === null) {
      if (target.do === 'missing') return { ...target, do: 'report-missing', of };
      if (at.fetching === null) return { ...target, of };
    }
  }
  if (at.preload === 'due') return { do: 'import-preload' };
  const retry = retryOrWait(fault, at.nowMs);
  if (retry.do !== 'wait') return retry;
  // Until docshelf has the release to serve, serve the last active release. Do not do so if a version is pinned: then docshelf
  // serves only that version.
  const isBare = at.served === null && wanted.pin === null && observed.active !== null;
  if (!isBare || at.serveLastAtMs === null) return retry;
  if (fault !== null || at.serveLastAtMs <= at.nowMs) return { do: 'serve-last', release: observed.active };
  return { do: 'wait', untilMs: at.serveLastAtMs };
}

function retryOrWait(fault: Progress['fault'], nowMs: number): Step & { do: 'wait' | 'retry' } {
  const retryAtMs = fault?.retryAtMs ?? null;
  return retryAtMs !== null && retryAtMs <= nowMs ? { do: 'retry' } : { do: 'wait', untilMs: retryAtMs };
}

function isServed(target: Target & { do: 'serve' }, { pin }: Wanted, { active }: ObservedState, { served }: Progress) {
  const isPointedAt = pin !== null || isSame(active, target.release);
  const isNoted = target.asFetched !== true || active?.lastFetched === target.release.digest;
  return isSame(served, target.release) && isPointedAt && isNoted && !target.relabel;
}

function isWantedFetch(fetching: NonNullable<Progress['fetching']>, target: Target, wanted: Wanted): boolean {
  if (fetching.key !== wanted.fetchKey) return false;
  return fetching.isExport ? wanted.enabled && wanted.exportsAnew : target.do === 'fetch';
}

function pruneOrWait({ pruneAtMs, nowMs }: Progress, untilMs: number | null): Step {
  if (pruneAtMs !== null && pruneAtMs <= nowMs) return { do: 'prune' };
  return { do: 'wait', untilMs: earliest(pruneAtMs, untilMs) };
}

function earliest(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other);
}

/**
 * Finds the release to serve.
 * @param mustFetch true if a link without a pinned version must be fetched: after a start, a changed link or a failed attempt
 */
export function targetOf(
  wanted: Wanted,
  observed: ObservedState,
  preloaded: Progress['preloaded'],
  mustFetch: boolean,
): Target {
  if (!wanted.enabled) return { do: 'off' };
  return wanted.pin === null ? unpinned(wanted, observed, preloaded, mustFetch) : pinned(wanted, wanted.pin, observed);
}

function pinned({ hasLink, sha256 }: Wanted, pin: string, { labels, digests }: ObservedState): Target {
  const labelled = labels.get(pin);
  if (labelled !== undefined && (sha256 === null || sha256 === labelled))
    return serve({ version: pin, digest: labelled });
  if (sha256 !== null && digests.has(sha256)) return { ...serve({ version: pin, digest: sha256 }), relabel: true };
  if (hasLink) return { do: 'fetch', version: pin };
  return { do: 'missing', version: pin, sha256 };
}

function unpinned(
  { hasLink, sha256, fingerprint }: Wanted,
  { active, activeCreatedAt, choice, labels, digests }: ObservedState,
  preloaded: Progress['preloaded'],
  mustFetch: boolean,
): Target {
  const held = choice?.fingerprint === fingerprint ? choice : null;
  if (hasLink) {
    if (mustFetch && sha256 !== null && digests.has(sha256)) {
      if (held !== null && active?.lastFetched === sha256) return serve(held);
      const stored = releaseOf(sha256, labels, active);
      if (stored !== null) return { ...serve(stored), asFetched: true };
    }
    if (mustFetch || active === null) return { do: 'fetch', version: null };
    if (held !== null) return serve(held);
    if (choice === null) return serve(active);
    const fetched = active.lastFetched === null ? null : releaseOf(active.lastFetched, labels, active);
    return fetched === null ? { do: 'fetch', version: null } : serve(fetched);
  }
  if (preloaded !== null) {
    const isNewer = active === null || preloaded.createdAt > (activeCreatedAt ?? '');
    // If an operator activated the current release, replace it only by an archive that docshelf has just unpacked, not by one
    // that was stored before.
    if (isNewer && (held === null || preloaded.isNew)) return serve(preloaded);
  }
  if (held !== null) return serve(held);
  return active === null ? { do: 'missing', version: null, sha256: null } : serve(active);
}

/** Finds a version label that points to the digest. If several do, prefers the label of the active release. */
function releaseOf(
  digest: string,
  labels: ObservedState['labels'],
  active: ObservedState['active'],
): ReleaseRef | null {
  if (active?.digest === digest && labels.get(active.version) === digest) return active;
  const [version] = [...labels].find(([, labelled]) => labelled === digest) ?? [];
  return version === undefined ? null : { version, digest };
}

const serve = ({ version, digest }: ReleaseRef): Target & { do: 'serve' } => {
  return { do: 'serve', release: { version, digest }, relabel: false };
};

export function isSame(a: ReleaseRef | null, b: ReleaseRef | null): boolean {
  return a?.digest === b?.digest && a?.version === b?.version;
}
