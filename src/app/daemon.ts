import { statfs } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Config,
  ConfigError,
  emptyConfigError,
  isReduced,
  type LoadedConfig,
  type LoadOptions,
  loadConfig,
} from '../config/index.ts';
import { adoptDefaultDomain, type DeployEvent, folderName, identityOf, settleListedDomains } from '../deploy/index.ts';
import { DocshelfError, toDocshelfError } from '../domain/errors.ts';
import type { LastReload, StatusReport } from '../domain/status.ts';
import type { AdminActions } from '../http/admin/actions.ts';
import { AuditFile, AuditTrail } from '../http/audit/audit.ts';
import { JobDesk } from '../http/job-desk.ts';
import { type ExportJobs, Metrics, type VolumeSpace } from '../http/metrics/metrics.ts';
import { SiteAssets } from '../http/site/site-assets.ts';
import { BodyCache } from '../site/index.ts';
import { Dependencies, inTime } from './dependencies.ts';
import { FileWatch } from './file-watch.ts';
import { openKeyStore, ServiceKeys } from './keys/service-keys.ts';
import { type Listeners, openListeners } from './listeners.ts';
import type { Logger } from './log/log.ts';
import { logAudit, logFailure } from './log/log-events.ts';
import { Network, openDatabase } from './network.ts';
import type { Exports } from './open-exports.ts';
import { openSearch } from './open-search.ts';
import { openTraces } from './open-traces.ts';
import { OwnExportDesk } from './own-exports.ts';
import { openFolder } from './sites/open-shelf.ts';
import { OpenVersions } from './sites/readable-versions.ts';
import { ShelfPageAnswer } from './sites/shelf-page.ts';
import { SignIns } from './sites/sign-ins.ts';
import { Sites } from './sites/sites.ts';
import { daemonFeatures, daemonStatus, observedSite, siteActions, siteStates } from './sites/status.ts';
import { organizationsSlice } from './slices.ts';
import { certificateNotices, presentedCertificates } from './tls.ts';

export interface DaemonOptions {
  /** Config at the start. Settings that need a restart keep the values of this config. */
  readonly loaded: LoadedConfig;
  /** Options with which the daemon loaded its config at the start. A reload uses the same options. */
  readonly sources: LoadOptions;
  readonly log: Logger;
  readonly logRequest: (fields: () => string) => void;
  readonly programVersion: string;
  readonly onProgress: (event: DeployEvent & { kind: 'progress' }) => void;
}

type DaemonParts = Awaited<ReturnType<typeof openParts>>;

/** Time limit to stop the admin listener. It stops after the other listeners, so that probes can see that the daemon is not ready. */
const ADMIN_STOP_MS = 1_000;

/**
 * Delay before docshelf reads the config again if sites or settings of the previous config are missing. A program may still be
 * writing the file.
 */
const CONFIRM_MS = 3_000;

const NO_JOBS: ExportJobs = { queued: 0, running: 0 };

class Daemon {
  readonly #options: DaemonOptions;
  readonly #parts: DaemonParts;
  readonly #watch: FileWatch;
  readonly #startedAt = new Date().toISOString();
  readonly #dependencies: Dependencies;
  #openedExports: Exports | null = null;
  #listeners: Listeners | null = null;
  #lastReload: LastReload | null = null;
  #reloading: Promise<unknown> = Promise.resolve();
  /**
   * Phase of the daemon. With several sites, `starting` ends when each site has tried once to serve a version, or after
   * `server.readyAfter`.
   */
  #phase: 'starting' | 'running' | 'stopping';
  /** Resolves when each site has finished its first attempt to serve a version. */
  firstAttempt: Promise<void> = Promise.resolve();

  constructor(options: DaemonOptions, parts: DaemonParts) {
    this.#options = options;
    this.#parts = parts;
    this.#phase = parts.sites.isList ? 'starting' : 'running';
    this.#dependencies = new Dependencies({
      database: () => parts.database?.check() ?? null,
      bucket: () => this.#openedExports?.checkBucket?.() ?? null,
    });
    this.#watch = new FileWatch(() => void this.reload());
  }

  get siteUrl(): string {
    return this.#listeners?.site.url ?? '';
  }

  get adminUrl(): string {
    return this.#listeners?.admin.url ?? '';
  }

  get apiUrl(): string | null {
    return this.#listeners?.api?.url ?? null;
  }

  get sitePort(): number {
    return this.#listeners?.site.port ?? this.#config.server.port;
  }

  get #config(): Config {
    return this.#parts.current();
  }

  async start(): Promise<void> {
    const { sites, folder } = this.#parts;
    try {
      this.#listeners = await this.#listen();
      const { site, admin, api, redirects } = this.#listeners;
      const ports = [site, admin, api, ...redirects].flatMap((listener) => listener?.port ?? []);
      this.#parts.network.useOwnPorts(ports);
      await this.#openExports();
      const { file, text, watchedFiles } = this.#options.loaded;
      await folder.registration.announce(this.adminUrl, this.#listeners.commands?.socket ?? null, ports, file);
      await this.#watch.start(watchedFiles, file && text ? { file, text: text.reveal() } : undefined);
    } catch (error) {
      this.#parts.exports?.reject(error);
      await this.stop();
      throw error;
    }
    const { readyAfterMs } = this.#config.server;
    const begun = (): void => {
      if (this.#phase === 'starting') this.#phase = 'running';
    };
    // Do not wait for the sites' first fetches, because the daemon must respond even if a fetch takes minutes.
    this.firstAttempt = sites.settle().then(begun);
    setTimeout(begun, readyAfterMs).unref();
  }

  async #openExports(): Promise<void> {
    if (this.#parts.exports === null) return;
    const { log, programVersion } = this.#options;
    const { openExports } = await import('./open-exports.ts');
    const exports = await openExports({
      config: this.#options.loaded.config,
      publicUrl: () => this.#config.api.publicUrl ?? this.apiUrl ?? '',
      ...this.#parts,
      onCompleted: () => this.#parts.ownExports.look(),
      log,
      programVersion,
    });
    this.#openedExports = exports;
    this.#parts.exports.resolve(exports);
  }

  async reload(): Promise<LastReload> {
    const turn = this.#reloading.then(() => this.#takeConfig());
    this.#reloading = turn;
    const result = await turn;
    // Apply the new settings to the sites outside the queue of reloads, so that a later reload can start and cancel this work.
    if (result.ok) await this.#parts.sites.settle();
    return result;
  }

  get shutdownTimeoutMs(): number {
    return this.#config.server.shutdownTimeoutMs;
  }

  async stop(): Promise<void> {
    this.#phase = 'stopping';
    this.#watch.stop();
    const deadlineMs = this.#config.server.shutdownTimeoutMs;
    const requestsMs = deadlineMs - Math.min(ADMIN_STOP_MS, deadlineMs / 4);
    const { sites, search, folder, network, signIns, keys } = this.#parts;
    // End imports and fetches immediately, but complete the responses to open requests.
    await this.#end([
      this.#listeners?.site.stop(requestsMs),
      this.#listeners?.api?.stop(requestsMs),
      this.#listeners?.commands?.listener.stop(requestsMs),
      ...(this.#listeners?.redirects ?? []).map((listener) => listener.stop(requestsMs)),
      this.#end([sites.stop()]).then(() => folder.registration.withdraw()),
      this.#parts.ownExports.stop(),
      this.#openedExports?.stop(),
    ]);
    await this.#end([this.#parts.traces.stop()]);
    await this.#end([search.stop(), signIns.end(), network.close(), keys.stop()]);
    await this.#end([(async () => this.#listeners?.closeRates())()]);
    await this.#end([this.#parts.database?.close(), this.#listeners?.admin.stop(ADMIN_STOP_MS)]);
  }

  /**
   * Waits until all given parts of the daemon end. Logs errors instead of throwing them: if one error ended the stop, an open
   * listener would keep the process alive.
   */
  async #end(parts: readonly (Promise<unknown> | undefined)[]): Promise<void> {
    for (const ended of await Promise.allSettled(parts))
      if (ended.status === 'rejected') logFailure(this.#options.log, 'stop', ended.reason);
  }

  #listen(): Promise<Listeners> {
    const { log, logRequest, programVersion } = this.#options;
    const { sites, keys, audit, folder } = this.#parts;
    const exports = this.#parts.exports?.promise ?? null;
    const actions: AdminActions = {
      reload: () => this.reload(),
      site: (domain) => siteActions(sites.chosen(domain), this.sitePort),
      keys: keys.actions,
      jobs: new JobDesk({
        service: async () => (await exports)?.service ?? null,
        organizations: () => organizationsSlice(this.#config),
      }),
    };
    return openListeners({
      ...this.#parts,
      config: this.#options.loaded.config,
      admin: {
        token: () => this.#config.admin.token,
        hosts: () => this.#config.admin.hosts,
        readiness: () => this.#readiness(),
        status: () => this.#status(),
        observe: (domain) => observedSite(sites.chosen(domain), this.sitePort),
        features: () => daemonFeatures(sites, this.#config.deployment.type),
        readings: async () => ({
          states: siteStates(sites, this.#config.metrics.sites),
          isReady: this.#readiness().ready,
          jobs: await this.#jobs(),
          volume: await readVolume(this.#options.loaded.config.storage.dir),
          certificates: presentedCertificates(this.#config),
          dependencies: await this.#dependencies.read(),
        }),
        audit,
        folder: async () => {
          const found = await identityOf(folder.paths);
          return found && folderName(found);
        },
        lastGood: () => this.#parts.accepted.loaded.text,
        revisions: {
          changes: () => `${keys.revision()} ${audit.count}`,
          jobs: async () => (await (await exports)?.service?.revision()) ?? '',
        },
        service: () => ({ organizations: keys.organizations, apiUrl: this.#config.api.publicUrl ?? this.apiUrl }),
        actions,
      },
      exports,
      log,
      logRequest,
      programVersion,
    });
  }

  async #takeConfig(): Promise<LastReload> {
    const { sites, accepted, metrics } = this.#parts;
    try {
      const loaded = await this.#readConfig();
      const { config } = loaded;
      // If the config changes from a single site to a list or back, keep the current sites, because this change needs a restart.
      if (config.sites.length > 0 === sites.isList) await sites.accept(loaded.sites);
      accepted.loaded = loaded;
      metrics.useConfig(config);
      this.#listeners?.useConfig(config);
      this.#options.log.level = config.log.level;
      await this.#watch.start(loaded.watchedFiles);
      return this.#reloaded(null);
    } catch (error) {
      if (error instanceof ConfigError) await this.#watch.start(error.watchedFiles);
      sites.reloadFailed(error);
      return this.#reloaded(toDocshelfError(error).message);
    }
  }

  /**
   * Reads the config. While sites or settings of the previous config are missing, waits and reads again, because a program may
   * still be writing a file.
   * @throws ConfigError
   */
  async #readConfig(): Promise<LoadedConfig> {
    for (;;) {
      const contents = await this.#watch.remember();
      const loaded = await loadConfig(this.#options.sources);
      const former = this.#parts.accepted.loaded;
      const { file, watchedFiles, written } = former;
      if (loaded.written.size === 0 && written.size > 0) throw emptyConfigError(loaded.file && file, watchedFiles);
      if (!isReduced(former, loaded)) return loaded;
      await sleep(CONFIRM_MS, undefined, { ref: false });
      if (this.#phase === 'stopping') throw new DocshelfError('stopping', 'Cannot reload: the daemon is stopping');
      if ((await this.#watch.remember()) === contents) return loaded;
    }
  }

  #reloaded(error: string | null): LastReload {
    this.#lastReload = { at: new Date().toISOString(), ok: error === null, error };
    this.#parts.metrics.onReload(error === null);
    if (error === null) this.#options.log.info({ event: 'reloaded' }, 'reloaded the config');
    return this.#lastReload;
  }

  #readiness(): { ready: boolean; reason: string | null } {
    if (this.#phase === 'stopping') return { ready: false, reason: 'stopping' };
    const { sites } = this.#parts;
    const isServing = sites.state !== 'waiting' || sites.all.some(({ deployment }) => deployment.active !== null);
    if (!isServing) return { ready: false, reason: sites.only?.reasonNotReady() ?? 'no site is being served yet' };
    const mustWait = this.#phase === 'starting' && sites.state !== 'off';
    return { ready: !mustWait, reason: mustWait ? 'some sites have not yet tried to load their version' : null };
  }

  async #jobs(): Promise<ExportJobs | null> {
    const counts = async () => (await this.#parts.exports?.promise)?.counts() ?? NO_JOBS;
    return inTime(counts()).catch(() => null);
  }

  async #status(): Promise<StatusReport> {
    return daemonStatus(this.#parts.sites, {
      notices: [
        ...volumeNotices(await readVolume(this.#options.loaded.config.storage.dir), this.#config),
        ...certificateNotices(this.#config, Date.now()),
        ...(await this.#dependencies.notices()),
        ...this.#parts.keys.notices,
        ...(this.#openedExports?.notices ?? []),
      ],
      opened: this.#options.loaded,
      current: this.#parts.accepted.loaded,
      lastReload: this.#lastReload,
      apiHasSearch: this.#parts.apiHasSearch,
      jobs: (await this.#jobs()) ?? NO_JOBS,
      startedAt: this.#startedAt,
      programVersion: this.#options.programVersion,
    });
  }
}

/** @throws DocshelfError `port_taken`, `cannot_listen`, `cannot_write`, `config_invalid`, `data_folder_newer`, `database_unfit` */
export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  const parts = await openParts(options, () => daemon.sitePort);
  const daemon = new Daemon(options, parts);
  await daemon.start();
  return daemon;
}

async function openParts(options: DaemonOptions, sitePort: () => number) {
  const { loaded, log, onProgress } = options;
  const accepted = { loaded };
  const current = (): Config => accepted.loaded.config;
  const network = new Network(current);
  const database = await openDatabase(loaded.config, network, (error) => logFailure(log, 'database', error));
  const metrics = new Metrics(options.programVersion);
  metrics.useConfig(loaded.config);
  const traces = await openTraces(loaded.config, network, log, options.programVersion);
  const search = openSearch(loaded.config, network);
  const exports = loaded.config.exportApi.enabled ? Promise.withResolvers<Exports>() : null;
  const ownExports = new OwnExportDesk({
    service: exports?.promise.then(({ service }) => service).catch(() => null) ?? Promise.resolve(null),
    config: current,
    onNewer: (domain) => sites.find(domain)?.deployment.exportCompleted(),
  });
  const folder = await openFolder(loaded.config, network, ownExports);
  const store = await openKeyStore({
    database,
    dir: folder.paths.dir,
    onFault: (error) => logFailure(log, 'keys', error),
  });
  const audit = new AuditTrail(
    new AuditFile({ dir: folder.paths.dir, onFault: (error) => logFailure(log, 'audit', error) }),
    (line) => logAudit(log, line),
  );
  const bodies = new BodyCache(loaded.config.server.cacheBytes);
  const signIns = new SignIns(network);
  const versions = new OpenVersions();
  const isList = loaded.config.sites.length > 0;
  const assets = new SiteAssets();
  const sites: Sites = new Sites({
    isList,
    settleDomains: async (domains) => {
      const { inbox } = folder.paths;
      const left = await settleListedDomains(folder.paths, domains).catch((error: unknown) => {
        logFailure(log, 'open', error);
        return [];
      });
      return left.map(
        (name) =>
          `No site imports the archive "${name}" from "${inbox}". Move it into the inbox of a site, "sites/DOMAIN/inbox".`,
      );
    },
    hostOf: (domain) => ({
      network,
      tracer: traces.tracer,
      search,
      folder,
      bodies,
      versions,
      signIns,
      assets,
      shelfScope: (site) => shelf.scopeOf(site),
      metrics: metrics.forSite(domain),
      log: domain === null ? log : log.child({ site: domain }),
      programVersion: options.programVersion,
      onProgress,
    }),
    elsewhere: (request, env) => shelf.answer(request, env),
  });
  const shelf = new ShelfPageAnswer({
    sites,
    current,
    port: sitePort,
    signIns,
    assets,
    metrics,
    onError: (error, requestId) => logFailure(log, 'shelf', error, requestId),
  });
  const listed = loaded.config.sites.map(({ domain }) => domain);
  if (isList) await adoptDefaultDomain(folder.paths, listed);
  await sites.accept(loaded.sites);
  return {
    /** Config of the start or of the last successful reload. */
    accepted,
    current,
    network,
    database,
    metrics,
    traces,
    search,
    folder,
    sites,
    /** True if a site had search when the daemon started. Otherwise, the API offers no search until the daemon restarts. */
    apiHasSearch: sites.haveSearch,
    keys: new ServiceKeys({ store, current, sites }),
    audit,
    signIns,
    exports,
    ownExports,
  };
}

/** Minimum free share of the data folder's volume. Below it, the status shows a notice, and the Helm chart raises an alert. */
const FREE_SHARE_MIN = 0.1;

export async function readVolume(dir: string): Promise<VolumeSpace | null> {
  const found = await statfs(dir).catch(() => null);
  return found && { freeBytes: found.bavail * found.bsize, sizeBytes: found.blocks * found.bsize };
}

export function volumeNotices(volume: VolumeSpace | null, { exportApi }: Pick<Config, 'exportApi'>): string[] {
  if (volume === null || volume.freeBytes >= FREE_SHARE_MIN * volume.sizeBytes) return [];
  const [free, size] = [volume.freeBytes, volume.sizeBytes].map((bytes) => `${Math.floor(bytes / 1024 ** 2)} MiB`);
  const advice = exportApi.enabled
    ? 'To remove old exports automatically, set exportApi.retention. Otherwise, enlarge the volume.'
    : 'Lower staticExport.keep, or enlarge the volume.';
  return [`The volume of storage.dir has ${free} free of ${size}. ${advice}`];
}
