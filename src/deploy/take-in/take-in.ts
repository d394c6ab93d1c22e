import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';
import type { ArchiveLimits } from '../../domain/limits.ts';
import type { BundleSourceKind, ReleaseInfo } from '../../domain/release.ts';
import { dateOfVersion, parseVersion, versionFromDigest, versionFromFileName } from '../../domain/version.ts';
import { digestFile } from '../../files/index.ts';
import { foldsCase } from '../releases/data-folder.ts';
import { expectedDomain, settleFolderDomain } from '../releases/domain-of-folder.ts';
import { RELEASE_FORMAT_VERSION, type ReleaseStore } from '../releases/release-store.ts';
import { seal } from './seal.ts';
import type { SignedArchive } from './signature.ts';
import { createStaging, removeStaging } from './staging.ts';
import { stampOf } from './stamp.ts';
import type { UnpackProgress } from './unpack.ts';
import type { Unpack } from './unpack-thread.ts';

/** An archive to take in, and what is known of it besides its bytes. */
export interface TakeInRequest {
  readonly file: string;
  /** Its own name: what errors call it, and where a label may come from. Null where it has none (standard input). */
  readonly fileName: string | null;
  /** The version it is taken in for; null: its manifest, its file name or its digest names it. */
  readonly version: string | null;
  readonly source: BundleSourceKind;
  /** Its digest where it is known already. */
  readonly digest: string | null;
  /** The minisign signature that came with it; without one, that of the file beside it or the configured one counts. */
  readonly signature?: string | null;
  /** Digest of the link that it came from, for the label; null where it came from no link. */
  readonly linkDigest: string | null;
  readonly signal: AbortSignal;
  readonly onProgress: UnpackProgress;
}

export interface TakeInSettings {
  readonly domain: string | null;
  readonly limits: ArchiveLimits;
  /** The pin, and the digest that the config asks of it: that label moves to no other digest than this. */
  readonly pin: { readonly version: string; readonly sha256: string | null } | null;
  /** Looks at the archive's signature. @throws DocshelfError `bad_signature`, `no_signature` and others */
  readonly checkSignature: (archive: SignedArchive, signal: AbortSignal) => Promise<void>;
}

export interface TakenIn {
  readonly digest: string;
  readonly version: string;
  readonly createdAt: string;
  /** False where the release was there already and nothing was unpacked. */
  readonly unpacked: boolean;
}

/** What runs on an unpacked bundle before it is sealed: search builds its index here. Given by the composition root. */
export type BeforeSeal = (releaseDir: string, info: ReleaseInfo, signal: AbortSignal) => Promise<void>;

/**
 * Takes an archive in: digest, signature, unpack in a worker, judge its manifest, seal, put it in its place, label it. Until the last
 * two steps nothing but a staging folder has changed, and that one goes whatever happens.
 *
 * @throws DocshelfError an archive or bundle code, `not_enough_space`, `cannot_write`, `pinned`.
 */
export async function takeIn(
  store: ReleaseStore,
  request: TakeInRequest,
  settings: TakeInSettings,
  unpack: Unpack,
  beforeSeal: readonly BeforeSeal[],
): Promise<TakenIn> {
  const name = request.fileName ?? 'the archive';
  const stamp = await stampOf(request.file);
  const digest = request.digest ?? (await digestOf(request.file, name, request.signal));
  await settings.checkSignature({ file: request.file, name, signature: request.signature ?? null }, request.signal);

  const isStored = await store.has(digest);
  const known = isStored ? await readable(store, digest) : null;
  if (known !== null) {
    const version = await label(store, known, request, settings, name);
    await settleFolderDomain(store.paths, settings.domain, { manifestDomain: known.manifest?.domain ?? null });
    return { digest, version, createdAt: known.createdAt, unpacked: false };
  }

  const staging = await createStaging(store.paths);
  const releaseDir = join(staging, 'release');
  try {
    await mkdir(releaseDir);
    const order = {
      archive: request.file,
      name,
      releaseDir,
      limits: settings.limits,
      foldsCase: await foldsCase(store.paths),
    };
    const { manifest, ...summary } = await unpack(order, request.onProgress, request.signal);
    if (stamp !== (await stampOf(request.file))) throw changedMeanwhile(name);
    await checkDomain(store, settings.domain, manifest?.domain ?? null, name);
    const version = labelOf(request, manifest?.version ?? null, digest, name);
    await refuseToMovePin(store, version, digest, settings.pin, name);

    const now = new Date().toISOString();
    const info: ReleaseInfo = {
      formatVersion: RELEASE_FORMAT_VERSION,
      digest,
      manifest: manifest && { domain: manifest.domain, version: manifest.version },
      createdAt: inUtc(manifest?.createdAt) ?? dateOfVersion(version) ?? now,
      fetchedAt: now,
      source: request.source,
      ...summary,
    };
    for (const hook of beforeSeal) await hook(releaseDir, info, request.signal);
    await seal(releaseDir, info);
    request.signal.throwIfAborted();
    if (isStored) await store.removeRelease(digest);
    await store.adopt(releaseDir, digest);
    // Before the label: what can be served is always of the folder's domain.
    await settleFolderDomain(store.paths, settings.domain, { manifestDomain: manifest?.domain ?? null });
    await store.setLabel(version, { digest, linkDigest: request.linkDigest });
    return { digest, version, createdAt: info.createdAt, unpacked: true };
  } finally {
    await removeStaging(staging);
  }
}

/**
 * SHA-256 of a file, streamed; 64 lower-case hex digits.
 *
 * @throws DocshelfError `cannot_read`; the signal's reason where that aborts.
 */
export async function digestOf(file: string, name: string, signal: AbortSignal): Promise<string> {
  try {
    return await digestFile(file, signal);
  } catch (error) {
    signal.throwIfAborted();
    throw new DocshelfError('cannot_read', `Cannot read "${name}": ${errnoOf(error) ?? 'failed'}`, {
      next: 'Make the archive a file that docshelf may read.',
      cause: error,
    });
  }
}

/** A time of a manifest, which may be of any zone, as it is compared and shown. Null for a leap second, which no `Date` knows. */
function inUtc(time: string | undefined): string | null {
  const date = new Date(time ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

/** The digest was of other bytes than those that were unpacked. */
function changedMeanwhile(name: string): DocshelfError {
  return new DocshelfError('damaged_archive', `Cannot take in "${name}": it changed while it was being read`, {
    next: 'Copy it under a name that ends in .part and rename it when it is whole.',
  });
}

/** Labels a release that is there already. */
async function label(
  store: ReleaseStore,
  known: ReleaseInfo,
  request: TakeInRequest,
  settings: TakeInSettings,
  name: string,
): Promise<string> {
  await checkDomain(store, settings.domain, known.manifest?.domain ?? null, name);
  const version = labelOf(request, known.manifest?.version ?? null, known.digest, name);
  await refuseToMovePin(store, version, known.digest, settings.pin, name);
  const current = await store.label(version);
  if (current?.digest !== known.digest || (request.linkDigest !== null && current.linkDigest !== request.linkDigest)) {
    await store.setLabel(version, { digest: known.digest, linkDigest: request.linkDigest });
  }
  return version;
}

/** The label of a bundle, wherever it comes from (contract section 2): asked for, manifest, file name, digest. */
function labelOf(request: TakeInRequest, manifestVersion: string | null, digest: string, name: string): string {
  if (request.version === null) {
    if (manifestVersion !== null) return parseVersion(manifestVersion);
    return (request.fileName === null ? null : versionFromFileName(request.fileName)) ?? versionFromDigest(digest);
  }
  const version = parseVersion(request.version);
  if (manifestVersion !== null && manifestVersion !== version) {
    throw new DocshelfError(
      'version_mismatch',
      `Cannot take in "${name}" as version "${version}": its own manifest says version "${manifestVersion}"`,
      { next: `Ask for version ${manifestVersion}, or get the bundle of version ${version}.` },
    );
  }
  return version;
}

async function checkDomain(
  store: ReleaseStore,
  configured: string | null,
  manifestDomain: string | null,
  name: string,
): Promise<void> {
  const domain = await expectedDomain(store.paths, configured);
  if (manifestDomain === null || domain === null || manifestDomain === domain) return;
  throw new DocshelfError(
    'domain_mismatch',
    `Cannot take in "${name}": its own manifest says domain "${manifestDomain}", and this deployment serves "${domain}"`,
    {
      next: `Set deployment.domain to ${manifestDomain} if that site is meant (with a data folder of its own, where this one holds another), or get the bundle of ${domain}.`,
    },
  );
}

async function refuseToMovePin(
  store: ReleaseStore,
  version: string,
  digest: string,
  pin: TakeInSettings['pin'],
  name: string,
): Promise<void> {
  if (pin === null || pin.version !== version || pin.sha256 === digest) return;
  const current = await store.label(version);
  if (current === null ? pin.sha256 === null : current.digest === digest) return;
  const asked = pin.sha256 ?? current?.digest ?? '';
  throw new DocshelfError(
    'pinned',
    `Cannot take in "${name}" as version "${version}": that version is pinned to digest ${asked.slice(0, 12)}, and this is ${digest.slice(0, 12)}`,
    { next: `Set staticExport.sha256 to ${digest} to move the pinned version to this bundle.` },
  );
}

/** What is known of a stored release; null where its record or its file table cannot be read: then it is taken in anew. */
export async function readable(store: ReleaseStore, digest: string): Promise<ReleaseInfo | null> {
  try {
    await store.view(digest, versionFromDigest(digest));
    return await store.info(digest);
  } catch (error) {
    if (error instanceof DocshelfError && error.code === 'release_damaged') return null;
    throw error;
  }
}
