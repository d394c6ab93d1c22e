import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { ServedRequest } from '../listener/served-request.ts';

/** Bucket bounds for request durations in seconds: a file from memory takes under a millisecond, and an upload takes minutes. */
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10, 60];

export type CountedRequest = Pick<ServedRequest, 'listener' | 'site' | 'status' | 'bytes' | 'durationMs'>;

export const labelOf = (site: string | null | undefined) => (site == null ? {} : { site });

/** Bucket bounds for search durations in seconds. A search takes 3 ms by words and 10 ms with the model, but seconds on a busy machine. */
const SEARCH_BUCKETS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

export function defineMetrics(registry: Registry) {
  const registers = [registry];
  const counter = <T extends string>(name: string, help: string, labelNames: readonly T[]) =>
    new Counter<T>({ name: `docshelf_${name}`, help, labelNames, registers });
  /** Defines a gauge without the label `site`. Define gauges of sites in `ofSites`, so that the series of a removed site end. */
  const gauge = <T extends string>(name: string, help: string, labelNames: readonly Exclude<T, 'site'>[]) =>
    new Gauge<T>({ name: `docshelf_${name}`, help, labelNames, registers });
  const siteGauge = <T extends string = never>(name: string, help: string, labelNames: readonly T[] = []) =>
    new Gauge<T | 'site'>({ name: `docshelf_${name}`, help, labelNames: ['site', ...labelNames], registers });
  return {
    requests: counter('http_requests_total', 'Completed requests, by listener and status class.', [
      'site',
      'listener',
      'class',
    ]),
    responseBytes: counter('http_response_bytes_total', 'Bytes sent, including headers.', ['site', 'listener']),
    requestSeconds: new Histogram({
      name: 'docshelf_http_request_duration_seconds',
      help: 'Time from the end of the request headers to the end of the response.',
      labelNames: ['listener'],
      buckets: DURATION_BUCKETS,
      registers,
    }),
    cacheHits: counter('cache_hits_total', 'Number of times that docshelf served a file of the site from memory.', [
      'site',
    ]),
    cacheMisses: counter('cache_misses_total', 'Number of times that docshelf read a file of the site from disk.', [
      'site',
    ]),
    fetches: counter('fetches_total', 'Downloads of the bundle, by result.', ['site', 'result']),
    fetchedBytes: counter('fetched_bytes_total', 'Bytes of downloaded bundles.', ['site']),
    bundles: counter('bundles_taken_in_total', 'Bundles that docshelf imported or rejected, by source and result.', [
      'site',
      'source',
      'result',
    ]),
    activations: counter('activations_total', 'Activations of a version.', ['site']),
    reloads: counter('reloads_total', 'Reloads of the config, by result.', ['result']),
    isConfigSound: gauge(
      'config_last_reload_successful',
      '1 if the last reload of the config succeeded, 0 if it was rejected.',
      [],
    ),
    lastReloadSuccess: gauge('last_reload_success_timestamp_seconds', 'Time of the last successful reload.', []),
    volumeFree: gauge('volume_free_bytes', 'Free space of the volume of the data folder.', []),
    volumeSize: gauge('volume_size_bytes', 'Size of the volume of the data folder.', []),
    certificateEnd: gauge(
      'tls_certificate_expiry_timestamp_seconds',
      'Time at which the certificate of a config key expires.',
      ['setting'],
    ),
    loopDelay: gauge(
      'event_loop_delay_seconds',
      'Delay of the event loop of the main thread since the last scrape, 99th percentile.',
      [],
    ),
    dependencyUp: gauge('dependency_up', '1 if the database or the bucket of exports responds, otherwise 0.', [
      'dependency',
    ]),
    buildInfo: gauge('build_info', 'Versions of docshelf and Node, named by the labels. The value is always 1.', [
      'version',
      'node',
    ]),
    jobs: gauge('export_jobs', 'Queued and running export jobs, by status.', ['status']),
    jobsEnded: counter('export_jobs_ended_total', 'Export jobs that ended in this process, by site and result.', [
      'site',
      'result',
    ]),
    wrongTokens: counter('admin_wrong_tokens_total', 'Requests to the admin listener with a wrong token.', []),
    wrongSignIns: counter('wrong_sign_ins_total', 'Requests of readers with a wrong password or token.', ['site']),
    pageReports: counter(
      'page_reports_total',
      'Browser reports of requests to origins that features.enforce does not allow, by origin.',
      ['site', 'origin'],
    ),
    searches: counter('searches_total', 'Searches of a site, by result.', ['site', 'result']),
    searchCorrections: counter('search_corrections_total', 'Searches with a suggested correction.', ['site']),
    searchSeconds: new Histogram({
      name: 'docshelf_search_duration_seconds',
      help: 'Duration of a search that did not fail.',
      buckets: SEARCH_BUCKETS,
      registers,
    }),
    errors: counter('errors_total', 'Errors, by code.', ['site', 'code']),
    ready: gauge('ready', '1 if /readyz reports ready, otherwise 0.', []),
    /** Gauges per site, which each scrape sets from the reports of all sites. */
    ofSites: {
      state: siteGauge('state', '1 for the current state of the site, 0 for the other states.', ['state']),
      activeVersion: siteGauge('active_version_info', 'Active version, named by the labels. The value is always 1.', [
        'version',
        'digest',
      ]),
      lastActivation: siteGauge('last_activation_timestamp_seconds', 'Time of the last activation.'),
      searchWaiting: siteGauge('search_sections_waiting', 'Sections that wait for their vectors.'),
      searchBuilt: siteGauge(
        'search_index_built_timestamp_seconds',
        'Time at which the index of the active version was built.',
      ),
      linkEnd: siteGauge(
        'bundle_link_expiry_timestamp_seconds',
        'Time at which the configured link to the bundle expires.',
      ),
      fetchFailing: siteGauge('fetch_failing', '1 from a failed download of the bundle until docshelf has the bundle.'),
    },
  };
}
