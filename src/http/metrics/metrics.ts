import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Counter, collectDefaultMetrics, Registry } from 'prom-client';
import type { DeployEvent } from '../../deploy/index.ts';
import { ARCHIVE_CODES, BUNDLE_CODES, type ErrorCode, isFetchFault } from '../../domain/errors.ts';
import type { BundleSourceKind } from '../../domain/release.ts';
import { type ActiveVersion, DEPLOY_STATES, type DeployState, type StatusReport } from '../../domain/status.ts';
import { type CountedRequest, defineMetrics, labelOf } from './metric-set.ts';

export interface Readings {
  /** States of the sites from memory, so that metrics stay available if the storage fails. */
  readonly states: readonly {
    readonly site: string | null;
    readonly state: DeployState;
    /** Active version of the site, or none. If `site` is null, contains the active versions of all sites. */
    readonly active?: readonly Pick<ActiveVersion, 'version' | 'digest' | 'activatedAt'>[];
    /** State of the search index. Absent if the search is off. */
    readonly search?: SearchReading | undefined;
    /** Expiry of the site's bundle link, in ms since 1970. Null if the site has no link, or its link does not expire. */
    readonly linkEndsAtMs?: number | null;
    readonly isFetchFailing?: boolean;
  }[];
  readonly isReady: boolean;
  /** Queued and running export jobs. Null if docshelf cannot count them now, for example because the database is unavailable. */
  readonly jobs: ExportJobs | null;
  /** Space on the volume of the data folder. Null if the system does not report it. */
  readonly volume: VolumeSpace | null;
  readonly dependencies: readonly { readonly dependency: string; readonly isUp: boolean }[];
  readonly certificates: readonly { readonly setting: string; readonly endsAtMs: number }[];
}

export interface SearchReading {
  readonly waiting: number;
  /** Time of the last build of the search index, in milliseconds since 1970. Null while the index does not exist. */
  readonly builtAtMs: number | null;
}

export interface VolumeSpace {
  readonly freeBytes: number;
  readonly sizeBytes: number;
}

export type ExportJobs = StatusReport['jobs'];

/** Sampling interval for the delay of the event loop. Readers do not notice shorter delays. */
const LOOP_TICK_MS = 50;

const JOB_RESULTS = ['completed', 'failed', 'canceled'] as const;
export class Metrics {
  readonly #registry: Registry = new Registry();
  readonly #metrics = defineMetrics(this.#registry);

  #namesSites = true;
  readonly #sites = new Map<string | null, SiteMetrics>();
  readonly #loopDelay = monitorEventLoopDelay({ resolution: LOOP_TICK_MS });

  constructor(programVersion: string | null = null) {
    collectDefaultMetrics({ register: this.#registry, eventLoopMonitoringPrecision: LOOP_TICK_MS });
    if (programVersion !== null) this.#metrics.buildInfo.set({ version: programVersion, node: process.version }, 1);
    this.#loopDelay.enable();
    // Start series at 0, because a series that starts with its first event shows no rate for this event.
    for (const result of ['ok', 'failed']) this.#metrics.reloads.inc({ result }, 0);
    this.#metrics.isConfigSound.set(1);
  }

  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;

  /** Adds the label `site` only if there are at most `metrics.sites` sites. */
  useConfig(config: { sites: readonly { domain: string }[]; metrics: { sites: number } }): void {
    const namesSites = config.sites.length <= config.metrics.sites;
    if (namesSites === this.#namesSites) return;
    this.#namesSites = namesSites;
    const { reloads: _, wrongTokens: __, ...ofSites } = this.#metrics;
    for (const metric of Object.values(ofSites)) if (metric instanceof Counter) metric.reset();
    const sites = [null, ...config.sites.map(({ domain }) => domain)];
    for (const site of sites) this.#sites.get(site)?.start(namesSites ? site : null);
  }

  forSite(site: string | null): SiteMetrics {
    const counts = new SiteMetrics(this.#metrics);
    this.#sites.set(site, counts);
    counts.start(this.#namesSites ? site : null);
    return counts;
  }

  async expose({ states, isReady, jobs, volume, dependencies, certificates }: Readings): Promise<string> {
    const { ofSites, dependencyUp } = this.#metrics;
    for (const gauge of [...Object.values(ofSites), dependencyUp]) gauge.reset();
    for (const { site, state, active = [], search, linkEndsAtMs = null, isFetchFailing = false } of states) {
      const { searchWaiting, searchBuilt, linkEnd, fetchFailing, activeVersion, lastActivation } = ofSites;
      const label = labelOf(site);
      for (const { version, digest } of active) activeVersion.set({ ...label, version, digest }, 1);
      const activatedMs = active.map(({ activatedAt }) => Date.parse(activatedAt));
      lastActivation.set(label, Math.max(0, ...activatedMs) / 1000);
      if (search !== undefined) searchWaiting.set(label, search.waiting);
      if (search?.builtAtMs != null) searchBuilt.set(label, search.builtAtMs / 1000);
      fetchFailing.set(label, isFetchFailing ? 1 : 0);
      if (linkEndsAtMs !== null) linkEnd.set(label, linkEndsAtMs / 1000);
      for (const each of DEPLOY_STATES) ofSites.state.set({ ...label, state: each }, each === state ? 1 : 0);
    }
    this.#metrics.ready.set(isReady ? 1 : 0);
    this.#metrics.jobs.reset();
    for (const [status, count] of Object.entries(jobs ?? {})) this.#metrics.jobs.set({ status }, count);
    if (volume !== null) {
      this.#metrics.volumeFree.set(volume.freeBytes);
      this.#metrics.volumeSize.set(volume.sizeBytes);
    }
    for (const { dependency, isUp } of dependencies) dependencyUp.set({ dependency }, isUp ? 1 : 0);
    this.#metrics.certificateEnd.reset();
    for (const { setting, endsAtMs } of certificates) this.#metrics.certificateEnd.set({ setting }, endsAtMs / 1000);
    // Subtract the sampling interval, because a sample is the whole time between two ticks of the event loop, not only the delay.
    this.#metrics.loopDelay.set(Math.max(0, this.#loopDelay.percentile(99) / 1e9 - LOOP_TICK_MS / 1000));
    this.#loopDelay.reset();
    return this.#registry.metrics();
  }

  onRequest({ site, listener, status, bytes, durationMs }: CountedRequest): void {
    const labels = { ...labelOf(this.#namesSites ? site : null), listener };
    this.#metrics.requests.inc({ ...labels, class: `${Math.floor(status / 100)}xx` });
    this.#metrics.responseBytes.inc(labels, bytes);
    this.#metrics.requestSeconds.observe({ listener }, durationMs / 1000);
  }

  onReload(ok: boolean): void {
    this.#metrics.reloads.inc({ result: ok ? 'ok' : 'failed' });
    this.#metrics.isConfigSound.set(ok ? 1 : 0);
    if (ok) this.#metrics.lastReloadSuccess.setToCurrentTime();
  }

  /** Starts the series of a site at 0. @param site null if there are too many sites for the label `site` */
  addExports(site: string | null): void {
    for (const result of JOB_RESULTS) this.#metrics.jobsEnded.inc({ ...labelOf(site), result }, 0);
  }

  onJobEnded(site: string | null, result: (typeof JOB_RESULTS)[number]): void {
    this.#metrics.jobsEnded.inc({ ...labelOf(site), result });
  }

  onWrongToken(): void {
    this.#metrics.wrongTokens.inc();
  }

  onWrongSignIn(): void {
    this.#metrics.wrongSignIns.inc();
  }

  onError(code: ErrorCode): void {
    this.#metrics.errors.inc({ code });
  }
}

const SEARCH_RESULTS = ['found', 'none', 'failed'] as const;

interface CountedSearch {
  readonly result: (typeof SEARCH_RESULTS)[number];
  readonly isCorrected: boolean;
  readonly seconds: number;
}

const REFUSED_BUNDLE: ReadonlySet<ErrorCode> = new Set([...ARCHIVE_CODES, ...BUNDLE_CODES]);

export class SiteMetrics {
  readonly #metrics: ReturnType<typeof defineMetrics>;
  #label: { readonly site?: string } = {};

  constructor(metrics: ReturnType<typeof defineMetrics>) {
    this.#metrics = metrics;
  }

  /** Starts the series at 0. @param site null if there are too many sites for the label `site` */
  start(site: string | null): void {
    this.#label = labelOf(site);
    for (const result of ['ok', 'failed']) this.#metrics.fetches.inc({ ...this.#label, result }, 0);
    for (const result of SEARCH_RESULTS) this.#metrics.searches.inc({ ...this.#label, result }, 0);
    const { cacheHits, cacheMisses, fetchedBytes, activations, wrongSignIns, searchCorrections } = this.#metrics;
    const counters = [cacheHits, cacheMisses, fetchedBytes, activations, wrongSignIns, searchCorrections];
    for (const counter of counters) counter.inc(this.#label, 0);
  }

  onCache(isHit: boolean): void {
    (isHit ? this.#metrics.cacheHits : this.#metrics.cacheMisses).inc(this.#label);
  }

  onSearch({ result, isCorrected, seconds }: CountedSearch): void {
    this.#metrics.searches.inc({ ...this.#label, result });
    if (isCorrected) this.#metrics.searchCorrections.inc(this.#label);
    if (result !== 'failed') this.#metrics.searchSeconds.observe(seconds);
  }

  onWrongSignIn(): void {
    this.#metrics.wrongSignIns.inc(this.#label);
  }

  onPageReport(origin: string): void {
    this.#metrics.pageReports.inc({ ...this.#label, origin });
  }

  onError(code: ErrorCode): void {
    this.#metrics.errors.inc({ ...this.#label, code });
  }

  onBundleRefused(source: BundleSourceKind): void {
    this.#metrics.bundles.inc({ ...this.#label, source, result: 'refused' });
  }

  onDeployEvent(event: DeployEvent): void {
    switch (event.kind) {
      case 'fetched':
        this.#metrics.fetches.inc({ ...this.#label, result: 'ok' });
        this.#metrics.fetchedBytes.inc(this.#label, event.bytes);
        return;
      case 'taken-in':
        this.#metrics.bundles.inc({ ...this.#label, source: event.source, result: 'ok' });
        return;
      case 'activated':
        this.#metrics.activations.inc(this.#label);
        return;
      case 'failed':
        this.#onFailure(event.step, event.error.code);
    }
  }

  #onFailure(step: string, code: ErrorCode): void {
    this.onError(code);
    if (isFetchFault(code)) this.#metrics.fetches.inc({ ...this.#label, result: 'failed' });
    else if (REFUSED_BUNDLE.has(code)) this.onBundleRefused(step === 'preload' || step === 'inbox' ? step : 'url');
  }
}

export const isBundleFault = (code: ErrorCode): boolean => REFUSED_BUNDLE.has(code);
