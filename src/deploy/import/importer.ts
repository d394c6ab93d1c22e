import { createHash, randomBytes } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readSignedComment, type SignedWords } from '../../archive/minisign/comment.ts';
import { DocshelfError, errnoState, rethrowAs } from '../../domain/errors.ts';
import { refuseUnfitName } from '../../domain/file-name.ts';
import type { ArchiveLimits } from '../../domain/limits.ts';
import type { BundleSourceKind, ReleaseInfo } from '../../domain/release.ts';
import { linkWithoutSecrets, type Secret } from '../../domain/secret.ts';
import { membersOf } from '../../domain/shape.ts';
import { whileLocked } from '../../files/file-lock.ts';
import { digestFile, flushPath, flushTree, readIfThere, replaceFile } from '../../files/index.ts';
import { Scheduler } from '../../threads/scheduler.ts';
import { type FetchedBundle, type FetchRequest, fetchBundle } from '../fetch/fetch.ts';
import { foldsCase } from '../releases/data-folder.ts';
import { COMPLETE_FILE, RELEASE_FORMAT_VERSION } from '../releases/release-store.ts';
import type { SiteStore } from '../releases/site-store.ts';
import { PART_AGE_MS_MAX } from '../settings.ts';
import type { BeforeSeal, ReportPhase, SiteContext } from '../site-context.ts';
import { claim, creationTime, judge, type LabelRequest, type LabelSettings, label } from './label.ts';
import { checkSignature, type SignedArchive, type Signer } from './signature.ts';
import { createStaging, removeStaging, stampOf } from './staging.ts';
import type { UnpackProgress } from './unpack.ts';
import type { Unpack } from './unpack-thread.ts';

export interface ImportRequest extends LabelRequest {
  readonly file: string;
  readonly source: BundleSourceKind;
  readonly digest: string | null;
  /** True if the digest was compared with one from a trusted source. */
  readonly isVerified?: boolean;
  readonly signature?: string | null;
  readonly signal: AbortSignal;
  readonly onProgress: UnpackProgress;
  readonly reportPhase: ReportPhase;
}

export interface ImportSettings extends LabelSettings {
  readonly limits: ArchiveLimits;
  /** `staticExport.sha256`. An archive with this digest is known to be complete. */
  readonly sha256?: string | null;
  /** @throws DocshelfError `bad_signature`, `no_signature` and others */
  readonly checkSignature: (archive: SignedArchive, signal: AbortSignal) => Promise<Signer | null>;
  readonly unpack: Unpack;
  readonly unpacking: Scheduler;
  readonly beforeSeal: readonly BeforeSeal[];
}

export interface ImportedBundle {
  readonly digest: string;
  readonly version: string;
  readonly createdAt: string;
  /** False where the site had it already; another site may have. */
  readonly unpacked: boolean;
  /** Digest that the label led to before, where it led elsewhere. */
  readonly moved?: string;
}

export interface WantedBundle {
  readonly link: Secret;
  readonly sha256: string | null;
  /** Digest of the configured link that it is fetched for. */
  readonly linkDigest: string | null;
  readonly signature?: string | null;
}

export class Importer {
  readonly #context: SiteContext;
  /** One at a time: two would halve each other's speed and double the space. */
  readonly #scheduler = new Scheduler(1);

  constructor(context: SiteContext) {
    this.#context = context;
  }

  import(request: Omit<ImportRequest, 'onProgress' | 'reportPhase'>): Promise<ImportedBundle> {
    return this.#scheduler.run(() => this.#importNow(request), { signal: request.signal });
  }

  async #importNow(request: Omit<ImportRequest, 'onProgress' | 'reportPhase'>): Promise<ImportedBundle> {
    const { store, journal, settings, slots, unpack, beforeSeal, tracer } = this.#context;
    const { domain, limits, version, sha256, minVersion, fromExports } = settings();
    const name = request.fileName ?? 'the archive';
    refuseUnfitName(name);
    const startedMs = performance.now();
    const onProgress: ImportRequest['onProgress'] = (phase, doneBytes, totalBytes) =>
      journal.event({ kind: 'progress', name, phase, doneBytes, totalBytes });
    const reportPhase: ReportPhase = (phase, page) => {
      journal.activity = page === null ? `${phase} ${name}` : `${phase} ${name}: page "${page}"`;
    };
    reportPhase('checking', null);
    try {
      // Of an export of this daemon, the same content goes by its first manifest.
      const activates = request.activates === true && version === null && !fromExports;
      const rules: ImportSettings = {
        domain,
        limits,
        sha256,
        pin: version === null ? null : { version, sha256 },
        minVersion,
        checkSignature: (archive, signal) => this.#checkSignature(archive, signal),
        unpack,
        unpacking: slots.unpacking,
        beforeSeal,
      };
      const imported = await tracer.span('extract', { facts: { 'docshelf.domain': store.domain } }, async (span) => {
        const found = await importBundle(store, { ...request, onProgress, reportPhase, activates }, rules);
        span.note({ 'docshelf.version': found.version, 'docshelf.bundle.sha256': found.digest });
        return found;
      });
      if (imported.unpacked) {
        const seconds = (performance.now() - startedMs) / 1000;
        journal.event({ kind: 'taken-in', ...imported, source: request.source, seconds });
      }
      return imported;
    } finally {
      journal.activity = null;
    }
  }

  /** If another daemon on the folder fetches the same, waits for it and uses what it stored. */
  async fetch(wanted: WantedBundle, version: string | null, signal: AbortSignal): Promise<ImportedBundle> {
    const { store, journal, settings } = this.#context;
    const { signature, minVersion } = settings();
    const { link, linkDigest, sha256 } = wanted;
    const key = [link.reveal(), linkDigest, sha256, version, signature.publicKeys, minVersion];
    journal.activity = `waiting to fetch ${linkWithoutSecrets(link.reveal())}`;
    try {
      return await fetchOnce(store, key, signal, () => this.#fetchNow(wanted, version, signal));
    } finally {
      journal.activity = null;
    }
  }

  async #fetchNow(wanted: WantedBundle, version: string | null, signal: AbortSignal): Promise<ImportedBundle> {
    const { link, linkDigest, signature } = wanted;
    const { store, slots } = this.#context;
    const shownLink = linkWithoutSecrets(link.reveal());
    // In staging and not in the spool: a crash while unpacking leaves nothing there.
    const staging = await createStaging(store.paths);
    const file = join(staging, 'bundle');
    try {
      const { fileName, digest, isVerified } = await slots.fetching.run(() => this.#transfer(wanted, file, signal), {
        key: store.domain,
        signal,
      });
      return await this.import({
        file,
        fileName,
        version,
        source: 'url',
        digest,
        isVerified,
        signature: signature ?? null,
        linkDigest,
        pinnedFrom: version === null ? null : shownLink,
        activates: true,
        signal,
      });
    } finally {
      await removeStaging(staging);
    }
  }

  async #transfer({ link, sha256 }: WantedBundle, bundleFile: string, signal: AbortSignal): Promise<FetchedBundle> {
    const { store, journal, settings, sources, tracer } = this.#context;
    const { bundleBytesMax, fetchRetriesMax: retriesMax } = settings();
    const shownLink = linkWithoutSecrets(link.reveal());
    const startedMs = performance.now();
    journal.event({ kind: 'fetch-started', link: shownLink });
    journal.activity = `fetching ${shownLink}`;
    const onProgress: FetchRequest['onProgress'] = (doneBytes, totalBytes) =>
      journal.event({ kind: 'progress', name: shownLink, phase: 'fetching', doneBytes, totalBytes });
    const spooling = { spoolDir: store.site.spool, bundleFile, bundleBytesMax, retriesMax };
    const fetched = await tracer.span('fetch', { kind: 'client', facts: { 'url.full': shownLink } }, async (span) => {
      const request = { link, sha256, signal, onProgress };
      const bundle = await fetchBundle(await sources(), request, { ...spooling, partMaxAgeMs: PART_AGE_MS_MAX });
      span.note({ 'docshelf.bundle.sha256': bundle.digest, 'docshelf.bundle.bytes': bundle.sizeBytes });
      return bundle;
    });
    const seconds = (performance.now() - startedMs) / 1000;
    journal.event({ kind: 'fetched', link: shownLink, digest: fetched.digest, bytes: fetched.sizeBytes, seconds });
    return fetched;
  }

  async #checkSignature(archive: SignedArchive, signal: AbortSignal): Promise<Signer | null> {
    const { journal, settings, sources } = this.#context;
    const { signature, fetchRetriesMax } = settings();
    const signer = await checkSignature(archive, signature, sources, fetchRetriesMax, signal);
    if (signer !== null) journal.event({ kind: 'verified', name: archive.name, ...signer });
    return signer;
  }
}

/**
 * Digest, signature, unpack, judge the manifest, seal, adopt, label; until the last two only a staging folder changes.
 * A bundle that another site or daemon on the folder is unpacking is waited for.
 *
 * @throws DocshelfError an archive or bundle code, `not_enough_space`, `cannot_write`, `pinned`,
 *   `link_of_another_version`
 */
export async function importBundle(
  store: SiteStore,
  request: ImportRequest,
  settings: ImportSettings,
): Promise<ImportedBundle> {
  const name = request.fileName ?? 'the archive';
  const { signal } = request;
  const stamp = await stampOf(request.file);
  const digest = request.digest ?? (await digestOf(request.file, name, signal));
  const archive = { file: request.file, name, signature: request.signature ?? null };
  const signer = await settings.checkSignature(archive, signal);

  const signed = signer === null ? null : readSignedComment(signer.trustedComment);
  const isVerified = request.isVerified === true || signer !== null || settings.sha256 === digest;
  const bundle = { digest, name, stamp, signed, isSigned: signer !== null, isVerified };
  const stored = await importStored(store, request, settings, bundle);
  if (stored !== null) return stored;
  request.reportPhase('waiting to unpack', null);
  return store.whileUnpacking(digest, signal, async () => {
    const storedSince = await importStored(store, request, settings, bundle);
    return storedSince ?? unpackAndImport(store, request, settings, bundle);
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
async function importStored(
  store: SiteStore,
  request: ImportRequest,
  settings: ImportSettings,
  { digest, name, signed, isSigned }: ArrivedBundle,
): Promise<ImportedBundle | null> {
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

async function unpackAndImport(
  store: SiteStore,
  request: ImportRequest,
  settings: ImportSettings,
  { digest, name, stamp, signed, isSigned, isVerified }: ArrivedBundle,
): Promise<ImportedBundle> {
  const { signal } = request;
  const isDamaged = await store.has(digest);
  const staging = await createStaging(store.paths);
  const releaseDir = join(staging, 'release');
  try {
    await mkdir(releaseDir);
    const unpackRequest = {
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
      request.reportPhase('unpacking', null);
      return settings.unpack(unpackRequest, request.onProgress, signal);
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
    for (const hook of settings.beforeSeal) await hook(releaseDir, info, signal, request.reportPhase);
    request.reportPhase('sealing', null);
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

/** After that a bundle is fetched twice: who fetches it may be stopped, or have a slow network. */
const FETCH_MS_MAX = 600_000;

/**
 * Of several daemons on a folder that fetch the same, one does. The others wait for its end and use what it stored. If it fails, the
 * next one tries.
 *
 * @param wanted all that decides on the stored release @throws the signal's reason, and what `act` throws
 */
async function fetchOnce(
  store: SiteStore,
  wanted: readonly unknown[],
  signal: AbortSignal,
  act: () => Promise<ImportedBundle>,
): Promise<ImportedBundle> {
  // Swept with the parts of other links, whose form the name has.
  const key = createHash('sha256').update(JSON.stringify(wanted)).digest('hex');
  const [lock, result] = [join(store.site.spool, `${key}.lock`), join(store.site.spool, `${key}.done`)];
  await mkdir(store.site.spool, { recursive: true });
  const before = await readIfThere(result);
  return whileLocked(lock, { mode: 'exclusive', waitMsMax: FETCH_MS_MAX, signal }, async () => {
    try {
      const after = await readIfThere(result);
      const stored = after === before ? null : await storedOf(store, after);
      if (stored !== null) return stored;
      const imported = await act();
      await replaceFile(result, JSON.stringify({ ...imported, id: randomBytes(8).toString('hex') }));
      return imported;
    } finally {
      await rm(lock, { force: true });
    }
  });
}

/** Null where it is no longer stored so. */
async function storedOf(store: SiteStore, text: string | null): Promise<ImportedBundle | null> {
  const { digest, version, createdAt } = membersOf<ImportedBundle>(text);
  if (typeof digest !== 'string' || typeof version !== 'string' || typeof createdAt !== 'string') return null;
  return (await store.label(version))?.digest === digest ? { digest, version, createdAt, unpacked: false } : null;
}
