import { join } from 'node:path';
import { DocshelfError } from '../domain/errors.ts';
import { sweepTemporaries } from '../files/index.ts';
import { NO_TRACES } from '../traces/tracer.ts';
import { sweepSpool } from './fetch/fetch.ts';
import { RenewLoop } from './fetch/renew-loop.ts';
import { Intake, type TakeInRequest, type TakenIn } from './import/importer.ts';
import { createStaging, removeStaging, spoolStream } from './import/staging.ts';
import { isSame, type ReleaseRef } from './plan.ts';
import type { LabelPointer } from './releases/site-store.ts';
import { versionNotFound } from './releases/stored-versions.ts';
import { type DeploySettings, fingerprintOf, isSameData, PART_AGE_MS_MAX, wantedOf } from './settings.ts';
import type { DeploymentOptions, SiteContext } from './site-context.ts';
import { Reconciler } from './site-loop.ts';
import { type DeployStatus, Journal, StoredReport } from './status.ts';

export type Delivery = Pick<TakeInRequest, 'file' | 'fileName' | 'version' | 'source' | 'signature'> & {
  readonly activate: boolean;
};

export interface Delivered extends TakenIn {
  readonly activated: boolean;
}

/** The deployment of one site, in a daemon or for a command: writes what is wanted, or hands over an archive. */
export class Deployment {
  readonly #context: SiteContext;
  readonly #intake: Intake;
  readonly #reconciler: Reconciler;
  readonly #renewLoop: RenewLoop;
  readonly #stored: StoredReport;
  readonly #stopping = new AbortController();
  #settings: DeploySettings;
  #opening: Promise<void> | null = null;
  #isOpen = false;
  readonly #firstOpened = Promise.withResolvers<void>();
  /** By the service side of this daemon, since the start. */
  #exportsMade = 0;

  constructor({ settings, onEvent, registration, ...options }: DeploymentOptions) {
    this.#settings = settings;
    this.#context = {
      tracer: NO_TRACES,
      ...options,
      settings: () => this.#settings,
      sources: () => options.sources(this.#settings),
      wanted: () => wantedOf(this.#settings, this.#exportsMade),
      journal: new Journal(onEvent),
      registration: registration.siteOf(() => options.store.domain),
      stopping: this.#stopping.signal,
      opened: () => this.open(),
    };
    this.#intake = new Intake(this.#context);
    this.#reconciler = new Reconciler(this.#context, this.#intake);
    this.#stored = new StoredReport(options.store);
    this.#renewLoop = new RenewLoop(() => this.#reconciler.exportAnew());
  }

  /**
   * The site's part of the folder, once. One that fails is made good by the loop, which tries again, and by each act that needs it.
   * @throws DocshelfError `config_invalid` for another domain's, `data_folder_newer`; the system's own errors
   */
  open(): Promise<void> {
    this.#opening ??= this.#openNow().catch((error: unknown) => {
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }

  async #openNow(): Promise<void> {
    const { store } = this.#context;
    await store.settleDomain(this.#settings.domain, null);
    await store.ownReleases();
    await store.open();
    await this.#context.registration.serves([]);
    const { site } = store;
    const now = Date.now();
    await sweepTemporaries([site.dir, site.versions, site.served, site.spool], now);
    await sweepSpool(site.spool, this.#settings.link, now, PART_AGE_MS_MAX);
    this.#isOpen = true;
    this.#firstOpened.resolve();
  }

  /** Resolves when its part of the folder is open, which may be never. */
  get whenOpen(): Promise<void> {
    return this.#firstOpened.promise;
  }

  /** Begins a round, and the timer of exports. Resolves when it is settled, well or not; never rejects. */
  async settle(): Promise<void> {
    this.#renewLoop.use(this.#settings.enabled ? (this.#settings.renew?.everyMs ?? null) : null);
    await this.#reconciler.settle();
  }

  /**
   * `settle` carries them out. One of many sites is left alone where it has these settings already, and no fault.
   * @throws DocshelfError `config_invalid` for another domain than the folder's
   */
  async accept(settings: DeploySettings): Promise<void> {
    const { store, journal } = this.#context;
    await store.settleDomain(settings.domain, null);
    journal.reloaded();
    const isWell = this.#reconciler.isMet && this.lastError === null;
    if (store.isListed && isWell && isSameData(settings, this.#settings)) return;
    const isOther = fingerprintOf(settings) !== fingerprintOf(this.#settings);
    this.#settings = settings;
    this.#reconciler.settingsChanged(isOther);
  }

  /** True before its first round, and from new settings to the round that `settle` begins for them. */
  get mustSettle(): boolean {
    return !this.#reconciler.follows;
  }

  /**
   * Activates it unless a version is pinned.
   * @throws DocshelfError an archive or bundle code, `not_enough_space`, `cannot_write`, `pinned`
   */
  async deliver(delivery: Delivery, signal: AbortSignal = this.#stopping.signal): Promise<Delivered> {
    await this.open();
    const untilStopped = AbortSignal.any([signal, this.#stopping.signal]);
    const taken = await this.#intake.takeIn({
      ...delivery,
      digest: null,
      linkDigest: null,
      activates: delivery.activate,
      signal: untilStopped,
    });
    return { ...taken, activated: await this.#serveDelivered(taken, delivery.activate) };
  }

  /**
   * `deliver` of what another process took in meanwhile. @returns whether it is served
   * @throws DocshelfError `version_not_found` where the version is no longer that release
   */
  async takeUp({ version, digest }: ReleaseRef, activate: boolean): Promise<boolean> {
    const { store } = this.#context;
    await this.open();
    if ((await store.label(version))?.digest !== digest) throw await versionNotFound(store, version, digest);
    return this.#serveDelivered({ version, digest }, activate);
  }

  /** An upload, or standard input. @throws DocshelfError as `deliver` does, and `source_too_large`. */
  async deliverStream(
    stream: AsyncIterable<Uint8Array>,
    delivery: Omit<Delivery, 'file'>,
    signal: AbortSignal = this.#stopping.signal,
  ): Promise<Delivered> {
    const untilStopped = AbortSignal.any([signal, this.#stopping.signal]);
    const staging = await createStaging(this.#context.store.paths);
    const file = join(staging, 'bundle');
    try {
      await spoolStream(stream, file, this.#settings.bundleBytesMax, untilStopped);
      return await this.deliver({ ...delivery, file }, untilStopped);
    } finally {
      await removeStaging(staging);
    }
  }

  /** @throws DocshelfError `pinned`, `version_not_found`. */
  async activate(version: string): Promise<ReleaseRef> {
    return this.#reconciler.inLoop(async () => {
      this.#refuseWhilePinned(`activate version "${version}"`, version);
      const pointer = await this.#labelOf(version);
      this.#refuseWhilePinned(`activate version "${version}"`, version);
      return this.#choose({ version, digest: pointer.digest }, false);
    });
  }

  /** Goes back to what was active before; again, further back. @throws DocshelfError `pinned`, `no_version`. */
  async rollback(): Promise<ReleaseRef> {
    const { store } = this.#context;
    return this.#reconciler.inLoop(async () => {
      this.#refuseWhilePinned('roll back', null);
      const active = await store.active();
      const names = await store.names();
      for (const former of active?.history ?? []) {
        if (isSame(former, active) || !names.has(former.digest) || !(await store.has(former.digest))) continue;
        this.#refuseWhilePinned('roll back', null);
        return this.#choose(former, true);
      }
      const message = 'Cannot roll back: no version that was active before this one is still stored';
      throw new DocshelfError('no_version', message, {
        next: 'List the stored versions with "docshelf bundle list" and activate one of them.',
      });
    });
  }

  /** @throws DocshelfError `version_not_found`, `pinned`, `in_use`. */
  async remove(version: string): Promise<void> {
    await this.#reconciler.inLoop(async () => {
      const pointer = await this.#labelOf(version);
      if (version === this.#settings.version) {
        throw new DocshelfError('pinned', `Cannot remove version "${version}": staticExport.version pins it`, {
          next: 'Pin another version first.',
        });
      }
      await this.#reconciler.activation.remove(version, pointer.digest);
      this.#context.journal.event({ kind: 'removed', version });
    });
  }

  /** Tells serving of what other daemons on the folder have swapped to. @returns whether it was another; never rejects */
  readonly lookAgain = (): Promise<boolean> => this.#reconciler.activation.lookAgain();

  /** @throws DocshelfError `version_not_found` */
  async stored(version: string): Promise<ReleaseRef & { readonly releaseDir: string }> {
    const { digest } = await this.#labelOf(version);
    return { version, digest, releaseDir: this.#context.store.folderOf(digest) };
  }

  /** The service side of this daemon has a newer export of the domain. */
  exportCompleted(): void {
    this.#exportsMade += 1;
    this.#reconciler.wake();
  }

  failed(step: string, error: unknown): void {
    this.#context.journal.failed(step, error);
  }

  get state(): DeployStatus['state'] {
    if (!this.#settings.enabled) return 'off';
    if (this.#reconciler.activation.current === null) return 'waiting';
    return this.#reconciler.isMet ? 'ready' : 'stale';
  }

  get active(): DeployStatus['active'] {
    return this.#reconciler.activation.current;
  }

  get lastError(): DeployStatus['lastError'] {
    return this.#context.journal.lastError;
  }

  get activity(): string | null {
    return this.#context.journal.activity;
  }

  get domain(): string {
    return this.#context.store.domain;
  }

  async status(): Promise<DeployStatus> {
    // The disk first: what is read after it is of one moment.
    // Where it is not open, its fault says it all.
    const stored = this.#isOpen ? await this.#stored.read(this.#settings, this.active) : { versions: [], notices: [] };
    return {
      state: this.state,
      domain: this.domain,
      active: this.active,
      pinned: this.#settings.version,
      ...stored,
      lastError: this.lastError,
      activity: this.activity,
    };
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new DocshelfError('stopping', 'Cannot go on: docshelf is stopping'));
    this.#renewLoop.stop();
    await this.#reconciler.stop();
    await this.#context.registration.leave();
  }

  async #serveDelivered({ version, digest }: ReleaseRef, activate: boolean): Promise<boolean> {
    const { activation } = this.#reconciler;
    const isActivated = await this.#reconciler.inLoop(async () => {
      // The pinned version may be what the loop waits for: it looks after this act.
      if (this.#settings.version !== null || !activate) return this.#settings.version === null ? false : null;
      await activation.serve({ version, digest }, { by: 'delivery' });
      this.#reconciler.met();
      return true;
    });
    return isActivated ?? activation.current?.digest === digest;
  }

  async #choose(release: ReleaseRef, isRollback: boolean): Promise<ReleaseRef> {
    await this.#reconciler.activation.serve(release, { by: 'operator', isRollback });
    this.#reconciler.chosen();
    return { version: release.version, digest: release.digest };
  }

  async #labelOf(version: string): Promise<LabelPointer> {
    const { store } = this.#context;
    return (await store.label(version)) ?? Promise.reject(await versionNotFound(store, version, null));
  }

  #refuseWhilePinned(act: string, version: string | null): void {
    const pin = this.#settings.version;
    if (pin === null || pin === version) return;
    throw new DocshelfError('pinned', `Cannot ${act}: the config pins version "${pin}"`, {
      next: 'Change staticExport.version, or remove it, and the daemon follows by itself.',
    });
  }
}
