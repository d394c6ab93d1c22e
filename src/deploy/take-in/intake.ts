import { join } from 'node:path';
import { linkWithoutSecrets, type Secret } from '../../domain/secret.ts';
import { fetchBundle } from '../fetch/fetch.ts';
import type { Journal } from '../journal.ts';
import type { BundleSource } from '../ports.ts';
import type { ReleaseStore } from '../releases/release-store.ts';
import { type DeploySettings, PART_AGE_MS_MAX } from '../settings.ts';
import { turns } from '../turns.ts';
import { checkSignature, type SignedArchive } from './signature.ts';
import { createStaging, removeStaging } from './staging.ts';
import { type BeforeSeal, type TakeInRequest, type TakenIn, takeIn } from './take-in.ts';
import type { Unpack } from './unpack-thread.ts';

/** What is to be fetched. */
export interface FetchOrder {
  readonly link: Secret;
  /** The digest that the archive must have; null: any. */
  readonly sha256: string | null;
  /** Digest of the configured link that it is fetched for; null where none is. */
  readonly linkDigest: string | null;
  /** The minisign signature that came with the link. */
  readonly signature?: string | null;
}

export interface IntakeOptions {
  readonly sources: () => Promise<readonly BundleSource[]>;
  readonly unpack: Unpack;
  readonly beforeSeal: readonly BeforeSeal[];
}

/** The way of every bundle onto the shelf, with the log's and the metrics' eyes on it. */
export class Intake {
  readonly #store: ReleaseStore;
  readonly #settings: () => DeploySettings;
  readonly #journal: Journal;
  readonly #options: IntakeOptions;
  /** The folder's first bundle may have settled its domain. */
  readonly #onTakenIn: () => Promise<void>;
  /** One archive is unpacked at a time: two would halve each other's speed and double the space. */
  readonly #inTurn = turns();

  constructor(
    store: ReleaseStore,
    settings: () => DeploySettings,
    journal: Journal,
    options: IntakeOptions,
    onTakenIn: () => Promise<void>,
  ) {
    this.#store = store;
    this.#settings = settings;
    this.#journal = journal;
    this.#options = options;
    this.#onTakenIn = onTakenIn;
  }

  /** Takes in an archive that lies on this machine. */
  async takeIn(request: Omit<TakeInRequest, 'onProgress'>): Promise<TakenIn> {
    return this.#inTurn(async () => {
      const { domain, limits, version, sha256 } = this.#settings();
      const checkSignature = (archive: SignedArchive, signal: AbortSignal) => this.#checkSignature(archive, signal);
      const name = request.fileName ?? 'the archive';
      const startedMs = performance.now();
      this.#journal.activity = `unpacking ${name}`;
      try {
        const taken = await takeIn(
          this.#store,
          {
            ...request,
            onProgress: (phase, doneBytes, totalBytes) =>
              this.#journal.event({ kind: 'progress', name, phase, doneBytes, totalBytes }),
          },
          { domain, limits, pin: version === null ? null : { version, sha256 }, checkSignature },
          this.#options.unpack,
          this.#options.beforeSeal,
        );
        await this.#onTakenIn();
        if (taken.unpacked) {
          const seconds = (performance.now() - startedMs) / 1000;
          this.#journal.event({ kind: 'taken-in', ...taken, source: request.source, seconds });
        }
        return taken;
      } finally {
        this.#journal.activity = null;
      }
    });
  }

  /** Fetches a link and takes in what it gives, as that version where one is pinned. */
  async fetch(order: FetchOrder, version: string | null, signal: AbortSignal): Promise<TakenIn> {
    const { link, sha256, linkDigest, signature } = order;
    const { bundleBytesMax, fetchRetriesMax } = this.#settings();
    const shownLink = linkWithoutSecrets(link.reveal());
    const startedMs = performance.now();
    this.#journal.event({ kind: 'fetch-started', link: shownLink });
    // The whole bundle lies in staging and not in the spool: whoever is killed while unpacking it leaves nothing there.
    const staging = await createStaging(this.#store.paths);
    const file = join(staging, 'bundle');
    this.#journal.activity = `fetching ${shownLink}`;
    try {
      const { fileName, digest, sizeBytes } = await fetchBundle(
        await this.#options.sources(),
        {
          link,
          sha256,
          signal,
          onProgress: (doneBytes, totalBytes) =>
            this.#journal.event({ kind: 'progress', name: shownLink, phase: 'fetching', doneBytes, totalBytes }),
        },
        {
          spoolDir: this.#store.paths.spool,
          bundleFile: file,
          bundleBytesMax,
          retriesMax: fetchRetriesMax,
          partMaxAgeMs: PART_AGE_MS_MAX,
        },
      );
      const seconds = (performance.now() - startedMs) / 1000;
      this.#journal.event({ kind: 'fetched', link: shownLink, digest, bytes: sizeBytes, seconds });
      return await this.takeIn({
        file,
        fileName,
        version,
        source: 'url',
        digest,
        signature: signature ?? null,
        linkDigest,
        signal,
      });
    } finally {
      this.#journal.activity = null;
      await removeStaging(staging);
    }
  }

  async #checkSignature(archive: SignedArchive, signal: AbortSignal): Promise<void> {
    const { signature, fetchRetriesMax } = this.#settings();
    const signer = await checkSignature(archive, signature, this.#options.sources, fetchRetriesMax, signal);
    if (signer !== null) this.#journal.event({ kind: 'verified', name: archive.name, ...signer });
  }
}
