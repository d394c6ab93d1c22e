import { readdirSync } from 'node:fs';
import { Counter, Gauge, Histogram, type LabelValues, type Metric, type Registry } from 'prom-client';
import type { ListenerName, ServedRequest } from '../listener/served-request.ts';

/** Bucket bounds for request durations in seconds: a file from memory takes under a millisecond, and an upload takes minutes. */
const DURATION_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.1, 0.5, 2.5, 10, 60];

interface RequestCells {
  readonly classes: (Cell | undefined)[];
  readonly bytes: Cell;
}

export type CountedRequest = Pick<ServedRequest, 'listener' | 'site' | 'status' | 'bytes' | 'durationMs'>;

class RequestMetrics {
  readonly #requests: CellCounter<'site' | 'listener' | 'class'>;
  readonly #bytes: CellCounter<'site' | 'listener'>;
  readonly #seconds: CellHistogram<'listener'>;
  readonly #cells = new Map<ListenerName, Map<string | undefined, RequestCells>>();

  constructor(registry: Registry) {
    const requests = {
      name: 'docshelf_http_requests_total',
      help: 'Completed requests, by listener and status class.',
    };
    const bytes = { name: 'docshelf_http_response_bytes_total', help: 'Bytes sent, including headers.' };
    const seconds = {
      name: 'docshelf_http_request_duration_seconds',
      help: 'Time from the end of the request headers to the end of the response.',
    };
    this.#requests = new CellCounter(registry, requests, ['site', 'listener', 'class']);
    this.#bytes = new CellCounter(registry, bytes, ['site', 'listener']);
    this.#seconds = new CellHistogram(registry, seconds, 'listener', DURATION_BUCKETS);
  }

  count({ listener, status, bytes, durationMs }: CountedRequest, site: string | undefined): void {
    const cells = this.#cells.get(listener)?.get(site) ?? this.#add(listener, site);
    const first = Math.floor(status / 100);
    cells.classes[first] ??= this.#requests.cell({ ...labelOf(site), listener, class: `${first}xx` });
    cells.classes[first].value++;
    cells.bytes.value += bytes;
    this.#seconds.observe(listener, durationMs / 1000);
  }

  #add(listener: ListenerName, site: string | undefined): RequestCells {
    const ofListener = this.#cells.get(listener) ?? new Map<string | undefined, RequestCells>();
    this.#cells.set(listener, ofListener);
    const cells = { classes: [], bytes: this.#bytes.cell({ ...labelOf(site), listener }) };
    ofListener.set(site, cells);
    return cells;
  }
}

export const labelOf = (site: string | null | undefined) => (site == null ? {} : { site });

/** Value of a series that docshelf only increments. A counter of prom-client would hash its labels for each event. */
export interface Cell {
  value: number;
}

interface MetricName {
  readonly name: string;
  readonly help: string;
}

class CellCounter<T extends string> {
  readonly #cells: { readonly labels: LabelValues<T>; value: number }[] = [];

  constructor(registry: Registry, { name, help }: MetricName, labelNames: readonly T[]) {
    const cells = this.#cells;
    new Counter<T>({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        this.reset();
        for (const { labels, value } of cells) this.inc(labels, value);
      },
    });
  }

  cell(labels: LabelValues<T>): Cell {
    const cell = { labels, value: 0 };
    this.#cells.push(cell);
    return cell;
  }
}

/** Replaces prom-client's histogram, because that histogram cannot export counts that docshelf stores itself. */
class CellHistogram<T extends string> {
  readonly #bounds: readonly number[];
  /** Counts per bucket, by label. `counts` has one entry more than the bounds, for values over the last bound. */
  readonly #series = new Map<string, { readonly counts: number[]; sum: number }>();

  constructor(registry: Registry, { name, help }: MetricName, label: T, bounds: readonly number[]) {
    this.#bounds = bounds;
    const get = async () => ({ name, help, type: 'histogram', aggregator: 'sum', values: this.#values(name, label) });
    registry.registerMetric({ name, get } as unknown as Metric<T>);
  }

  observe(label: string, value: number): void {
    let series = this.#series.get(label);
    if (series === undefined) {
      series = { counts: new Array(this.#bounds.length + 1).fill(0), sum: 0 };
      this.#series.set(label, series);
    }
    let bucket = 0;
    while (value > (this.#bounds[bucket] ?? Number.POSITIVE_INFINITY)) bucket++;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sum += value;
  }

  #values(name: string, label: T) {
    return [...this.#series].flatMap(([key, { counts, sum }]) => {
      const labels = { [label]: key };
      let count = 0;
      const buckets = counts.map((each, at) => {
        count += each;
        return { metricName: `${name}_bucket`, labels: { le: this.#bounds[at] ?? '+Inf', ...labels }, value: count };
      });
      return [
        ...buckets,
        { metricName: `${name}_sum`, labels, value: sum },
        { metricName: `${name}_count`, labels, value: count },
      ];
    });
  }
}

/** Bounds of buckets in seconds. A search takes 3 ms by words and 10 ms with the model, but seconds on a busy machine. */
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
  const cells = (name: string, help: string) => new CellCounter(registry, { name: `docshelf_${name}`, help }, ['site']);
  return {
    requests: new RequestMetrics(registry),
    cacheHits: cells('cache_hits_total', 'Number of times that docshelf served a file of the site from memory.'),
    cacheMisses: cells('cache_misses_total', 'Number of times that docshelf read a file of the site from disk.'),
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

/** Replaces the default metrics of prom-client, which keep a 10 ms timer and a performance observer running. */
export function addProcessMetrics(registry: Registry): void {
  const add = (name: string, help: string, read: () => number): void => {
    const registers = [registry];
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(read());
      },
    });
  };
  const startedS = Math.round(Date.now() / 1000 - process.uptime());
  new Counter({
    name: 'process_cpu_seconds_total',
    help: 'CPU time used, user and system, in seconds.',
    registers: [registry],
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc((user + system) / 1e6);
    },
  });
  add('process_start_time_seconds', 'Start time of the process, in seconds since the epoch.', () => startedS);
  add('process_resident_memory_bytes', 'Memory in RAM, in bytes.', () => process.memoryUsage.rss());
  add('nodejs_heap_size_used_bytes', 'JavaScript heap in use, in bytes.', () => process.memoryUsage().heapUsed);
  add('nodejs_external_memory_bytes', 'Memory of buffers outside the heap, in bytes.', () => {
    return process.memoryUsage().external;
  });
  // Subtract the file descriptor with which `readdirSync` reads the folder.
  const openFiles = () => readdirSync('/proc/self/fd').length - 1;
  if (process.platform === 'linux') add('process_open_fds', 'Open file descriptors.', openFiles);
  new Gauge({
    name: 'nodejs_version_info',
    help: 'Version of Node.js.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version: process.version }, 1);
}
