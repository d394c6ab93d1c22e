import { hash, randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readSignedComment } from '../../archive/minisign.ts';
import { DocshelfError, errnoState, rethrowAs } from '../../domain/errors.ts';
import { refuseUnfitName } from '../../domain/file-name.ts';
import type { BundleSourceKind, ReleaseInfo } from '../../domain/release.ts';
import { linkWithoutSecrets, type Secret } from '../../domain/secret.ts';
import { membersOf } from '../../domain/shape.ts';
import { whileLocked } from '../../files/file-lock.ts';
import { digestFile, flushPath, flushTree, readIfThere, replaceFile } from '../../files/index.ts';
import { Scheduler } from '../../threads/scheduler.ts';
import { type FetchedBundle, type FetchRequest, fetchBundle } from '../fetch/fetch.ts';
import { foldsCase } from '../releases/data-folder.ts';
import { COMPLETE_FILE, RELEASE_FORMAT_VERSION, verifyRelease } from '../releases/release-store.ts';
import type { SiteStore } from '../releases/site-store.ts';
import type { DeploySettings } from '../settings.ts';
import type { ReportPhase, SiteContext } from '../site-context.ts';
import { creationTime, judge, type KnownBundle, type LabelRequest, label, markOwned } from './label.ts';
import { checkSignature } from './signature.ts';
import { createStaging, removeStaging, stampOf } from './staging.ts';
import type { UnpackProgress } from './unpack.ts';

export interface ImportRequest extends LabelRequest {
  readonly file: string;
  readonly source: BundleSourceKind;
  readonly digest: string | null;
  readonly isVerified?: boolean;
  readonly signature?: string | null;
  readonly signal: AbortSignal;
}

interface Arrival extends Pick<KnownBundle, 'digest' | 'name' | 'signed' | 'isSigned'> {
  readonly request: ImportRequest;
  readonly settings: DeploySettings;
  readonly stamp: string | null;
  readonly isVerified: boolean;
  readonly reportPhase: ReportPhase;
}

export interface ImportedBundle {
  readonly digest: string;
  readonly version: string;
  readonly createdAt: string;
  readonly unpacked: boolean;
  readonly moved?: string;
}

interface WantedBundle {
  readonly link: Secret;
  readonly sha256: string | null;
  readonly linkDigest: string | null;
  readonly signature?: string | null;
}

type ImportContext = Pick<
  SiteContext,
  'store' | 'settings' | 'journal' | 'slots' | 'sources' | 'tracer' | 'unpack' | 'beforeSeal'
>;

export class Importer {
  readonly #context: ImportContext;
  /** Runs one import at a time, because two imports would halve each other's speed and double the disk use. */
  readonly #scheduler = new Scheduler(1);

  constructor(context: ImportContext) {
    this.#context = context;
  }

  /**
   * Imports a bundle into a staging folder, which the last step moves into place.
   * @throws DocshelfError archive codes, `not_enough_space`, `pinned`
   */
  import(request: ImportRequest): Promise<ImportedBundle> {
    return this.#scheduler.run(() => this.#importNow(request), { signal: request.signal });
  }

  async #importNow(request: ImportRequest): Promise<ImportedBundle> {
    const { store, journal, tracer, settings } = this.#context;
    const name = request.fileName ?? 'the archive';
    refuseUnfitName(name);
    const startedMs = performance.now();
    const reportPhase: ReportPhase = (phase, page) => {
      journal.activity = page === null ? `${phase} ${name}` : `${phase} ${name}: page "${page}"`;
    };
    return journal.during(`checking ${name}`, async () => {
      // Do not check the age of this daemon's exports. If the content is unchanged, they have the creation time of the first export.
      const activates = request.activates === true && settings.version === null && !settings.fromExports;
      const imported = await tracer.span('extract', { facts: { 'docshelf.domain': store.domain } }, async (span) => {
        const arrival = await this.#check({ ...request, activates }, settings, name, reportPhase);
        const bundle = (await this.#importStored(arrival)) ?? (await this.#unpackOnce(arrival));
        span.note({ 'docshelf.version': bundle.version, 'docshelf.bundle.sha256': bundle.digest });
        return bundle;
      });
      if (imported.unpacked) {
        const seconds = (performance.now() - startedMs) / 1000;
        journal.event({ kind: 'taken-in', ...imported, source: request.source, seconds });
      }
      return imported;
    });
  }

  async #check(request: ImportRequest, settings: DeploySettings, name: string, reportPhase: ReportPhase) {
    const { journal, sources } = this.#context;
    const { file, signal, signature = null } = request;
    const stamp = await stampOf(file);
    const digest = request.digest ?? (await digestOf(file, name, signal));
    const archive = { file, name, signature };
    const signer = await checkSignature(archive, settings.signature, sources, settings.fetchRetriesMax, signal);
    if (signer !== null) journal.event({ kind: 'verified', name, ...signer });
    return {
      ...{ request, settings, name, reportPhase, stamp, digest },
      signed: signer === null ? null : readSignedComment(signer.trustedComment),
      isSigned: signer !== null,
      isVerified: request.isVerified === true || signer !== null || settings.sha256 === digest,
    };
  }

  async #importStored(arrival: Arrival): Promise<ImportedBundle | null> {
    const { store } = this.#context;
    const { digest, request, settings } = arrival;
    const known = (await store.isWhole(digest)) ? await store.readable(digest) : null;
    if (known === null) return null;
    const { manifest, createdAt } = known;
    const madeAt = manifest && createdAt;
    const version = await judge(store, request, settings, { ...arrival, manifest, madeAt });
    const isOwn = (await store.names()).has(digest);
    if (isOwn && !(await this.#isIntact(digest, request.signal))) return null;
    const isStillStored = await store.whileStored('shared', async () => {
      if (!(await store.has(digest))) return false;
      await markOwned(store, settings, { digest, manifest });
      return true;
    });
    if (!isStillStored) return null;
    const labelled = await label(store, request, { digest, version, createdAt: creationTime(version, madeAt) });
    return { digest, version, ...labelled, unpacked: !isOwn };
  }

  /** True if all files of a stored release match their digests. If not, importing the bundle again repairs the release. */
  async #isIntact(digest: string, signal: AbortSignal): Promise<boolean> {
    const view = await this.#context.store.view(digest, digest);
    const { changed, missing } = await verifyRelease(view, () => undefined, signal);
    return changed.length + missing.length === 0;
  }

  async #unpackOnce(arrival: Arrival): Promise<ImportedBundle> {
    const { digest, request, reportPhase } = arrival;
    reportPhase('waiting to unpack', null);
    return this.#context.store.whileUnpacking(digest, request.signal, async () => {
      return (await this.#importStored(arrival)) ?? this.#unpack(arrival);
    });
  }

  async #unpack(arrival: Arrival): Promise<ImportedBundle> {
    const { store, slots, beforeSeal, journal } = this.#context;
    const { request, settings, digest, name, isVerified, reportPhase } = arrival;
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
        isIndexed: beforeSeal.length > 0,
        linkTo: await releasesToLinkTo(store),
      };
      const onProgress = (progress: UnpackProgress) => journal.event({ kind: 'progress', name, ...progress });
      // Hold the unpacking slot only while unpacking, because building the search index takes long and has a separate slot.
      const unpack = () => {
        reportPhase('unpacking', null);
        return this.#context.unpack(unpackRequest, onProgress, signal);
      };
      const { manifest, ...summary } = await slots.unpacking.run(unpack, { key: store.domain, signal });
      if (arrival.stamp !== (await stampOf(request.file))) throw changedMeanwhile(name);
      const madeAt = inUtc(manifest?.createdAt);
      const version = await judge(store, request, settings, { ...arrival, manifest, madeAt });
      const info: ReleaseInfo = {
        formatVersion: RELEASE_FORMAT_VERSION,
        digest,
        manifest: manifest && { domain: manifest.domain, version: manifest.version },
        createdAt: creationTime(version, madeAt),
        fetchedAt: new Date().toISOString(),
        source: request.source,
        ...summary,
      };
      for (const hook of beforeSeal) await hook(releaseDir, info, signal, reportPhase);
      reportPhase('sealing', null);
      await seal(releaseDir, info);
      signal.throwIfAborted();
      await store.whileStored('shared', async () => {
        await markOwned(store, settings, { digest, manifest });
        if (isDamaged) await store.removeRelease(digest);
        await store.adopt(releaseDir, digest);
      });
      const labelled = await label(store, request, { digest, version, createdAt: info.createdAt });
      return { digest, version, ...labelled, unpacked: true };
    } finally {
      await removeStaging(staging);
    }
  }

  async fetch(wanted: WantedBundle, version: string | null, signal: AbortSignal): Promise<ImportedBundle> {
    const { store, journal, settings } = this.#context;
    const { signature, minVersion } = settings;
    const { link, linkDigest, sha256 } = wanted;
    const key = [link.reveal(), linkDigest, sha256, version, signature.publicKeys, minVersion];
    return journal.during(`waiting to fetch ${linkWithoutSecrets(link.reveal())}`, () =>
      fetchOnce(store, key, signal, () => this.#fetchNow(wanted, version, signal)),
    );
  }

  async #fetchNow(wanted: WantedBundle, version: string | null, signal: AbortSignal): Promise<ImportedBundle> {
    const { link, linkDigest, signature } = wanted;
    const { store, slots } = this.#context;
    const shownLink = linkWithoutSecrets(link.reveal());
    // Download to the staging folder, not to the spool, because after a crash the next start empties only the staging folder.
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
    const { bundleBytesMax, fetchRetriesMax: retriesMax } = settings;
    const shownLink = linkWithoutSecrets(link.reveal());
    const startedMs = performance.now();
    journal.event({ kind: 'fetch-started', link: shownLink });
    journal.activity = `fetching ${shownLink}`;
    const onProgress: FetchRequest['onProgress'] = (doneBytes, totalBytes) =>
      journal.event({ kind: 'progress', name: shownLink, phase: 'fetching', doneBytes, totalBytes });
    const spooling = { spoolDir: store.site.spool, bundleFile, bundleBytesMax, retriesMax };
    const fetched = await tracer.span('fetch', { kind: 'client', facts: { 'url.full': shownLink } }, async (span) => {
      const bundle = await fetchBundle(await sources(), { link, sha256, ...spooling, signal, onProgress });
      span.note({ 'docshelf.bundle.sha256': bundle.digest, 'docshelf.bundle.bytes': bundle.sizeBytes });
      return bundle;
    });
    const seconds = (performance.now() - startedMs) / 1000;
    journal.event({ kind: 'fetched', link: shownLink, digest: fetched.digest, bytes: fetched.sizeBytes, seconds });
    return fetched;
  }
}

/**
 * Maximum number of stored releases whose files an import can reuse as hard links. The import loads the file tables of all
 * these releases into memory.
 */
const LINKED_RELEASES_MAX = 4;

async function releasesToLinkTo(store: SiteStore): Promise<string[]> {
  const names = await store.names();
  const releases = (await store.list()).sort(
    (a, b) => Number(names.has(b.digest)) - Number(names.has(a.digest)) || (a.fetchedAt < b.fetchedAt ? 1 : -1),
  );
  return releases.slice(0, LINKED_RELEASES_MAX).map(({ digest }) => store.folderOf(digest));
}

/** Writes the marker file `COMPLETE` last, so that a folder with this file is complete even after a power failure. */
async function seal(releaseDir: string, info: ReleaseInfo): Promise<void> {
  await writeFile(join(releaseDir, 'release.json'), `${JSON.stringify(info, null, 2)}\n`, { flag: 'wx' });
  await flushTree(releaseDir);
  await writeFile(join(releaseDir, COMPLETE_FILE), '', { flag: 'wx', flush: true });
  await flushPath(releaseDir);
}

/** Hexadecimal SHA-256 of a file. @param name file name for the error message @throws DocshelfError `cannot_read` */
export async function digestOf(file: string, name: string, signal: AbortSignal): Promise<string> {
  return digestFile(file, signal).catch((error: unknown) => {
    signal.throwIfAborted();
    const next = 'Make the archive readable for docshelf.';
    return rethrowAs('cannot_read', `read "${name}"`, next, errnoState)(error);
  });
}

function inUtc(time: string | undefined): string | null {
  const date = new Date(time ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}

function changedMeanwhile(name: string): DocshelfError {
  return new DocshelfError('damaged_archive', `Cannot import "${name}": it changed while it was being read`, {
    next: 'Copy the archive under a name that ends in .part. Rename it when the copy is complete.',
  });
}

/** Maximum time to wait for another daemon's fetch, which can hang. After that, this daemon also fetches. */
const FETCH_MS_MAX = 600_000;

/**
 * Runs `act` in only one of several daemons that fetch the same bundle. The others reuse the result, or run `act` if it
 * failed.
 * @param wanted values that are equal for the same bundle
 */
async function fetchOnce(
  store: SiteStore,
  wanted: readonly unknown[],
  signal: AbortSignal,
  act: () => Promise<ImportedBundle>,
): Promise<ImportedBundle> {
  // Name the lock file and the result file like a partial download, so that the cleanup of the spool folder removes both files.
  const key = hash('sha256', JSON.stringify(wanted));
  const [lock, result] = [join(store.site.spool, `${key}.lock`), join(store.site.spool, `${key}.done`)];
  await mkdir(store.site.spool, { recursive: true });
  const before = await readIfThere(result);
  return whileLocked(lock, { mode: 'exclusive', waitMsMax: FETCH_MS_MAX, signal, isTemporary: true }, async () => {
    const after = await readIfThere(result);
    const stored = after === before ? null : await storedOf(store, after);
    if (stored !== null) return stored;
    const imported = await act();
    await replaceFile(result, JSON.stringify({ ...imported, id: randomBytes(8).toString('hex') }));
    return imported;
  });
}

async function storedOf(store: SiteStore, text: string | null): Promise<ImportedBundle | null> {
  const { digest, version, createdAt } = membersOf<ImportedBundle>(text);
  if (typeof digest !== 'string' || typeof version !== 'string' || typeof createdAt !== 'string') return null;
  return (await store.label(version))?.digest === digest ? { digest, version, createdAt, unpacked: false } : null;
}
