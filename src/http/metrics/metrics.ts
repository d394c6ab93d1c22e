import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Registry } from 'prom-client';
import type { ErrorCode } from '../../domain/errors.ts';
import { DEPLOY_STATES, type DeployState, type StatusReport } from '../../domain/status.ts';
import { addProcessMetrics, defineMetrics } from './metric-set.ts';
import type { CountedRequest } from './request-metrics.ts';
import { SiteMetrics } from './site-metrics.ts';

export interface Readings {
  /** Of each site that has a label of its own; `site: null` in the single form. */
  readonly states: readonly { readonly site: string | null; readonly state: DeployState }[];
  readonly isReady: boolean;
  /** Null where none are here, or countable now. */
  readonly jobs: ExportJobs | null;
  /** Of the data folder; null where the system does not tell. */
  readonly volume: VolumeSpace | null;
  /** Null where one process serves alone. */
  readonly certificates?: readonly { readonly setting: string; readonly endsAtMs: number }[];
}

export interface VolumeSpace {
  readonly freeBytes: number;
  readonly sizeBytes: number;
}

export type ExportJobs = StatusReport['jobs'];

/** Twenty ticks a second are no load, and a delay that readers notice is longer. */
const LOOP_TICK_MS = 50;

const JOB_RESULTS = ['completed', 'failed', 'canceled'] as const;
type JobResult = (typeof JOB_RESULTS)[number];

export class Metrics {
  readonly #registry: Registry = new Registry();
  readonly #metrics = defineMetrics(this.#registry);

  readonly #namesSites: () => boolean;
  readonly #loopDelay = monitorEventLoopDelay({ resolution: LOOP_TICK_MS });

  /** @param namesSites false: no series has the label `site`, of which there would be too many */
  constructor(namesSites: () => boolean = () => true) {
    this.#namesSites = namesSites;
    addProcessMetrics(this.#registry);
    this.#loopDelay.enable();
    // Series begin at 0: one that began with its first event would show no rate for it.
    for (const result of ['ok', 'failed']) this.#metrics.reloads.inc({ result }, 0);
    this.#metrics.isConfigSound.set(1);
    for (const result of JOB_RESULTS) this.#metrics.jobsEnded.inc({ result }, 0);
  }

  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;

  /** Counters and gauges of one site carry its domain; those of the single form, null, have no such label. */
  of(site: string | null): SiteMetrics {
    return new SiteMetrics(this.#metrics, this.#namesSites() ? site : null);
  }

  async expose({ states, isReady, jobs, volume, certificates = [] }: Readings): Promise<string> {
    this.#metrics.state.reset();
    for (const { site, state } of states) {
      const label = site === null ? {} : { site };
      for (const each of DEPLOY_STATES) this.#metrics.state.set({ ...label, state: each }, each === state ? 1 : 0);
    }
    this.#metrics.ready.set(isReady ? 1 : 0);
    this.#metrics.jobs.reset();
    for (const [status, count] of Object.entries(jobs ?? {})) this.#metrics.jobs.set({ status }, count);
    if (volume !== null) {
      this.#metrics.volumeFree.set(volume.freeBytes);
      this.#metrics.volumeSize.set(volume.sizeBytes);
    }
    this.#metrics.certificateEnd.reset();
    for (const { setting, endsAtMs } of certificates) this.#metrics.certificateEnd.set({ setting }, endsAtMs / 1000);
    // A sample is the time between two ticks of its timer.
    this.#metrics.loopDelay.set(Math.max(0, this.#loopDelay.percentile(99) / 1e9 - LOOP_TICK_MS / 1000));
    this.#loopDelay.reset();
    return this.#registry.metrics();
  }

  onRequest(served: CountedRequest): void {
    this.#metrics.requests.count(served, this.#namesSites() ? served.site : undefined);
  }

  onReload(ok: boolean): void {
    this.#metrics.reloads.inc({ result: ok ? 'ok' : 'failed' });
    this.#metrics.isConfigSound.set(ok ? 1 : 0);
    if (ok) this.#metrics.lastReloadSuccess.setToCurrentTime();
  }

  onJobEnded(result: JobResult): void {
    this.#metrics.jobsEnded.inc({ result });
  }

  onWrongToken(): void {
    this.#metrics.wrongTokens.inc();
  }

  /** On the shelf page, which is no site. */
  onWrongSignIn(): void {
    this.#metrics.wrongSignIns.inc();
  }

  onError(code: ErrorCode): void {
    this.#metrics.errors.inc({ code });
  }
}
