import { join } from 'node:path';
import { DocshelfError } from '../domain/errors.ts';
import { isSameData } from '../domain/secret.ts';
import type { StatusReport } from '../domain/status.ts';
import { sweepTemporaries } from '../files/index.ts';
import { once } from '../threads/once.ts';
import { sweepSpool } from './fetch/fetch.ts';
import { type ImportedBundle, Importer, type ImportRequest } from './import/importer.ts';
import { createStaging, removeStaging, spoolStream } from './import/staging.ts';
import { isSame, type ReleaseRef } from './plan.ts';
import type { LabelPointer } from './releases/site-store.ts';
import { noEarlierActivation, versionNotFound } from './releases/stored-versions.ts';
import { type DeploySettings, wantedOf } from './settings.ts';
import type { DeploymentOptions, SiteContext } from './site-context.ts';
import { SiteLoop } from './site-loop.ts';
import { Journal, StoredReport, type StoredState } from './status.ts';

type Delivery = Pick<ImportRequest, 'file' | 'fileName' | 'version' | 'source' | 'signature'> & {
  readonly activate: boolean;
};

export interface Delivered extends ImportedBundle {
  readonly activated: boolean;
}

export class Deployment {
  readonly journal: Journal;
  readonly #context: SiteContext & { settings: DeploySettings };
  readonly #importer: Importer;
  readonly #loop: SiteLoop;
  readonly #stopping = new AbortController();
  readonly #firstOpened = Promise.withResolvers<void>();
  readonly whenOpen = this.#firstOpened.promise;
  #stored: StoredReport | null = null;
  #exportsMade = 0;

  constructor({ settings, onEvent, registration, ...options }: DeploymentOptions) {
    this.journal = new Journal(onEvent);
    this.#context = {
      ...options,
      settings,
      sources: () => options.sources(this.#context.settings),
      wanted: () => wantedOf(this.#context.settings, this.#exportsMade),
      journal: this.journal,
      registration: registration.registerSite(options.store),
      stopping: this.#stopping.signal,
      opened: this.open,
    };
    this.#importer = new Importer(this.#context);
    this.#loop = new SiteLoop(this.#context, this.#importer);
  }

  /**
   * Opens the site's folder once. After a failure, the next call tries again.
   * @throws DocshelfError `config_invalid` if the config has another domain than the folder; `data_folder_newer`
   */
  readonly open = once(async (): Promise<void> => {
    const { store } = this.#context;
    await store.settleDomain(this.#context.settings.domain, null);
    await store.records();
    await store.open();
    await this.#context.registration.setServed([]);
    const { site } = store;
    const now = Date.now();
    await sweepTemporaries([site.dir, site.versions, site.served, site.spool], now);
    await sweepSpool(site.spool, this.#context.settings.link, now);
    this.#stored ??= new StoredReport(store);
    this.#firstOpened.resolve();
  });

  /** Applies the settings and starts the export timer. Resolves when the site loop has no step left to run now. Never rejects. */
  reconcile(): Promise<void> {
    return this.#loop.reconcile();
  }

  /**
   * Stores new settings, which the next `reconcile` call applies.
   * @throws DocshelfError `config_invalid` if the domain is not that of the data folder
   */
  async accept(settings: DeploySettings): Promise<void> {
    const { store } = this.#context;
    await store.settleDomain(settings.domain, null);
    this.journal.reloaded();
    const isUnchanged = store.isListed && isSameData(settings, this.#context.settings);
    if (isUnchanged && this.#loop.isReconciled && this.journal.lastError === null) return;
    const former = this.#context.wanted();
    this.#context.settings = settings;
    this.#loop.settingsChanged(this.#context.wanted().fingerprint !== former.fingerprint);
  }

  get mustReconcile(): boolean {
    return !this.#loop.hasStartedRound;
  }

  /**
   * Imports a bundle. Activates it only if the caller requests this and the config pins no version.
   * @throws DocshelfError archive codes, `not_enough_space`, `cannot_write`, `pinned`
   */
  async deliver(delivery: Delivery, signal: AbortSignal = this.#stopping.signal): Promise<Delivered> {
    await this.open();
    const untilStopped = AbortSignal.any([signal, this.#stopping.signal]);
    const imported = await this.#importer.import({
      ...delivery,
      digest: null,
      linkDigest: null,
      activates: delivery.activate,
      signal: untilStopped,
    });
    return { ...imported, activated: await this.#serveDelivered(imported, delivery.activate) };
  }

  /** @throws DocshelfError the codes of `deliver`; `source_too_large` */
  async deliverStream(
    stream: AsyncIterable<Uint8Array>,
    delivery: Omit<Delivery, 'file'>,
    signal: AbortSignal = this.#stopping.signal,
  ): Promise<Delivered> {
    const untilStopped = AbortSignal.any([signal, this.#stopping.signal]);
    const staging = await createStaging(this.#context.store.paths);
    const file = join(staging, 'bundle');
    try {
      await spoolStream(stream, file, this.#context.settings.bundleBytesMax, untilStopped);
      return await this.deliver({ ...delivery, file }, untilStopped);
    } finally {
      await removeStaging(staging);
    }
  }

  /** @throws DocshelfError `pinned`, `version_not_found` */
  async activate(version: string): Promise<ReleaseRef> {
    return this.#loop.runExclusive(async () => {
      this.#refuseWhilePinned(`activate version "${version}"`, version);
      const pointer = await this.#labelOf(version, 'activate');
      this.#refuseWhilePinned(`activate version "${version}"`, version);
      return this.#choose({ version, digest: pointer.digest }, false);
    });
  }

  /** Activates the previous release; a second call goes further back. @throws DocshelfError `pinned`, `no_version` */
  async rollback(): Promise<ReleaseRef> {
    const { store } = this.#context;
    return this.#loop.runExclusive(async () => {
      const former = await this.previous();
      this.#refuseWhilePinned('roll back', null);
      return former === null ? Promise.reject(await noEarlierActivation(store)) : this.#choose(former, true);
    });
  }

  /** Release that a rollback activates. Null if no release of an earlier activation is stored. */
  async previous(): Promise<ReleaseRef | null> {
    const { store } = this.#context;
    const active = await store.active();
    const names = await store.names();
    for (const former of active?.history ?? [])
      if (!isSame(former, active) && names.has(former.digest) && (await store.has(former.digest))) return former;
    return null;
  }

  /** @throws DocshelfError `version_not_found`, `pinned`, `in_use` */
  async remove(version: string): Promise<void> {
    await this.#loop.runExclusive(async () => {
      const pointer = await this.#labelOf(version, 'remove');
      if (version === this.#context.settings.version) {
        throw new DocshelfError('pinned', `Cannot remove version "${version}": staticExport.version pins it`, {
          next: 'Pin another version first.',
        });
      }
      await this.#loop.activation.remove(version, pointer.digest);
      this.journal.event({ kind: 'removed', version });
    });
  }

  readonly refreshFromDisk = (): Promise<boolean> => this.#loop.activation.refreshFromDisk();

  /** @param verb action in the error, such as `preview` @throws DocshelfError `version_not_found` */
  async stored(version: string, verb: string): Promise<ReleaseRef & { readonly releaseDir: string }> {
    const { digest } = await this.#labelOf(version, verb);
    return { version, digest, releaseDir: this.#context.store.folderOf(digest) };
  }

  exportCompleted(): void {
    this.#exportsMade += 1;
    this.#loop.wake();
  }

  get state(): StatusReport['state'] {
    if (!this.#context.settings.enabled) return 'off';
    if (this.#loop.activation.current === null) return 'waiting';
    return this.#loop.isReconciled ? 'ready' : 'stale';
  }

  get pinned(): string | null {
    return this.#context.settings.version;
  }

  get active(): StatusReport['active'] {
    return this.#loop.activation.current;
  }

  get domain(): string {
    return this.#context.store.domain;
  }

  /** Reads the stored versions, and the notices to operators about stored versions. Never rejects. */
  async readStored(): Promise<StoredState> {
    return (await this.#stored?.read(this.#context.settings, this.active)) ?? { versions: [], notices: [] };
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new DocshelfError('stopping', 'Cannot continue: docshelf is stopping'));
    await this.#loop.stop();
    await this.#context.registration.unregister();
  }

  async #serveDelivered({ version, digest }: ReleaseRef, activate: boolean): Promise<boolean> {
    const isPinned = await this.#loop.runExclusive(async () => {
      if (this.#context.settings.version !== null) return true;
      if (activate) await this.#loop.activate({ version, digest }, { by: 'delivery' });
      return false;
    });
    // When `runExclusive` resolves, the site loop has already activated the pinned version, which can be the delivered bundle.
    return isPinned ? this.active?.digest === digest : activate;
  }

  async #choose({ version, digest }: ReleaseRef, isRollback: boolean): Promise<ReleaseRef> {
    await this.#loop.activate({ version, digest }, { by: 'operator', isRollback });
    return { version, digest };
  }

  async #labelOf(version: string, verb: string): Promise<LabelPointer> {
    const { store } = this.#context;
    return (await store.label(version)) ?? Promise.reject(await versionNotFound(store, version, null, verb));
  }

  #refuseWhilePinned(act: string, version: string | null): void {
    const pin = this.#context.settings.version;
    if (pin === null || pin === version) return;
    throw new DocshelfError('pinned', `Cannot ${act}: the config pins version "${pin}"`, {
      next: 'Change or remove staticExport.version in the config.',
    });
  }
}
