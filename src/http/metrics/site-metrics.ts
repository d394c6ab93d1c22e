import type { DeployEvent } from '../../deploy/index.ts';
import { ARCHIVE_CODES, BUNDLE_CODES, type ErrorCode, SOURCE_CODES, toDocshelfError } from '../../domain/errors.ts';
import type { BundleSourceKind } from '../../domain/release.ts';
import type { Cell } from './cells.ts';
import type { defineMetrics } from './metric-set.ts';

const REFUSED_BUNDLE: ReadonlySet<ErrorCode> = new Set([...ARCHIVE_CODES, ...BUNDLE_CODES]);
const FAILED_FETCH: ReadonlySet<ErrorCode> = new Set([...SOURCE_CODES, 'wrong_digest']);

/** What one site counts. */
export class SiteMetrics {
  readonly #metrics: ReturnType<typeof defineMetrics>;
  readonly #label: { readonly site?: string };
  readonly #cacheHits: Cell;
  readonly #cacheMisses: Cell;
  #activeVersion: { readonly version: string; readonly digest: string } | null = null;

  constructor(metrics: ReturnType<typeof defineMetrics>, site: string | null) {
    this.#metrics = metrics;
    this.#label = site === null ? {} : { site };
    // Series begin at 0: one that began with its first event would show no rate for it.
    for (const result of ['ok', 'failed']) metrics.fetches.inc({ ...this.#label, result }, 0);
    const { cacheHits, cacheMisses, fetchedBytes, activations, wrongSignIns, lastActivation } = metrics;
    for (const counter of [fetchedBytes, activations, wrongSignIns]) counter.inc(this.#label, 0);
    this.#cacheHits = cacheHits.cell(this.#label);
    this.#cacheMisses = cacheMisses.cell(this.#label);
    lastActivation.set(this.#label, 0);
  }

  onCache(hits: number, misses: number): void {
    this.#cacheHits.value += hits;
    this.#cacheMisses.value += misses;
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
        this.#metrics.lastActivation.setToCurrentTime(this.#label);
        this.#setActiveVersion({ version: event.version, digest: event.digest });
        return;
      case 'turned-off':
        this.#setActiveVersion(null);
        return;
      case 'failed':
        this.#onFailure(event.step, toDocshelfError(event.error).code);
    }
  }

  /** A site that has left the config: what it counted stays, what it is goes. */
  forget(): void {
    this.#setActiveVersion(null);
    // Without a label it is that of the sites that stay, too.
    if (this.#label.site !== undefined) this.#metrics.lastActivation.remove(this.#label);
  }

  #setActiveVersion(active: { readonly version: string; readonly digest: string } | null): void {
    if (this.#activeVersion !== null) this.#metrics.activeVersion.remove({ ...this.#label, ...this.#activeVersion });
    if (active !== null) this.#metrics.activeVersion.set({ ...this.#label, ...active }, 1);
    this.#activeVersion = active;
  }

  #onFailure(step: string, code: ErrorCode): void {
    this.onError(code);
    if (FAILED_FETCH.has(code)) this.#metrics.fetches.inc({ ...this.#label, result: 'failed' });
    else if (REFUSED_BUNDLE.has(code)) this.onBundleRefused(step === 'preload' || step === 'inbox' ? step : 'url');
  }
}

export function isBundleFault(code: ErrorCode): boolean {
  return REFUSED_BUNDLE.has(code);
}
