import { Registry } from 'prom-client';
import type { DeployEvent } from '../../deploy/index.ts';
import { ARCHIVE_CODES, BUNDLE_CODES, type ErrorCode, SOURCE_CODES, toDocshelfError } from '../../domain/errors.ts';
import type { BundleSourceKind } from '../../domain/release.ts';
import { DEPLOY_STATES, type DeployState, type StatusReport } from '../../domain/status.ts';
import type { ServedRequest } from '../listener/served-request.ts';
import { addProcessMetrics, defineMetrics } from './metric-set.ts';

interface Readings {
  readonly state: DeployState;
  readonly isReady: boolean;
  /** Null where none are here, or countable now. */
  readonly jobs: ExportJobs | null;
}

export type ExportJobs = StatusReport['jobs'];

const JOB_RESULTS = ['completed', 'failed', 'canceled'] as const;
type JobResult = (typeof JOB_RESULTS)[number];

const REFUSED_BUNDLE: ReadonlySet<ErrorCode> = new Set([...ARCHIVE_CODES, ...BUNDLE_CODES]);
const FAILED_FETCH: ReadonlySet<ErrorCode> = new Set([...SOURCE_CODES, 'wrong_digest']);

export class Metrics {
  readonly #registry: Registry = new Registry();
  readonly #metrics = defineMetrics(this.#registry);

  constructor() {
    addProcessMetrics(this.#registry);
    // Series begin at 0: one that began with its first event would show no rate for it.
    for (const result of ['ok', 'failed']) {
      this.#metrics.fetches.inc({ result }, 0);
      this.#metrics.reloads.inc({ result }, 0);
    }
    this.#metrics.isConfigSound.set(1);
    for (const result of JOB_RESULTS) this.#metrics.jobsEnded.inc({ result }, 0);
  }

  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;

  async expose({ state, isReady, jobs }: Readings): Promise<string> {
    for (const each of DEPLOY_STATES) this.#metrics.state.set({ state: each }, each === state ? 1 : 0);
    this.#metrics.ready.set(isReady ? 1 : 0);
    this.#metrics.jobs.reset();
    for (const [status, count] of Object.entries(jobs ?? {})) this.#metrics.jobs.set({ status }, count);
    return this.#registry.metrics();
  }

  onRequest({ listener, status, bytes, durationMs }: ServedRequest): void {
    this.#metrics.requests.inc({ listener, class: `${Math.floor(status / 100)}xx` });
    this.#metrics.responseBytes.inc({ listener }, bytes);
    this.#metrics.requestSeconds.observe({ listener }, durationMs / 1000);
  }

  onCache(isHit: boolean): void {
    (isHit ? this.#metrics.cacheHits : this.#metrics.cacheMisses).inc();
  }

  onReload(ok: boolean): void {
    this.#metrics.reloads.inc({ result: ok ? 'ok' : 'failed' });
    this.#metrics.isConfigSound.set(ok ? 1 : 0);
    if (ok) this.#metrics.lastReloadSuccess.setToCurrentTime();
  }

  onJobEnded(result: JobResult): void {
    this.#metrics.jobsEnded.inc({ result });
  }

  onError(code: ErrorCode): void {
    this.#metrics.errors.inc({ code });
  }

  onBundleRefused(source: BundleSourceKind): void {
    this.#metrics.bundles.inc({ source, result: 'refused' });
  }

  onDeployEvent(event: DeployEvent): void {
    switch (event.kind) {
      case 'fetched':
        this.#metrics.fetches.inc({ result: 'ok' });
        this.#metrics.fetchedBytes.inc(event.bytes);
        return;
      case 'taken-in':
        this.#metrics.bundles.inc({ source: event.source, result: 'ok' });
        return;
      case 'activated':
        this.#metrics.activations.inc();
        this.#metrics.lastActivation.setToCurrentTime();
        this.#metrics.activeVersion.reset();
        this.#metrics.activeVersion.set({ version: event.version, digest: event.digest }, 1);
        return;
      case 'turned-off':
        this.#metrics.activeVersion.reset();
        return;
      case 'failed':
        this.#onFailure(event.step, toDocshelfError(event.error).code);
    }
  }

  #onFailure(step: string, code: ErrorCode): void {
    this.onError(code);
    if (FAILED_FETCH.has(code)) this.#metrics.fetches.inc({ result: 'failed' });
    else if (REFUSED_BUNDLE.has(code)) this.onBundleRefused(step === 'preload' || step === 'inbox' ? step : 'url');
  }
}

export function isBundleFault(code: ErrorCode): boolean {
  return REFUSED_BUNDLE.has(code);
}
