import { readdirSync } from 'node:fs';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { CellCounter, RequestMetrics, SiteGauge } from './request-metrics.ts';

/** Bounds in seconds: keywords take 3 ms, a new question with the model takes 10 ms, and a busy machine takes seconds. */
const SEARCH_BUCKETS = [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

export function defineMetrics(registry: Registry) {
  const registers = [registry];
  const counter = <T extends string>(name: string, help: string, labelNames: readonly T[]) =>
    new Counter<T>({ name: `docshelf_${name}`, help, labelNames, registers });
  const gauge = <T extends string>(name: string, help: string, labelNames: readonly Exclude<T, 'site'>[]) =>
    new Gauge<T>({ name: `docshelf_${name}`, help, labelNames, registers });
  const siteGauge = <T extends string>(name: string, help: string, labelNames: readonly T[]) =>
    new SiteGauge(registry, { name: `docshelf_${name}`, help }, labelNames);
  const cells = (name: string, help: string) => new CellCounter(registry, { name: `docshelf_${name}`, help }, ['site']);
  return {
    requests: new RequestMetrics(registry),
    cacheHits: cells('cache_hits_total', 'Files of the site that docshelf served from memory.'),
    cacheMisses: cells('cache_misses_total', 'Files of the site that docshelf read from disk.'),
    fetches: counter('fetches_total', 'Downloads of the bundle, by result.', ['site', 'result']),
    fetchedBytes: counter('fetched_bytes_total', 'Bytes of downloaded bundles.', ['site']),
    bundles: counter('bundles_taken_in_total', 'Bundles that were imported or rejected, by source and result.', [
      'site',
      'source',
      'result',
    ]),
    activations: counter('activations_total', 'Activations of a version.', ['site']),
    lastActivation: siteGauge('last_activation_timestamp_seconds', 'Time of the last activation.', []),
    reloads: counter('reloads_total', 'Reloads of the config, by result.', ['result']),
    isConfigSound: gauge(
      'config_last_reload_successful',
      '1 if the last reload of the config succeeded, 0 if it was rejected.',
      [],
    ),
    lastReloadSuccess: gauge('last_reload_success_timestamp_seconds', 'Time of the last successful reload.', []),
    volumeFree: gauge('volume_free_bytes', 'Free space of the volume of the data folder.', []),
    volumeSize: gauge('volume_size_bytes', 'Size of the volume of the data folder.', []),
    certificateEnd: gauge('tls_certificate_expiry_timestamp_seconds', 'Expiry of the certificate in a setting.', [
      'setting',
    ]),
    loopDelay: gauge(
      'event_loop_delay_seconds',
      'Delay of the event loop of the main thread since the last scrape, 99th percentile.',
      [],
    ),
    dependencyUp: gauge('dependency_up', '1 if the database or the bucket of exports responds, otherwise 0.', [
      'dependency',
    ]),
    linkEnd: new Gauge({
      name: 'docshelf_bundle_link_expiry_timestamp_seconds',
      help: 'Expiry of the configured link to the bundle.',
      labelNames: ['site'],
      registers,
    }),
    fetchFailing: new Gauge({
      name: 'docshelf_fetch_failing',
      help: '1 from a failed download of the bundle until docshelf has the bundle.',
      labelNames: ['site'],
      registers,
    }),
    buildInfo: gauge('build_info', 'Versions of docshelf and Node.', ['version', 'node']),
    jobs: gauge('export_jobs', 'Queued and running export jobs, by status.', ['status']),
    jobsEnded: counter('export_jobs_ended_total', 'Export jobs of the site that this process completed, by result.', [
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
      help: 'Time of a search, without failed ones.',
      buckets: SEARCH_BUCKETS,
      registers,
    }),
    errors: counter('errors_total', 'Errors, by code.', ['site', 'code']),
    activeVersion: siteGauge('active_version_info', 'Active version, in the labels.', ['version', 'digest']),
    // Set from the reports of all sites at each reading.
    searchWaiting: new Gauge({
      name: 'docshelf_search_sections_waiting',
      help: 'Sections that wait for their vectors.',
      labelNames: ['site'],
      registers,
    }),
    searchBuilt: new Gauge({
      name: 'docshelf_search_index_built_timestamp_seconds',
      help: 'Time at which the index of the active version was built.',
      labelNames: ['site'],
      registers,
    }),
    state: new Gauge({
      name: 'docshelf_state',
      help: '1 for the current state of the site, 0 for the other states.',
      labelNames: ['site', 'state'],
      registers,
    }),
    ready: gauge('ready', '1 if /readyz reports ready.', []),
  };
}

/** Replaces prom-client's default set, which keeps a 10 ms timer and a performance observer running. */
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
  if (process.platform === 'linux') add('process_open_fds', 'Open file descriptors.', openFileDescriptors);
  new Gauge({
    name: 'nodejs_version_info',
    help: 'Version of Node.js.',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version: process.version }, 1);
}

function openFileDescriptors(): number {
  // Do not count the descriptor of the folder that is being read.
  return readdirSync('/proc/self/fd').length - 1;
}
