import { dirname } from 'node:path';
import { FileWatch } from '../adapters/file-watch.ts';
import type { Logger } from '../adapters/log.ts';
import { type Config, ConfigError, type LoadedConfig } from '../config/index.ts';
import { type DeployEvent, type Deployment, Inbox } from '../deploy/index.ts';
import { type DocshelfError, toDocshelfError } from '../domain/errors.ts';
import type { FeatureReport } from '../domain/feature.ts';
import type { ReleaseView } from '../domain/release.ts';
import { accessLog } from '../http/access-log.ts';
import { type AdminOptions, createAdminApp } from '../http/admin.ts';
import { type Listener, openListener } from '../http/listener.ts';
import { Metrics } from '../http/metrics.ts';
import type { ServedRequest } from '../http/served-request.ts';
import { createSiteApp } from '../http/site.ts';
import type { LastReload, StatusReport } from '../http/status-report.ts';
import type { IndexedRelease, SearchStatus, SiteSearch } from '../search/index.ts';
import { SiteServer } from '../serve/index.ts';
import { logDeployEvent, logFailure, logSearchEvent } from './log-events.ts';
import { openSearch } from './open-search.ts';
import { openShelf, type Shelf } from './shelf.ts';
import { SiteSwitch } from './site-switch.ts';
import { deploySlice, featureReport, pendingRestart } from './slices.ts';

export interface DaemonOptions {
  readonly loaded: LoadedConfig;
  /** Reads the config anew, the way it was read at the start. */
  readonly reload: () => Promise<LoadedConfig>;
  readonly log: Logger;
  readonly programVersion: string;
  /** For a progress bar. */
  readonly onProgress: (event: DeployEvent & { kind: 'progress' }) => void;
}

export interface Daemon {
  readonly siteUrl: string;
  readonly adminUrl: string;
  reload(): Promise<LastReload>;
  /** Unready, then no new connections, then the requests in flight, then the rest. */
  stop(): Promise<void>;
}

/**
 * Starts the daemon. Both listeners are open before any bundle is looked at; from then on no fault of a bundle or of a
 * changed config ends it.
 *
 * @throws DocshelfError `port_taken`, `cannot_listen`, `cannot_write`, `config_invalid`, `data_folder_newer`.
 */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const daemon = new RunningDaemon(options, await prepare(options));
  await daemon.start();
  return daemon;
}

/** The admin listener ends last, so that probes see the daemon unready while it drains; who asks then gets a moment. */
const ADMIN_STOP_MS = 1_000;

interface Parts {
  readonly shelf: Shelf;
  readonly server: SiteServer;
  readonly site: SiteSwitch;
  readonly search: SiteSearch | null;
  readonly metrics: Metrics;
}

async function prepare({ loaded, log, onProgress }: DaemonOptions): Promise<Parts> {
  const { config } = loaded;
  const metrics = new Metrics();
  const server = new SiteServer(config.server, {
    onCache: (isHit) => metrics.onCache(isHit),
    onFault: (error, requestId) => logFailure(log, 'serve', error, requestId),
  });
  const site = new SiteSwitch(server, config.server.trailingSlash);
  const search = openSearch(config, (event) => logSearchEvent(log, event));
  const shelf = await openShelf(config, {
    search,
    prepareSwap: (active, older) => {
      const commit = site.prepare(active, older);
      return () => {
        commit();
        search?.follow(indexedRelease(active), active.version);
      };
    },
    onOff: () => {
      site.turnOff();
      search?.forget();
    },
    onEvent: (event) => {
      if (event.kind === 'progress') onProgress(event);
      logDeployEvent(log, event);
      metrics.onDeployEvent(event);
    },
  });
  return { shelf, server, site, search, metrics };
}

const SEARCH_OFF: SearchStatus = { keyword: 'off', semantic: 'off', sections: 0, embedded: 0 };

function indexedRelease({ digest, siteDir, trailingSlash }: ReleaseView): IndexedRelease {
  return { digest, releaseDir: dirname(siteDir), trailingSlash };
}

class RunningDaemon implements Daemon {
  readonly #options: DaemonOptions;
  readonly #parts: Parts;
  readonly #deployment: Deployment;
  readonly #watch: FileWatch;
  readonly #inbox: Inbox;
  readonly #startedAt = new Date().toISOString();
  /** What the listeners and the data folder were opened with; what differs from it waits for a restart. */
  readonly #opened: Config;
  #config: Config;
  #listeners: readonly Listener[] = [];
  #lastReload: LastReload | null = null;
  #reloading: Promise<unknown> = Promise.resolve();
  #isStopping = false;

  constructor(options: DaemonOptions, parts: Parts) {
    this.#options = options;
    this.#parts = parts;
    this.#opened = options.loaded.config;
    this.#config = options.loaded.config;
    this.#watch = new FileWatch(() => void this.reload());
    this.#deployment = parts.shelf.deployment;
    this.#inbox = new Inbox({ paths: parts.shelf.store.paths, deployment: this.#deployment });
  }

  get siteUrl(): string {
    return this.#listeners[0]?.url ?? '';
  }

  get adminUrl(): string {
    return this.#listeners[1]?.url ?? '';
  }

  async start(): Promise<void> {
    const { deployment } = this.#parts.shelf;
    try {
      await this.#listen();
      await deployment.announce(this.adminUrl);
      await this.#watch.start(this.#options.loaded.watchedFiles);
    } catch (error) {
      await this.stop();
      throw error;
    }
    this.#inbox.start();
    // Not awaited: a daemon that fetches for minutes answers from its first moment.
    void deployment.settle();
  }

  async reload(): Promise<LastReload> {
    const turn = this.#reloading.then(() => this.#takeConfig());
    this.#reloading = turn;
    const { result, mustSettle } = await turn;
    // Outside the turn: a newer config ends the work on this one.
    if (mustSettle) await this.#parts.shelf.deployment.settle();
    return result;
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#watch.stop();
    const deadlineMs = this.#config.server.shutdownTimeoutMs;
    const [site, admin] = this.#listeners;
    // Work on bundles is given up at once, while readers get their answers.
    await Promise.all([
      site?.stop(deadlineMs),
      this.#parts.shelf.close(),
      this.#inbox.stop(),
      this.#parts.search?.stop(),
    ]);
    await admin?.stop(ADMIN_STOP_MS);
  }

  async #listen(): Promise<void> {
    const { server, admin } = this.#opened;
    const { log } = this.#options;
    const { metrics } = this.#parts;
    const site = createSiteApp({
      server: this.#parts.server,
      status: () => ({ state: this.#deployment.state, reason: this.#reasonForReaders() }),
      features: () => this.#features(),
      onError: (error, requestId) => logFailure(log, 'site', error, requestId),
    });
    const adminApp = createAdminApp({
      token: () => this.#config.admin.token,
      readiness: () => this.#readiness(),
      state: () => this.#deployment.state,
      status: () => this.#status(),
      features: () => this.#features(),
      metrics,
      actions: this.#actions(),
      onError: (error, requestId) => logFailure(log, 'admin', error, requestId),
    });
    const logAccess = accessLog({
      write: (facts, message) => log.info(facts, message),
      trustedProxies: server.trustedProxies,
    });
    const onRequest = (served: ServedRequest): void => {
      metrics.onRequest(served);
      // Probes and scrapes come every few seconds and say nothing that the metrics do not.
      if (this.#config.log.access && served.listener !== 'admin') logAccess(served);
    };
    const onFault = (error: DocshelfError): void => logFailure(log, 'listen', error);
    const shared = { onRequest, onFault };
    const { host, port } = server;
    this.#listeners = [
      await openListener({ name: 'site', fetch: (request, env) => site.fetch(request, env), host, port, ...shared }),
    ];
    const adminListener = await openListener({
      name: 'admin',
      fetch: (request, env) => adminApp.fetch(request, env),
      host: admin.host,
      port: admin.port,
      ...shared,
    });
    this.#listeners = [...this.#listeners, adminListener];
  }

  #actions(): AdminOptions['actions'] {
    return {
      reload: () => this.reload(),
      activate: (version) => this.#deployment.activate(version),
      rollback: () => this.#deployment.rollback(),
      remove: (version) => this.#deployment.remove(version),
      upload: (fileName, body, { version, activate, signal }) =>
        this.#deployment.deliverStream(body, { fileName, version, activate, source: 'upload' }, signal),
    };
  }

  /** Takes the config as it is now. A faulty one changes nothing, and is said. */
  async #takeConfig(): Promise<{ result: LastReload; mustSettle: boolean }> {
    try {
      // Before the files are read: what changes while they are is another change.
      await this.#watch.remember();
      const loaded = await this.#options.reload();
      const { config } = loaded;
      await this.#deployment.accept(deploySlice(config));
      this.#parts.shelf.useNetwork(config);
      this.#parts.site.useTrailingSlash(config.server.trailingSlash);
      this.#options.log.level = config.log.level;
      this.#config = config;
      await this.#watch.start(loaded.watchedFiles);
      return { result: this.#reloaded(null), mustSettle: true };
    } catch (error) {
      // Every file that the faulty config names is watched: mending any of them is what is waited for.
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

  #features(): FeatureReport {
    return featureReport(this.#config, this.#deployment.domain);
  }

  async #status(): Promise<StatusReport> {
    const { state, domain, active, pinned, versions, lastError, notices, activity } = await this.#deployment.status();
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
      // Export jobs are not part of this version of docshelf.
      jobs: { queued: 0, running: 0 },
      notices,
      activity,
      startedAt: this.#startedAt,
      programVersion: this.#options.programVersion,
    };
  }
}
