import { DocshelfError } from '../../domain/errors.ts';
import type { KeptRelease, TrailingSlash } from '../../domain/release.ts';
import type { StoredVersion } from '../../domain/status.ts';
import { compareVersions } from '../../domain/version.ts';
import type { LabelPointer, OwnRelease, SiteStore } from './site-store.ts';

export interface KeptVersion extends KeptRelease {
  readonly version: string;
  readonly trailingSlash: TrailingSlash;
}

export async function keptVersion(store: SiteStore, version: string): Promise<KeptVersion | null> {
  const pointer = await store.label(version);
  const info = pointer && (await store.readable(pointer.digest));
  if (info === null) return null;
  return labelled(store, version, pointer, { ...info, servedAt: await store.servedAt(info.digest) });
}

export async function keptVersions(store: SiteStore): Promise<KeptVersion[]> {
  const { labels, releases } = await store.records();
  const versions = [...labels].flatMap(([version, pointer]) => {
    const release = releases.get(pointer.digest);
    return release === undefined ? [] : [labelled(store, version, pointer, release)];
  });
  return versions.sort(newestFirst);
}

type Aged = Pick<KeptVersion, 'version' | 'createdAt'>;

function labelled(
  store: SiteStore,
  version: string,
  pointer: Pick<LabelPointer, 'createdAt'> | null,
  release: OwnRelease,
): KeptVersion {
  const createdAt = pointer?.createdAt ?? release.createdAt;
  const kept = store.kept({ ...release, createdAt }, release.servedAt);
  return { ...kept, version, trailingSlash: release.trailingSlash };
}

/** True if readers may open the version. False for a staged release, which was never active. */
export function mayBeRead({ servedAt, digest }: KeptVersion, active: Pick<KeptRelease, 'digest'>): boolean {
  return servedAt !== null || digest === active.digest;
}

export function newestFirst(a: Aged, b: Aged): number {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt ? 1 : -1;
  return compareVersions(b.version, a.version) ?? (a.version < b.version ? 1 : -1);
}

export async function storedVersions(store: SiteStore): Promise<StoredVersion[]> {
  const { labels, releases } = await store.records();
  const versions = [...labels].flatMap(([version, { digest, createdAt }]) => {
    const release = releases.get(digest);
    if (release === undefined) return [];
    const { pages, files, bytes, source, fetchedAt } = release;
    return [{ version, digest, pages, files, bytes, source, createdAt: createdAt ?? release.createdAt, fetchedAt }];
  });
  return versions.sort((a, b) => (a.createdAt < b.createdAt ? 1 : -1));
}

export async function versionNotFound(
  store: SiteStore,
  version: string | null,
  sha256: string | null,
  verb = 'serve',
): Promise<DocshelfError> {
  const stored = (await storedVersions(store)).map((known) => known.version);
  const listed = stored.length === 0 ? 'no version is stored' : `stored versions: ${stored.join(', ')}`;
  if (version === null) {
    return new DocshelfError('no_version', `Cannot serve: no version is active; ${listed}`, {
      next:
        stored.length === 0
          ? 'Set staticExport.bundleUrl, put an archive into the preload folder or the inbox, or run "docshelf bundle import FILE".'
          : 'Run "docshelf bundle activate VERSION" with a stored version, or pin it with staticExport.version.',
      fields: { stored },
    });
  }
  const withDigest = sha256 === null ? '' : ` with digest ${sha256.slice(0, 12)}`;
  const message = `Cannot ${verb} version "${version}"${withDigest}: it is not stored; ${listed}`;
  return new DocshelfError('version_not_found', message, {
    next:
      verb === 'serve'
        ? `Run "docshelf bundle import FILE --version ${version}", set staticExport.bundleUrl to its link, or pin a stored version.`
        : 'Pass a version that "docshelf bundle list" shows.',
    fields: { version, stored },
  });
}

/** Error if no earlier activation exists for a rollback. Its advice names the version to activate directly instead. */
export async function noEarlierActivation(store: SiteStore): Promise<DocshelfError> {
  const active = await store.active();
  const others = (await keptVersions(store)).filter(({ digest, servedAt }) => servedAt && digest !== active?.digest);
  const [last] = others.sort((a, b) => ((a.servedAt ?? '') < (b.servedAt ?? '') ? 1 : -1));
  return new DocshelfError('no_version', 'Cannot roll back: there is no earlier activation to return to', {
    next:
      last === undefined
        ? 'Activate a version that "docshelf bundle list" shows. If the list is empty, run the command again with the config of the daemon (--config FILE).'
        : `To return to version "${last.version}", run "docshelf bundle activate ${last.version}".`,
  });
}
