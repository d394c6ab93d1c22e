import { join } from 'node:path';
import { DocshelfError } from '../domain/errors.ts';
import { sweepTemporaries } from '../files/index.ts';
import { Activation, type PrepareSwap } from './activation.ts';
import type { DaemonSocket } from './daemon-socket.ts';
import { DaemonRegistration } from './daemons.ts';
import { sweepSpool } from './fetch/fetch.ts';
import { type OpenLinks, Renewal } from './fetch/renew.ts';
import { RenewLoop } from './fetch/renew-loop.ts';
import { Journal } from './journal.ts';
import type { ReleaseRef } from './plan.ts';
import { settleFolderDomain } from './releases/domain-of-folder.ts';
import type { ReleaseStore } from './releases/release-store.ts';
import { versionNotFound } from './releases/version-not-found.ts';
import { type DeploySettings, PART_AGE_MS_MAX } from './settings.ts';
import { Settler } from './settle.ts';
import { type DeployEvent, type DeployStatus, noticesOf, storedVersions } from './status.ts';
import { Intake, type IntakeOptions } from './take-in/intake.ts';
import { spoolStream } from './take-in/spool-stream.ts';
import { createStaging, removeStaging, sweepStaging } from './take-in/staging.ts';
import type { TakeInRequest, TakenIn } from './take-in/take-in.ts';

export interface DeploymentOptions extends IntakeOptions {
  readonly store: ReleaseStore;
  readonly settings: DeploySettings;
  /** Opens the service that the settings name for fresh links. */
  readonly openLinks: OpenLinks;
  readonly prepareSwap: PrepareSwap;
  /** Serving is turned off: nothing is active any more. */
  readonly onOff: () => void;
  readonly onEvent: (event: DeployEvent) => void;
}

/** An archive that was handed over. */
export type Delivery = Pick<TakeInRequest, 'file' | 'fileName' | 'version' | 'source' | 'signature'> & {
  readonly activate: boolean;
};

export interface Delivered extends TakenIn {
  readonly activated: boolean;
}

/**
 * The deployment: one data folder, one site, one active version. What a daemon starts, reloads and stops, and what the
 * command line uses on a folder where no daemon runs.
 */
export class Deployment {
  readonly #store: ReleaseStore;
  readonly #registration: DaemonRegistration;
  readonly #journal: Journal;
  readonly #activation: Activation;
  readonly #intake: Intake;
  readonly #settler: Settler;
  readonly #renewLoop: RenewLoop;
  readonly #stopping = new AbortController();
  #settings: DeploySettings;
  #domain = '';

  constructor(options: DeploymentOptions) {
    const settings = (): DeploySettings => this.#settings;
    this.#store = options.store;
    this.#settings = options.settings;
    this.#registration = new DaemonRegistration(options.store.paths);
    this.#journal = new Journal(options.onEvent);
    this.#activation = new Activation(this.#store, settings, options.prepareSwap, this.#registration, this.#journal);
    this.#intake = new Intake(this.#store, settings, this.#journal, options, () => this.#resolveDomain(this.#settings));
    this.#settler = new Settler(
      this.#store,
      settings,
      this.#activation,
      this.#intake,
      new Renewal(this.#store, settings, this.#intake, this.#journal, options.openLinks),
      this.#journal,
      options.onOff,
      this.#stopping.signal,
    );
    this.#renewLoop = new RenewLoop(() => this.#settler.exportAnew());
  }

  /**
   * Looks whether the folder is ours and sweeps what killed processes left in it.
   *
   * @throws DocshelfError `config_invalid` where it belongs to another domain, `data_folder_newer`.
   */
  async open(): Promise<void> {
    await this.#resolveDomain(this.#settings);
    await this.#store.list();
    const now = Date.now();
    await sweepStaging(this.#store.paths, now);
    const { dir, versions, daemons } = this.#store.paths;
    await sweepTemporaries([dir, versions, daemons], now);
    await sweepSpool(this.#store.paths.spool, this.#settings.link, now, PART_AGE_MS_MAX);
    await this.#store.sweepIncomplete();
  }

  /** Announces the daemon in the folder. */
  async announce(adminUrl: string | null, socket: DaemonSocket | null): Promise<void> {
    await this.#registration.announce(adminUrl, socket);
  }

  /**
   * Serves what the settings ask for, and from then on has the site exported as often as they say. Resolves when that is
   * settled, well or not; never rejects.
   */
  async settle(): Promise<void> {
    this.#renewLoop.use(this.#settings.enabled ? (this.#settings.renew?.everyMs ?? null) : null);
    await this.#settler.settle();
  }

  /**
   * Takes new settings; `settle` then brings what is served in line with them.
   *
   * @throws DocshelfError `config_invalid` where they name another domain than the folder's; then nothing has changed.
   */
  async accept(settings: DeploySettings): Promise<void> {
    await this.#resolveDomain(settings);
    this.#settings = settings;
    this.#journal.reloaded();
  }

  /**
   * Takes an archive in, and activates it unless a version is pinned or the delivery says otherwise.
   *
   * @throws DocshelfError an archive or bundle code, `not_enough_space`, `cannot_write`, `pinned`.
   */
  async deliver(delivery: Delivery, signal: AbortSignal = this.#stopping.signal): Promise<Delivered> {
    const untilStopped = AbortSignal.any([signal, this.#stopping.signal]);
    const taken = await this.#intake.takeIn({ ...delivery, digest: null, linkDigest: null, signal: untilStopped });
    return { ...taken, activated: await this.#serveDelivered(taken, delivery.activate) };
  }

  /**
   * Does what `deliver` does with an archive that another process has taken in, while this one was starting.
   *
   * @returns whether it is served
   * @throws DocshelfError `version_not_found` where that version is no longer that release.
   */
  async takeUp({ version, digest }: ReleaseRef, activate: boolean): Promise<boolean> {
    if ((await this.#store.label(version))?.digest !== digest) {
      throw await versionNotFound(this.#store, version, digest);
    }
    return this.#serveDelivered({ version, digest }, activate);
  }

  /**
   * Takes in an archive that arrives as a stream: an upload, standard input.
   *
   * @throws DocshelfError as `deliver` does, and `source_too_large`.
   */
  async deliverStream(
    stream: AsyncIterable<Uint8Array>,
    delivery: Omit<Delivery, 'file'>,
    signal: AbortSignal = this.#stopping.signal,
  ): Promise<Delivered> {
    const untilStopped = AbortSignal.any([signal, this.#stopping.signal]);
    const staging = await createStaging(this.#store.paths);
    const file = join(staging, 'bundle');
    try {
      await spoolStream(stream, file, this.#settings.bundleBytesMax, untilStopped);
      return await this.deliver({ ...delivery, file }, untilStopped);
    } finally {
      await removeStaging(staging);
    }
  }

  /** Serves a stored version, and holds to it over restarts. @throws DocshelfError `pinned`, `version_not_found`. */
  async activate(version: string): Promise<ReleaseRef> {
    this.#refuseWhilePinned(`activate version "${version}"`, version);
    const pointer = await this.#store.label(version);
    if (pointer === null) throw await versionNotFound(this.#store, version, null);
    this.#refuseWhilePinned(`activate version "${version}"`, version);
    return this.#activateByOperator({ version, digest: pointer.digest }, false);
  }

  /** Goes back to what was active before; again, further back. @throws DocshelfError `pinned`, `no_version`. */
  async rollback(): Promise<ReleaseRef> {
    this.#refuseWhilePinned('roll back', null);
    const active = await this.#store.active();
    for (const former of active?.history ?? []) {
      if (former.digest === active?.digest && former.version === active.version) continue;
      if (!(await this.#store.has(former.digest))) continue;
      this.#refuseWhilePinned('roll back', null);
      return this.#activateByOperator(former, true);
    }
    throw new DocshelfError(
      'no_version',
      'Cannot roll back: no version that was active before this one is still stored',
      {
        next: 'List the stored versions with "docshelf bundle list" and activate one of them.',
      },
    );
  }

  /** Takes a stored version away. @throws DocshelfError `version_not_found`, `pinned`, `in_use`. */
  async remove(version: string): Promise<void> {
    const pointer = await this.#store.label(version);
    if (pointer === null) throw await versionNotFound(this.#store, version, null);
    if (version === this.#settings.version) {
      throw new DocshelfError('pinned', `Cannot remove version "${version}": staticExport.version pins it`, {
        next: 'Pin another version first.',
      });
    }
    await this.#activation.remove(version, pointer.digest);
    this.#journal.event({ kind: 'removed', version });
  }

  /** Notes in the status what failed around the deployment: an inbox file, a reload. */
  failed(step: string, error: unknown): void {
    this.#journal.failed(step, error);
  }

  get state(): DeployStatus['state'] {
    if (!this.#settings.enabled) return 'off';
    if (this.#activation.current === null) return 'waiting';
    return this.#settler.isMet ? 'ready' : 'stale';
  }

  get active(): DeployStatus['active'] {
    return this.#activation.current;
  }

  get lastError(): DeployStatus['lastError'] {
    return this.#journal.lastError;
  }

  get activity(): string | null {
    return this.#journal.activity;
  }

  get domain(): string {
    return this.#domain;
  }

  async status(): Promise<DeployStatus> {
    // The disk first: all that is read after it is of one moment.
    const versions = await storedVersions(this.#store);
    const notices = await noticesOf(this.#store, this.#settings, this.active);
    return {
      state: this.state,
      domain: this.#domain,
      active: this.active,
      pinned: this.#settings.version,
      versions,
      lastError: this.lastError,
      notices,
      activity: this.activity,
    };
  }

  async stop(): Promise<void> {
    this.#stopping.abort(new DocshelfError('stopping', 'Cannot go on: docshelf is stopping'));
    this.#renewLoop.stop();
    await this.#settler.stop();
    await this.#activation.stop();
    await this.#registration.withdraw();
  }

  /** Whether it is served then. */
  async #serveDelivered(release: ReleaseRef, activate: boolean): Promise<boolean> {
    const pin = this.#settings.version;
    if (pin === null && activate) {
      await this.#activation.serve(release, { by: 'delivery' });
      this.#settler.met();
    }
    // The pinned version may be what a daemon has been waiting for.
    if (pin === release.version && this.#activation.current?.digest !== release.digest) await this.#settler.settle();
    return pin === null ? activate : this.#activation.current?.digest === release.digest;
  }

  async #activateByOperator(release: ReleaseRef, isRollback: boolean): Promise<ReleaseRef> {
    await this.#activation.serve(release, { by: 'operator', isRollback });
    this.#settler.met();
    return { version: release.version, digest: release.digest };
  }

  #refuseWhilePinned(act: string, version: string | null): void {
    const pin = this.#settings.version;
    if (pin === null || pin === version) return;
    throw new DocshelfError('pinned', `Cannot ${act}: the config pins version "${pin}"`, {
      next: 'Change staticExport.version, or remove it, and the daemon follows by itself.',
    });
  }

  async #resolveDomain(settings: DeploySettings): Promise<void> {
    this.#domain = await settleFolderDomain(this.#store.paths, settings.domain, null);
  }
}
