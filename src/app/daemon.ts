import { type Config, ConfigError, type LoadedConfig, pendingRestart } from '../config/index.ts';
import { type DeployEvent, type Deployment, Inbox } from '../deploy/index.ts';
import { toDocshelfError } from '../domain/errors.ts';
import type { FeatureReport } from '../domain/feature.ts';
import type { LastReload, StatusReport } from '../domain/status.ts';
import type { AdminOptions } from '../http/admin/app.ts';
import type { ExportJobs } from '../http/metrics/metrics.ts';
import type { SearchStatus } from '../search/index.ts';
import { FileWatch } from './file-watch.ts';
import { type Listeners, openListeners } from './listeners.ts';
import type { Logger } from './log.ts';
import { logFailure } from './log-events.ts';
import type { Exports } from './open-exports.ts';
import { ReaderSearch } from './reader-search.ts';
import { openSiteParts, type SiteParts, snapshotForm } from './site-parts.ts';
import { deploySlice, featureReport } from './slices.ts';

export interface DaemonOptions {
  readonly loaded: LoadedConfig;
  readonly reload: () => Promise<LoadedConfig>;
  readonly log: Logger;
  readonly programVersion: string;
  readonly onProgress: (event: DeployEvent & { kind: 'progress' }) => void;
}

/**
 * Once the listeners are open, no fault of a bundle or of a changed config ends it.
 * @throws DocshelfError `port_taken`, `cannot_listen`, `cannot_write`, `config_invalid`, `data_folder_newer`
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const parts = await openSiteParts(options.loaded.config, options.log, options.onProgress);
  const daemon = new Daemon(options, parts);
  await daemon.start();
  return daemon;
}

/** The admin listener ends last: probes see the daemon unready while it drains. */
const ADMIN_STOP_MS = 1_000;

const NO_JOBS: ExportJobs = { queued: 0, running: 0 };
const SEARCH_OFF: SearchStatus = { keyword: 'off', semantic: 'off', sections: 0, embedded: 0 };

class Daemon {
  readonly #options: DaemonOptions;
  readonly #parts: SiteParts;
  readonly #deployment: Deployment;
  readonly #watch: FileWatch;
  readonly #inbox: Inbox;
  readonly #startedAt = new Date().toISOString();
  /** Config at the start; what differs from it waits for a restart. */
  readonly #opened: Config;
  #config: Config;
  readonly #exports: PromiseWithResolvers<Exports> | null;
  #listeners: Listeners | null = null;
  #lastReload: LastReload | null = null;
  #reloading: Promise<unknown> = Promise.resolve();
  #isStopping = false;

  constructor(options: DaemonOptions, parts: SiteParts) {
    this.#options = options;
    this.#parts = parts;
    this.#opened = options.loaded.config;
    this.#config = options.loaded.config;
    this.#exports = this.#config.exportApi.enabled ? Promise.withResolvers<Exports>() : null;
    // The start tells of a failure.
    this.#exports?.promise.catch(() => undefined);
    this.#watch = new FileWatch(() => void this.reload());
    this.#deployment = parts.shelf.deployment;
    this.#inbox = new Inbox({ paths: parts.shelf.store.paths, deployment: this.#deployment });
  }

  get siteUrl(): string {
    return this.#listeners?.site.url ?? '';
  }

  get adminUrl(): string {
    return this.#listeners?.admin.url ?? '';
  }

  /** Null where neither search nor the export API is on. */
  get apiUrl(): string | null {
    return this.#listeners?.api?.url ?? null;
  }

  async start(): Promise<void> {
    const { deployment, registration } = this.#parts.shelf;
    try {
      this.#listeners = await this.#listen();
      await this.#openExports();
      await registration.announce(this.adminUrl, this.#listeners.commands?.socket ?? null);
      await this.#watch.start(this.#options.loaded.watchedFiles);
    } catch (error) {
      this.#exports?.reject(error);
      await this.stop();
      throw error;
    }
    this.#inbox.start();
    // Not awaited: a daemon that fetches for minutes answers from its first moment.
    void deployment.settle();
  }

  async #openExports(): Promise<void> {
    if (this.#exports === null) return;
    const { log, programVersion } = this.#options;
    const { openExports } = await import('./open-exports.ts');
    const exports = await openExports({
      config: this.#opened,
      current: () => this.#config,
      publicUrl: () => this.#config.api.publicUrl ?? this.apiUrl ?? '',
      network: this.#parts.network,
      metrics: this.#parts.metrics,
      log,
      programVersion,
    });
    this.#exports.resolve(exports);
  }

  async reload(): Promise<LastReload> {
    const turn = this.#reloading.then(() => this.#takeConfig());
    this.#reloading = turn;
    const { result, mustSettle } = await turn;
    // Outside the turn: a newer config ends the work on this one.
    if (mustSettle) await this.#parts.shelf.deployment.settle();
    return result;
  }

  get shutdownTimeoutMs(): number {
    return this.#config.server.shutdownTimeoutMs;
  }

  /** Unready, then no new connections, then requests in flight, then the rest. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#watch.stop();
    const deadlineMs = this.#config.server.shutdownTimeoutMs;
    // What comes after the last request must end within the deadline, too.
    const requestsMs = deadlineMs - Math.min(ADMIN_STOP_MS, deadlineMs / 4);
    const { shelf, search, network } = this.#parts;
    // Work on bundles is given up at once; readers get their answers.
    await Promise.all([
      this.#listeners?.site.stop(requestsMs),
      this.#listeners?.api?.stop(requestsMs),
      this.#listeners?.commands?.listener.stop(requestsMs),
      shelf.deployment.stop().then(() => shelf.registration.withdraw()),
      this.#inbox.stop(),
      this.#exports?.promise.then(
        (exports) => exports.stop(),
        () => undefined,
      ),
    ]);
    await Promise.all([search?.stop(), network.close(), this.#listeners?.flush()]);
    await this.#listeners?.admin.stop(ADMIN_STOP_MS);
  }

  #listen(): Promise<Listeners> {
    const { log, programVersion } = this.#options;
    const { metrics, server, search, network } = this.#parts;
    const features = (): FeatureReport => this.#features();
    const current = (): Config => this.#config;
    const onFault = (error: unknown): void => logFailure(log, 'search', error);
    return openListeners({
      config: this.#opened,
      current,
      domain: () => this.#deployment.domain,
      site: {
        server,
        status: () => ({ state: this.#deployment.state, reason: this.#reasonForReaders() }),
        features,
      },
      admin: {
        token: () => this.#config.admin.token,
        readiness: () => this.#readiness(),
        state: () => this.#deployment.state,
        status: () => this.#status(),
        features,
        jobs: () => this.#jobs(),
        actions: this.#actions(),
      },
      exports: this.#exports?.promise ?? null,
      search: search && new ReaderSearch({ local: search, config: current, features, network, onFault }),
      metrics,
      log,
      programVersion,
    });
  }

  #actions(): AdminOptions['actions'] {
    return {
      reload: () => this.reload(),
      activate: (version) => this.#deployment.activate(version),
      rollback: () => this.#deployment.rollback(),
      remove: (version) => this.#deployment.remove(version),
      upload: (fileName, body, { version, activate, signature, source, signal }) =>
        this.#deployment.deliverStream(body, { fileName, version, activate, signature, source }, signal),
      takeUp: (release, activate) => this.#deployment.takeUp(release, activate),
    };
  }

  /** A faulty config changes nothing. */
  async #takeConfig(): Promise<{ result: LastReload; mustSettle: boolean }> {
    try {
      // Before the files are read: a change while they are is another one.
      await this.#watch.remember();
      const loaded = await this.#options.reload();
      const { config } = loaded;
      await this.#deployment.accept(deploySlice(config));
      this.#parts.network.useConfig(config);
      this.#parts.site.use(snapshotForm(config));
      this.#options.log.level = config.log.level;
      this.#config = config;
      await this.#watch.start(loaded.watchedFiles);
      return { result: this.#reloaded(null), mustSettle: true };
    } catch (error) {
      // Mending any file that the faulty config names is waited for.
      if (error instanceof ConfigError) await this.#watch.start(error.watchedFiles);
      this.#deployment.failed('reload', error);
      return { result: this.#reloaded(toDocshelfError(error).message), mustSettle: false };
    }
  }

  #reloaded(error: string | null): LastReload {
    this.#lastReload = { at: new Date().toISOString(), ok: error === null, error };
    this.#parts.metrics.onReload(error === null);
    if (error === null) this.#options.log.info({ event: 'reloaded' }, 'took the config anew');
    return this.#lastReload;
  }

  #reloadNotices(): string[] {
    const error = this.#lastReload?.error ?? null;
    return error === null
      ? []
      : [`The config as it is now was refused, and the next restart will not come up: ${error}`];
  }

  #readiness(): { ready: boolean; reason: string | null } {
    if (this.#isStopping) return { ready: false, reason: 'stopping' };
    const { state } = this.#deployment;
    return { ready: state !== 'waiting', reason: state === 'waiting' ? this.#reasonForReaders() : null };
  }

  #reasonForReaders(): string | null {
    if (this.#deployment.state === 'off') return null;
    const { lastError, activity } = this.#deployment;
    return activity === null ? (lastError?.message ?? null) : `docshelf is ${activity}.`;
  }

  async #jobs(): Promise<ExportJobs> {
    const exports = await this.#exports?.promise;
    return exports === undefined ? NO_JOBS : exports.counts();
  }

  #features(): FeatureReport {
    return featureReport(this.#config, this.#deployment.domain);
  }

  async #status(): Promise<StatusReport> {
    const jobs = await this.#jobs().catch(() => NO_JOBS);
    const { domain, pinned, versions, notices } = await this.#deployment.status();
    // Read together: a failed reload is never seen without its error.
    const { state, active, lastError, activity } = this.#deployment;
    return {
      state,
      deployment: { type: this.#config.deployment.type, domain },
      active,
      pinned,
      versions,
      lastReload: this.#lastReload,
      lastError,
      pending: pendingRestart(this.#opened, this.#config),
      search: this.#parts.search?.status ?? SEARCH_OFF,
      jobs,
      notices: [...this.#reloadNotices(), ...notices],
      activity,
      startedAt: this.#startedAt,
      programVersion: this.#options.programVersion,
    };
  }
}
