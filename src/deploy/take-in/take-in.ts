import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readSignedComment, type SignedWords } from '../../archive/minisign.ts';
import { DocshelfError, errnoState, rethrowAs } from '../../domain/errors.ts';
import type { ArchiveLimits } from '../../domain/limits.ts';
import type { BundleSourceKind, ReleaseInfo } from '../../domain/release.ts';
import { digestFile, flushPath, flushTree } from '../../files/index.ts';
import type { Scheduler } from '../../threads/scheduler.ts';
import { foldsCase } from '../releases/data-folder.ts';
import { COMPLETE_FILE, RELEASE_FORMAT_VERSION } from '../releases/release-store.ts';
import type { SiteStore } from '../releases/site-store.ts';
import { claim, creationTime, judge, type LabelRequest, type LabelSettings, label } from './label.ts';
import type { SignedArchive, Signer } from './signature.ts';
import { createStaging, removeStaging } from './staging.ts';
import { stampOf } from './stamp.ts';
import type { UnpackProgress } from './unpack.ts';
import type { Unpack } from './unpack-thread.ts';

export interface TakeInRequest extends LabelRequest {
  readonly file: string;
  readonly source: BundleSourceKind;
  readonly digest: string | null;
  /** True if the digest was compared with one from a trusted source. */
  readonly isVerified?: boolean;
  readonly signature?: string | null;
  readonly signal: AbortSignal;
  readonly onProgress: UnpackProgress;
  readonly tell: TellPhase;
}

export interface TakeInSettings extends LabelSettings {
  readonly limits: ArchiveLimits;
  /** `staticExport.sha256`. An archive with this digest is known to be complete. */
  readonly sha256?: string | null;
  /** @throws DocshelfError `bad_signature`, `no_signature` and others */
  readonly checkSignature: (archive: SignedArchive, signal: AbortSignal) => Promise<Signer | null>;
  readonly unpack: Unpack;
  readonly unpacking: Scheduler;
  readonly beforeSeal: readonly BeforeSeal[];
}

export interface TakenIn {
  readonly digest: string;
  readonly version: string;
  readonly createdAt: string;
  /** False where the site had it already; another site may have. */
  readonly unpacked: boolean;
  /** Digest that the label led to before, where it led elsewhere. */
  readonly moved?: string;
}

/** For the status: what a bundle waits for or what is done with it, and the page that this takes long for. */
export type TellPhase = (phase: string, page: string | null) => void;

/** Runs on an unpacked bundle before it is sealed: search builds its index here. */
export type BeforeSeal = (releaseDir: string, info: ReleaseInfo, signal: AbortSignal, tell: TellPhase) => Promise<void>;

/**
 * Digest, signature, unpack, judge the manifest, seal, adopt, label; until the last two only a staging folder changes.
 * A bundle that another site or daemon on the folder is unpacking is waited for.
 *
 * @throws DocshelfError an archive or bundle code, `not_enough_space`, `cannot_write`, `pinned`,
 *   `link_of_another_version`
 */
export async function takeIn(store: SiteStore, request: TakeInRequest, settings: TakeInSettings): Promise<TakenIn> {
  const name = request.fileName ?? 'the archive';
  const { signal } = request;
  const stamp = await stampOf(request.file);
  const digest = request.digest ?? (await digestOf(request.file, name, signal));
  const archive = { file: request.file, name, signature: request.signature ?? null };
  const signer = await settings.checkSignature(archive, signal);

  const signed = signer === null ? null : readSignedComment(signer.trustedComment);
  const isVerified = request.isVerified === true || signer !== null || settings.sha256 === digest;
  const bundle = { digest, name, stamp, signed, isSigned: signer !== null, isVerified };
  const stored = await takeStored(store, request, settings, bundle);
  if (stored !== null) return stored;
  request.tell('waiting to unpack', null);
  return store.whileUnpacking(digest, signal, async () => {
    const storedSince = await takeStored(store, request, settings, bundle);
    return storedSince ?? unpackAndTake(store, request, settings, bundle);
  });
}

interface ArrivedBundle {
  readonly digest: string;
  readonly name: string;
  readonly stamp: string | null;
  readonly signed: SignedWords | null;
  readonly isSigned: boolean;
  readonly isVerified: boolean;
}

/** Null where it is not stored, or damaged. */
async function takeStored(
  store: SiteStore,
  request: TakeInRequest,
  settings: TakeInSettings,
  { digest, name, signed, isSigned }: ArrivedBundle,
): Promise<TakenIn | null> {
  const isWhole = (await store.has(digest)) && (await store.view(digest, digest).then(() => true, falseIfDamaged));
  const known = isWhole ? await store.readable(digest) : null;
  if (known === null) return null;
  const { manifest, createdAt } = known;
  const madeAt = manifest && createdAt;
  const version = await judge(store, request, settings, { digest, name, manifest, madeAt, signed, isSigned });
  const isOwn = (await store.names()).has(digest);
  const isStill = await store.whileStored('shared', async () => {
    if (!(await store.has(digest))) return false;
    await claim(store, settings, { digest, manifest });
    return true;
  });
  if (!isStill) return null;
  const labelled = await label(store, request, { digest, version, createdAt: creationTime(version, madeAt) });
  return { digest, version, ...labelled, unpacked: !isOwn };
}

async function unpackAndTake(
  store: SiteStore,
  request: TakeInRequest,
  settings: TakeInSettings,
  { digest, name, stamp, signed, isSigned, isVerified }: ArrivedBundle,
): Promise<TakenIn> {
  const { signal } = request;
  const isDamaged = await store.has(digest);
  const staging = await createStaging(store.paths);
  const releaseDir = join(staging, 'release');
  try {
    await mkdir(releaseDir);
    const order = {
      archive: request.file,
      name,
      releaseDir,
      limits: settings.limits,
      isVerified,
      foldsCase: await foldsCase(store.paths),
      isIndexed: settings.beforeSeal.length > 0,
      linkTo: await releasesToLinkTo(store),
    };
    // The index that comes after has turns of its own, and a large one holds no place for unpacking.
    const unpack = () => {
      request.tell('unpacking', null);
      return settings.unpack(order, request.onProgress, signal);
    };
    const { manifest, ...summary } = await settings.unpacking.run(unpack, { key: store.domain, signal });
    if (stamp !== (await stampOf(request.file))) throw changedMeanwhile(name);
    const madeAt = inUtc(manifest?.createdAt);
    const version = await judge(store, request, settings, { digest, name, manifest, madeAt, signed, isSigned });
    const info: ReleaseInfo = {
      formatVersion: RELEASE_FORMAT_VERSION,
      digest,
      manifest: manifest && { domain: manifest.domain, version: manifest.version },
      createdAt: creationTime(version, madeAt),
      fetchedAt: new Date().toISOString(),
      source: request.source,
      ...summary,
    };
    for (const hook of settings.beforeSeal) await hook(releaseDir, info, signal, request.tell);
    request.tell('sealing', null);
    await seal(releaseDir, info);
    signal.throwIfAborted();
    await store.whileStored('shared', async () => {
      await claim(store, settings, { digest, manifest });
      if (isDamaged) await store.removeRelease(digest);
      await store.adopt(releaseDir, digest);
    });
    const labelled = await label(store, request, { digest, version, createdAt: info.createdAt });
    return { digest, version, ...labelled, unpacked: true };
  } finally {
    await removeStaging(staging);
  }
}

/** Each brings its file table into memory while a bundle is unpacked. */
const LINKED_RELEASES_MAX = 4;

/** Folders of complete releases: those of the site before others, the newest first. */
async function releasesToLinkTo(store: SiteStore): Promise<string[]> {
  const names = await store.names();
  const releases = (await store.list()).sort(
    (a, b) => Number(names.has(b.digest)) - Number(names.has(a.digest)) || (a.fetchedAt < b.fetchedAt ? 1 : -1),
  );
  return releases.slice(0, LINKED_RELEASES_MAX).map(({ digest }) => store.folderOf(digest));
}

/** Record, flush, and only then the marker: a folder with the marker is whole whenever the power goes. */
async function seal(releaseDir: string, info: ReleaseInfo): Promise<void> {
  await writeFile(join(releaseDir, 'release.json'), `${JSON.stringify(info, null, 2)}\n`, { flag: 'wx' });
  await flushTree(releaseDir);
  await writeFile(join(releaseDir, COMPLETE_FILE), '', { flag: 'wx', flush: true });
  await flushPath(releaseDir);
}

/** SHA-256. @throws DocshelfError `cannot_read`; the signal's reason. */
export async function digestOf(file: string, name: string, signal: AbortSignal): Promise<string> {
  return digestFile(file, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    const next = 'Make the archive a file that docshelf may read.';
    return rethrowAs('cannot_read', `read "${name}"`, next, errnoState)(error);
  });
}

/** Null for a leap second, which no `Date` knows. */
function inUtc(time: string | undefined): string | null {
  const date = new Date(time ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

function changedMeanwhile(name: string): DocshelfError {
  return new DocshelfError('damaged_archive', `Cannot take in "${name}": it changed while it was being read`, {
    next: 'Copy it under a name that ends in .part and rename it when it is whole.',
  });
}

function falseIfDamaged(error: unknown): false {
  if (error instanceof DocshelfError && error.code === 'release_damaged') return false;
  throw error;
}
