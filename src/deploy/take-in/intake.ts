import { join } from 'node:path';
import { refuseUnfitName } from '../../domain/file-name.ts';
import { linkWithoutSecrets, type Secret } from '../../domain/secret.ts';
import { Scheduler } from '../../threads/scheduler.ts';
import { type FetchedBundle, type FetchRequest, fetchBundle } from '../fetch/fetch.ts';
import { fetchOnce } from '../fetch/fetch-once.ts';
import { PART_AGE_MS_MAX } from '../settings.ts';
import type { SiteContext } from '../site-context.ts';
import { checkSignature, type SignedArchive, type Signer } from './signature.ts';
import { createStaging, removeStaging } from './staging.ts';
import { type TakeInRequest, type TakeInSettings, type TakenIn, type TellPhase, takeIn } from './take-in.ts';

type ArrivedRequest = Omit<TakeInRequest, 'onProgress' | 'tell'>;

export interface FetchOrder {
  readonly link: Secret;
  readonly sha256: string | null;
  /** Digest of the configured link that it is fetched for. */
  readonly linkDigest: string | null;
  readonly signature?: string | null;
}

export class Intake {
  readonly #context: SiteContext;
  /** One at a time: two would halve each other's speed and double the space. */
  readonly #scheduler = new Scheduler(1);

  constructor(context: SiteContext) {
    this.#context = context;
  }

  takeIn(request: ArrivedRequest): Promise<TakenIn> {
    return this.#scheduler.run(() => this.#takeInNow(request), { signal: request.signal });
  }

  async #takeInNow(request: ArrivedRequest): Promise<TakenIn> {
    const { store, journal, settings, slots, unpack, beforeSeal, tracer } = this.#context;
    const { domain, limits, version, sha256, minVersion, fromExports } = settings();
    const name = request.fileName ?? 'the archive';
    refuseUnfitName(name);
    const startedMs = performance.now();
    const onProgress: TakeInRequest['onProgress'] = (phase, doneBytes, totalBytes) =>
      journal.event({ kind: 'progress', name, phase, doneBytes, totalBytes });
    const tell: TellPhase = (phase, page) => {
      journal.activity = page === null ? `${phase} ${name}` : `${phase} ${name}: page "${page}"`;
    };
    tell('checking', null);
    try {
      // Of an export of this daemon, the same content goes by its first manifest.
      const activates = request.activates === true && version === null && !fromExports;
      const rules: TakeInSettings = {
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
      const taken = await tracer.span('extract', { facts: { 'docshelf.domain': store.domain } }, async (span) => {
        const found = await takeIn(store, { ...request, onProgress, tell, activates }, rules);
        span.note({ 'docshelf.version': found.version, 'docshelf.bundle.sha256': found.digest });
        return found;
      });
      if (taken.unpacked) {
        const seconds = (performance.now() - startedMs) / 1000;
        journal.event({ kind: 'taken-in', ...taken, source: request.source, seconds });
      }
      return taken;
    } finally {
      journal.activity = null;
    }
  }

  /** Where another daemon on the folder fetches the same, that is waited for and taken. */
  async fetch(order: FetchOrder, version: string | null, signal: AbortSignal): Promise<TakenIn> {
    const { store, journal, settings } = this.#context;
    const { signature, minVersion } = settings();
    const wanted = [order.link.reveal(), order.linkDigest, order.sha256, version, signature.publicKeys, minVersion];
    journal.activity = `waiting to fetch ${linkWithoutSecrets(order.link.reveal())}`;
    try {
      return await fetchOnce(store, wanted, signal, () => this.#fetchNow(order, version, signal));
    } finally {
      journal.activity = null;
    }
  }

  async #fetchNow(order: FetchOrder, version: string | null, signal: AbortSignal): Promise<TakenIn> {
    const { link, linkDigest, signature } = order;
    const { store, slots } = this.#context;
    const shownLink = linkWithoutSecrets(link.reveal());
    // In staging and not in the spool: a crash while unpacking leaves nothing there.
    const staging = await createStaging(store.paths);
    const file = join(staging, 'bundle');
    try {
      const { fileName, digest, isVerified } = await slots.fetching.run(() => this.#transfer(order, file, signal), {
        key: store.domain,
        signal,
      });
      return await this.takeIn({
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

  async #transfer({ link, sha256 }: FetchOrder, bundleFile: string, signal: AbortSignal): Promise<FetchedBundle> {
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
