import { DocshelfError } from '../../domain/errors.ts';
import { compareVersions, dateOfVersion, versionFromFileName } from '../../domain/version.ts';
import type { ReleaseRef } from '../plan.ts';
import type { NewestRelease, SiteStore } from '../releases/site-store.ts';

/** A pin is the operator's word: `minVersion` is for what others deliver. @throws DocshelfError `downgrade` */
export function refuseOldVersion(name: string, version: string, minVersion: string | null): void {
  if (minVersion === null) return;
  const order = compareVersions(version, minVersion);
  if (order !== null && order >= 0) return;
  const state =
    order === null
      ? `it cannot be compared with ${minVersion}, the oldest that may be: dates are compared with dates, and semantic versions with such`
      : `the oldest that may be is ${minVersion}`;
  throw new DocshelfError('downgrade', `Cannot take in "${name}" as version "${version}": ${state}`, {
    next: 'Get a newer bundle; if this one is meant, pin its version in staticExport.version, or set staticExport.minVersion.',
    fields: { version, minVersion },
  });
}

const DAY_MS = 24 * 3600_000;

/**
 * A content that was exported before keeps its first manifest (contract section 6), and its file is named by the day of the
 * export: the end of that day counts, but for signed bundles, whose sender is not believed beyond what was signed.
 * @param madeAt of the manifest
 */
export function exportedAt(madeAt: string, fileName: string | null, isSigned: boolean): string {
  const day = isSigned || fileName === null ? null : dateOfVersion(versionFromFileName(fileName) ?? '');
  if (day === null) return madeAt;
  const end = Date.parse(day) + DAY_MS - 1;
  return end > Date.parse(madeAt) ? new Date(end).toISOString() : madeAt;
}

/** Null for a release that may be served unpinned. */
export async function stepBackOf(
  store: SiteStore,
  { version, digest, createdAt }: ReleaseRef & { readonly createdAt: string },
): Promise<DocshelfError | null> {
  if ((await store.info(digest))?.manifest == null) return null;
  try {
    await refuseOlderThanNewest(store, { name: `version ${version} of the preload folder`, digest, madeAt: createdAt });
    return null;
  } catch (error) {
    if (error instanceof DocshelfError && error.code === 'downgrade') return error;
    throw error;
  }
}

/**
 * A delivery that would be served, and was made before the newest release that was ever active. What was fetched last, or
 * is served, is none.
 * @throws DocshelfError `downgrade`
 */
export async function refuseOlderThanNewest(
  store: SiteStore,
  { name, digest, madeAt }: { readonly name: string; readonly digest: string; readonly madeAt: string },
): Promise<void> {
  const newest = await newerThan(store, madeAt);
  if (newest === null || (await isCurrent(store, digest))) return;
  throw new DocshelfError(
    'downgrade',
    `Cannot serve "${name}": it was made at ${madeAt}, before version "${newest.version}" (${newest.createdAt}), which was active`,
    {
      next: 'If the older one is meant, pin its version in staticExport.version, or import it with --no-activate and activate it.',
      fields: { madeAt, newest },
    },
  );
}

/** The newest release that was ever active, where it was made later; else null. */
export async function newerThan(store: SiteStore, madeAt: string): Promise<NewestRelease | null> {
  const newest = await store.newest();
  return newest === null || Date.parse(madeAt) >= Date.parse(newest.createdAt) ? null : newest;
}

/** True for what is active, and what was fetched last. */
export async function isCurrent(store: SiteStore, digest: string): Promise<boolean> {
  const active = await store.active();
  return active?.digest === digest || active?.lastFetched === digest;
}
