import type { SignedFacts } from '../../archive/minisign.ts';
import { DocshelfError } from '../../domain/errors.ts';
import type { ReleaseInfo } from '../../domain/release.ts';
import {
  compareVersions,
  dateOfVersion,
  parseVersion,
  versionFromDigest,
  versionFromFileName,
} from '../../domain/version.ts';
import type { ReleaseRef } from '../plan.ts';
import type { NewestRelease, SiteStore } from '../releases/site-store.ts';
import type { DeploySettings } from '../settings.ts';

export interface LabelRequest {
  readonly fileName: string | null;
  /** Version from the operator or the pin. If null, the version comes from the manifest, file name or digest. */
  readonly version: string | null;
  readonly linkDigest: string | null;
  /** Link (without query) from which a pinned version was fetched. Null for other imports. */
  readonly pinnedFrom?: string | null;
  readonly activates?: boolean;
}

type LabelSettings = Pick<DeploySettings, 'domain' | 'version' | 'sha256' | 'minVersion'>;

export interface KnownBundle {
  readonly digest: string;
  readonly name: string;
  readonly manifest: ReleaseInfo['manifest'];
  readonly madeAt: string | null;
  readonly signed: SignedFacts | null;
  readonly isSigned: boolean;
}

/**
 * Checks a bundle before its import and chooses its version label.
 * @throws DocshelfError `domain_mismatch`, `version_mismatch`, `signature_mismatch`, `bad_version`, `downgrade`, `pinned`
 */
export async function judge(
  store: SiteStore,
  request: LabelRequest,
  settings: LabelSettings,
  bundle: KnownBundle,
): Promise<string> {
  const { domain, version: pin, minVersion } = settings;
  await checkDomain(store, domain, bundle);
  const version = labelOf(request, bundle);
  checkSignedFacts(bundle, version, await store.expectedDomain(domain));
  if (pin !== version) refuseOldVersion(bundle.name, version, minVersion);
  const { madeAt } = bundle;
  if (request.activates === true && madeAt !== null) {
    const at = latestExportTime(madeAt, request.fileName, bundle.isSigned);
    const error = await olderThanNewest(store, { ...bundle, madeAt: at });
    if (error !== null) throw error;
  }
  await refuseToMovePin(store, version, settings, bundle);
  await refuseOtherVersionsLink(store, version, request, settings, bundle);
  return version;
}

/**
 * Records that the site owns the release. Call this function under the lock of the data folder, so that no process removes the
 * release first.
 */
export async function markOwned(
  store: SiteStore,
  { domain }: Pick<LabelSettings, 'domain'>,
  { digest, manifest }: Pick<KnownBundle, 'digest' | 'manifest'>,
): Promise<void> {
  await store.settleDomain(domain, { manifestDomain: manifest?.domain ?? null });
  await store.markOwned(digest);
}

export function creationTime(version: string, madeAt: string | null): string {
  return madeAt ?? dateOfVersion(version) ?? new Date().toISOString();
}

/**
 * Points a version label to a release. Stores the fetched link first, so that after a crash, no label lacks its link.
 * @returns `moved`: digest of the release to which the label pointed before, if it was another release
 */
export async function label(
  store: SiteStore,
  { linkDigest, pinnedFrom }: LabelRequest,
  { digest, version, createdAt }: ReleaseRef & { readonly createdAt: string },
): Promise<{ readonly createdAt: string; readonly moved?: string }> {
  if (pinnedFrom != null) await store.addLink({ link: pinnedFrom, digest, version });
  const current = await store.label(version);
  const former = current?.digest === digest ? current : null;
  const date = former?.createdAt ?? createdAt;
  const isSaid = former !== null && (linkDigest === null || former.linkDigest === linkDigest);
  if (!isSaid) await store.setLabel(version, { digest, linkDigest, createdAt: date });
  return { createdAt: date, ...(current !== null && former === null && { moved: current.digest }) };
}

/** @throws DocshelfError `version_mismatch` if the bundle's manifest names another version */
export async function relabel(store: SiteStore, { version, digest }: ReleaseRef): Promise<void> {
  const info = await store.info(digest);
  const own = info?.manifest?.version ?? null;
  if (own !== null && own !== version) {
    throw new DocshelfError(
      'version_mismatch',
      `Cannot pin version "${version}" to digest ${digest.slice(0, 12)}: the manifest of that bundle names version "${own}"`,
      { next: `Set staticExport.version to ${own}, or staticExport.sha256 to the digest of version ${version}.` },
    );
  }
  await store.whileStored('shared', async () => {
    const createdAt = creationTime(version, info?.manifest ? info.createdAt : null);
    if (await store.has(digest)) await store.setLabel(version, { digest, linkDigest: null, createdAt });
  });
}

function labelOf(request: LabelRequest, { digest, name, manifest }: KnownBundle): string {
  const own = manifest?.version ?? null;
  if (request.version === null) {
    if (own !== null) return parseVersion(own);
    return (request.fileName === null ? null : versionFromFileName(request.fileName)) ?? versionFromDigest(digest);
  }
  const version = parseVersion(request.version);
  if (own !== null && own !== version) {
    const message = `Cannot import "${name}" as version "${version}": its manifest names version "${own}"`;
    throw new DocshelfError('version_mismatch', message, {
      next: `Import this bundle as version ${own}, or get the bundle of version ${version}.`,
    });
  }
  return version;
}

/**
 * Rejects a bundle whose domain, version or creation time differs from the signed comment of its signature. A valid signature
 * alone does not prevent an import as another version.
 */
function checkSignedFacts({ name, signed, madeAt }: KnownBundle, version: string, domain: string | null): void {
  if (signed === null) return;
  const differences = [
    domain === null || signed.domain === domain ? null : `domain ${signed.domain}, not ${domain}`,
    signed.version === null || signed.version === version ? null : `version ${signed.version}, not ${version}`,
    madeAt === null || Date.parse(signed.createdAt) === Date.parse(madeAt)
      ? null
      : `the time ${signed.createdAt}, not ${madeAt}`,
  ].filter((difference) => difference !== null);
  if (differences.length === 0) return;
  const message = `Cannot trust "${name}": its signature is for ${differences.join(', and ')}`;
  throw new DocshelfError('signature_mismatch', message, {
    next: 'Get the bundle together with the signature that was made for it, and import it under the version that the signature names.',
    fields: { signed },
  });
}

async function checkDomain(store: SiteStore, configured: string | null, { name, manifest }: KnownBundle) {
  const domain = await store.expectedDomain(configured);
  const own = manifest?.domain ?? null;
  if (own === null || domain === null || own === domain) return;
  const next = store.isListed
    ? `Import this bundle for the site ${own}, or get the bundle of ${domain}.`
    : configured === null && (await store.hasDefaultDomain())
      ? `Set deployment.domain to ${own}, then import the bundle again. docshelf moves the stored versions from the default domain ${domain} to ${own}.`
      : `Get the bundle of ${domain}. To serve ${own} instead, set deployment.domain to ${own} and storage.dir to another folder.`;
  throw new DocshelfError(
    'domain_mismatch',
    `Cannot import "${name}": its manifest names domain "${own}", and this ${store.isListed ? 'site is' : 'deployment serves'} "${domain}"`,
    { next },
  );
}

async function refuseToMovePin(
  store: SiteStore,
  version: string,
  { version: pin, sha256 }: LabelSettings,
  { digest, name }: KnownBundle,
): Promise<void> {
  if (pin !== version || sha256 === digest) return;
  const current = await store.label(version);
  if (current === null ? sha256 === null : current.digest === digest) return;
  const asked = sha256 ?? current?.digest ?? '';
  throw new DocshelfError(
    'pinned',
    `Cannot import "${name}" as version "${version}": the config pins this version to digest ${asked.slice(0, 12)}, but the archive has digest ${digest.slice(0, 12)}`,
    { next: `To use this archive for the pinned version, set staticExport.sha256 to ${digest}.` },
  );
}

/**
 * Rejects a bundle that the same link already returned for another version. After a change of the pin, the link may still
 * return the old bundle.
 */
async function refuseOtherVersionsLink(
  store: SiteStore,
  version: string,
  { pinnedFrom: link }: LabelRequest,
  { version: pin, sha256 }: LabelSettings,
  { digest, manifest }: KnownBundle,
): Promise<void> {
  if (link == null || manifest?.version === version || (pin !== null && sha256 === digest)) return;
  const known = await store.links();
  if (known.some((each) => each.link === link && each.digest === digest && each.version === version)) return;
  const other = known.find((each) => each.link === link && each.digest === digest);
  if (other === undefined) return;
  throw new DocshelfError(
    'link_of_another_version',
    `Cannot use "${link}" for version "${version}": it returned the same bundle for version "${other.version}"`,
    {
      next: `Set staticExport.bundleUrl to the link of version ${version}. If both versions have the same bytes, set staticExport.sha256 to ${digest}.`,
      fields: { version, otherVersion: other.version, digest, retryable: true },
    },
  );
}

/**
 * Rejects a version below `minVersion`. Do not call this for a pinned version, because a pin overrides `minVersion`.
 * @throws DocshelfError `downgrade`
 */
function refuseOldVersion(name: string, version: string, minVersion: string | null): void {
  if (minVersion === null) return;
  const order = compareVersions(version, minVersion);
  if (order !== null && order >= 0) return;
  const state =
    order === null
      ? `docshelf cannot compare it with staticExport.minVersion (${minVersion}): both must be dates, or both semantic versions`
      : `it is older than staticExport.minVersion (${minVersion})`;
  throw new DocshelfError('downgrade', `Cannot import "${name}" as version "${version}": ${state}`, {
    next: 'Get a newer bundle. To import this one, pin its version in staticExport.version, or change staticExport.minVersion.',
    fields: { version, minVersion },
  });
}

const DAY_MS = 24 * 3600_000;

/**
 * Returns the later of `madeAt` and the day in the file name. An unchanged export keeps its first creation time in the
 * manifest, so only the file name shows the day of a new export.
 */
function latestExportTime(madeAt: string, fileName: string | null, isSigned: boolean): string {
  const day = isSigned || fileName === null ? null : dateOfVersion(versionFromFileName(fileName) ?? '');
  if (day === null) return madeAt;
  const end = Date.parse(day) + DAY_MS - 1;
  return end > Date.parse(madeAt) ? new Date(end).toISOString() : madeAt;
}

/** Returns a `downgrade` error if the preloaded release is too old to be served without a pin, else null. */
export async function downgradeErrorOf(
  store: SiteStore,
  { version, digest, createdAt }: ReleaseRef & { readonly createdAt: string },
): Promise<DocshelfError | null> {
  if ((await store.info(digest))?.manifest == null) return null;
  return olderThanNewest(store, { name: `version ${version} of the preload folder`, digest, madeAt: createdAt });
}

/**
 * Returns a `downgrade` error if a newer bundle was active before, unless this bundle is active or was fetched last. Otherwise
 * null.
 */
async function olderThanNewest(
  store: SiteStore,
  { name, digest, madeAt }: { readonly name: string; readonly digest: string; readonly madeAt: string },
): Promise<DocshelfError | null> {
  const newest = await newerThan(store, madeAt);
  if (newest === null || (await isCurrent(store, digest))) return null;
  return new DocshelfError(
    'downgrade',
    `Cannot serve "${name}": it was created at ${madeAt}, before version "${newest.version}" (${newest.createdAt}), which was active`,
    {
      next: 'To serve this older bundle, pin its version in staticExport.version, or import it with --no-activate and then activate it.',
      fields: { madeAt, newest },
    },
  );
}

export async function newerThan(store: SiteStore, madeAt: string): Promise<NewestRelease | null> {
  const newest = await store.newest();
  return newest === null || Date.parse(madeAt) >= Date.parse(newest.createdAt) ? null : newest;
}

export async function isCurrent(store: SiteStore, digest: string): Promise<boolean> {
  const active = await store.active();
  return active?.digest === digest || active?.lastFetched === digest;
}
