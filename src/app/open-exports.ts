import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Config } from '../config/index.ts';
import type { DocshelfError } from '../domain/errors.ts';
import type { RunJobOptions, ExportService as Service } from '../export/index.ts';
import type { JobQueue } from '../export/jobs/queue/sql-job-queue.ts';
import type { JobCounts } from '../export/ports.ts';
import type { AnswerDownload } from '../http/api/exports.ts';
import type { Metrics } from '../http/metrics/metrics.ts';
import { threadEntry } from '../threads/index.ts';
import type { RatesParts } from './keys/service-keys.ts';
import { logFailure, logJobEvent } from './log/log-events.ts';
import type { Network } from './network.ts';
import { openBundleSearch } from './open-search.ts';
import type { Traces } from './open-traces.ts';
import { archiveLimits, exportSlice, organizationsSlice, queueKind, s3Slice } from './slices.ts';

export interface Exports {
  readonly service: Service | null;
  readonly download: AnswerDownload | null;
  counts(): Promise<JobCounts>;
  /** Notices to operators with the reasons why this daemon cannot run export jobs. */
  readonly notices: readonly string[];
  /** Lists the objects in the bucket of exports, to check the access to it. Null if exports are on disk. */
  readonly checkBucket: (() => Promise<void>) | null;
  stop(): Promise<void>;
}

interface ExportsParts extends RatesParts {
  readonly publicUrl: () => string;
  readonly network: Network;
  readonly metrics: Metrics;
  readonly traces: Traces;
  readonly onCompleted: () => void;
  readonly programVersion: string;
}

const RETENTION_EVERY_MS = 3_600_000;
/**
 * Number of threads that process pages of a crawl, in addition to the fetching thread. On two cores, a second such thread
 * costs more time than it saves.
 */
const PAGE_THREADS = Math.max(1, Math.min(4, availableParallelism() - 1));

/**
 * Opens the export service. It also runs jobs, unless `exportApi.role` is `api`.
 * @throws DocshelfError `cannot_write`, `data_folder_newer`, `config_invalid`
 */
export async function openExports(parts: ExportsParts): Promise<Exports> {
  const { config, current, log, metrics } = parts;
  const { role } = config.exportApi;
  const {
    applyRetention,
    ExportService,
    JobRunner,
    markApiFolder,
    openExportsFolder,
    readPicture,
    repackBundle,
    SharedJobs,
    Signatures,
    untilApiFolder,
  } = await import('../export/index.ts');
  const stopping = new AbortController();
  const folder = await openExportsFolder(join(config.storage.dir, 'exports'));
  const queue = await openQueue(parts, folder.jobsFile);
  const { store, files, download, checkBucket } = await openStore(parts, folder.dir);
  const shared = files === null || queueKind(config) === 'sqlite' ? null : new SharedJobs(files, folder);
  const jobOptions: RunJobOptions = {
    folder,
    queue,
    store,
    shared,
    searchData: await openBundleSearch(config, parts.network),
    signatures: new Signatures(folder.signatures, () => current().exportApi.signingKeyFile?.text ?? null, shared),
    siteOf: (job) => siteOf(current(), job),
    jobEntry: threadEntry('./export-thread', import.meta),
    pageThreads: PAGE_THREADS,
    egress: () => parts.network.rules,
    browser: () => current().exportApi.browser,
    limits: () => archiveLimits(current()),
    generator: `docshelf ${parts.programVersion}`,
    tracer: parts.traces.tracer,
  };
  const onFault = (error: unknown): void => logFailure(log, 'export', error);
  const exported = () =>
    organizationsSlice(current()).flatMap(({ sites }) => sites.filter(({ source }) => source !== null));
  const siteLabel = ({ domain }: { domain: string }, sites = exported()) =>
    sites.length <= current().metrics.sites ? domain : null;
  const atStart = exported();
  for (const site of atStart) metrics.addExports(siteLabel(site, atStart));

  const runner = new JobRunner({
    ...jobOptions,
    settings: () => exportSlice(current()),
    onEvent: (event) => {
      logJobEvent(log, event);
      if (event.kind === 'started') metrics.addExports(siteLabel(event.job));
      if (event.kind === 'completed') {
        metrics.onJobEnded(siteLabel(event.job), 'completed');
        parts.onCompleted();
      }
      if (event.kind === 'failed')
        metrics.onJobEnded(siteLabel(event.job), event.error.code === 'canceled' ? 'canceled' : 'failed');
    },
  });
  const runsJobs = role !== 'api';
  const isOnDisk = download !== null;
  if (isOnDisk && role !== 'worker') await markApiFolder(folder);
  let notices: readonly string[] = [];
  const onMissing = (error: DocshelfError): void => {
    notices = [`${error.message}. ${error.next}`];
    onFault(error);
  };
  const start = async (): Promise<void> => {
    if (isOnDisk) await untilApiFolder(folder, stopping.signal, onMissing);
    notices = [];
    runner.start();
  };
  if (runsJobs) void start().catch((error: unknown) => stopping.signal.aborted || onFault(error));

  const retain = async (): Promise<void> => {
    const { retentionMs } = current().exportApi;
    if (retentionMs === 'none') return;
    const old =
      typeof retentionMs === 'number' ? { beforeMs: Date.now() - retentionMs } : { newest: retentionMs.completed };
    await applyRetention({ ...jobOptions, signal: stopping.signal }, old);
  };
  let retaining: Promise<void> = runsJobs ? retain().catch(onFault) : Promise.resolve();
  const timer = setInterval(() => {
    if (runsJobs) retaining = retaining.then(retain).catch(onFault);
  }, RETENTION_EVERY_MS);

  const readShared = shared && ((name: string) => shared.readFile(name, stopping.signal));
  const service =
    role === 'worker'
      ? null
      : new ExportService({
          queue,
          store,
          settings: () => exportSlice(current()),
          repack: (job, signal) => repackBundle(job, jobOptions, signal),
          pictureOf: (jobId, name) => readPicture(folder, jobId, name, readShared),
          signatureOf: (sha256) => jobOptions.signatures.read(sha256),
          onStarted: () => runner.nudge(),
          tracer: parts.traces.tracer,
          signal: stopping.signal,
        });
  return {
    service,
    download,
    counts: () => queue.counts(),
    get notices() {
      return notices;
    },
    checkBucket,
    stop: async () => {
      clearInterval(timer);
      stopping.abort();
      await runner.stop();
      await retaining;
      await Promise.all([store.close(), queue.close()]);
    },
  };
}

async function openQueue({ config, database }: ExportsParts, file: string): Promise<JobQueue> {
  if (database === null || queueKind(config) === 'sqlite') {
    const { openSqliteJobQueue } = await import('../export/jobs/queue/sqlite.ts');
    return openSqliteJobQueue({ file });
  }
  const [{ SqlJobQueue }, { POSTGRES_STATEMENTS: statements }] = await Promise.all([
    import('../export/jobs/queue/sql-job-queue.ts'),
    import('../export/jobs/queue/statements.ts'),
  ]);
  return new SqlJobQueue({ database, statements });
}

/** Finds the current config of a job's site, because since the job was queued, the domain can have moved to another organization. */
function siteOf(config: Config, { organizationId, domain }: Parameters<RunJobOptions['siteOf']>[0]) {
  const organization = organizationsSlice(config).find(({ id }) => id === organizationId);
  const site = organization?.sites.find((each) => each.domain === domain);
  return site === undefined || site.source === null ? null : { source: site.source, hosts: site.hosts };
}

async function openStore({ config, current, network, publicUrl, log }: ExportsParts, dir: string) {
  const settings = s3Slice(config);
  if (settings !== null) {
    const { S3BundleStore } = await import('../export/stores/s3-bundle-store.ts');
    const { caFile: _, ...bucket } = settings;
    const policy = (await network.policy()).forStore(() => current().exportApi.store.caFile);
    const store = new S3BundleStore({ ...bucket, policy, nowMs: Date.now });
    return { store, files: store.shared, download: null, checkBucket: () => store.check() };
  }
  const [{ DiskBundleStore }, { bundleDownload }] = await Promise.all([
    import('../export/stores/disk-bundle-store.ts'),
    import('../http/api/exports.ts'),
  ]);
  const store = new DiskBundleStore({ dir, publicUrl, nowMs: Date.now });
  const onFault = (error: unknown, requestId: string | null): void => logFailure(log, 'download', error, requestId);
  return {
    store,
    files: null,
    download: bundleDownload({ follow: (link) => store.follow(link), onFault }),
    checkBucket: null,
  };
}
