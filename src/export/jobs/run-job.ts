import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { BrowserSettings } from '../../domain/crawl.ts';
import type { EgressRules } from '../../domain/egress.ts';
import { DocshelfError } from '../../domain/errors.ts';
import type { ExportedBundle, ExportReport } from '../../domain/job.ts';
import type { ArchiveLimits } from '../../domain/limits.ts';
import type { SourceSettings } from '../../domain/organization.ts';
import { FileStore } from '../../files/file-store.ts';
import { HEAPS, Thread } from '../../threads/index.ts';
import type { Tracer } from '../../traces/tracer.ts';
import { type ExportsFolder, journalFolder, makeWorkFolder, storeFolders } from '../exports-folder.ts';
import { FindingList, type FoundSoFar } from '../findings.ts';
import type { BundleStore, CollectCommand, SearchData, StoredJob } from '../ports.ts';
import type { Signatures } from '../signatures.ts';
import { collectOutput } from '../sources/command-source.ts';
import type { OnStep } from './collect.ts';
import type { JobProgress, JobStep } from './job-progress.ts';
import type { JobQueue } from './queue/sql-job-queue.ts';
import type { SharedJobs } from './shared-jobs.ts';
import type { CheckedSite, JobSteps } from './steps.ts';

/** If a step handles more pages than this, the next step runs in a new thread, to free memory. A thread starts in 0.1 to 0.4 s. */
const PAGES_PER_THREAD_MAX = 1_000;

/** Share of a job's remaining time for computing the vectors of the search. The rest is for packing, signing and storing. */
const VECTORS_PART = 0.75;

export interface RunJobOptions {
  readonly folder: ExportsFolder;
  readonly queue: JobQueue;
  readonly store: BundleStore;
  readonly shared: SharedJobs | null;
  readonly searchData: SearchData | null;
  readonly signatures: Signatures;
  readonly siteOf: (
    job: Pick<StoredJob, 'organizationId' | 'domain'>,
  ) => { readonly source: SourceSettings; readonly hosts: readonly string[] } | null;
  readonly jobEntry: URL;
  readonly limits: () => ArchiveLimits;
  readonly egress: () => EgressRules;
  readonly browser: () => BrowserSettings;
  readonly pageThreads: number;
  readonly generator: string;
  readonly tracer: Tracer;
}

interface Attempt extends RunJobOptions {
  readonly job: StoredJob;
  readonly progress: JobProgress;
  readonly thread: TracedThread;
  readonly workDir: string;
  readonly signal: AbortSignal;
}

/** Runs one attempt of a job from the last checkpoint. Attempts share only files named by digest, so they never conflict. */
export async function runJob(
  job: StoredJob,
  progress: JobProgress,
  options: RunJobOptions,
  signal: AbortSignal,
  deadlineAtMs: number,
): Promise<{ readonly bundle: ExportedBundle; readonly report: ExportReport }> {
  const { folder, queue, shared, siteOf, generator, tracer } = options;
  const site = siteOf(job);
  if (site === null) {
    throw new DocshelfError('bad_source', `Cannot export "${job.domain}": the config names no source for it`, {
      next: 'Set the source of the domain in organizations, and start a new export.',
    });
  }
  const { source } = site;
  const workDir = await makeWorkFolder(folder, job.jobId, job.attempt);
  const journalDir = journalFolder(folder, job.jobId);
  const thread = tracedThread(options.jobEntry, signal, tracer);
  const folders = storeFolders(folder);
  const crawl = { egress: options.egress(), browser: options.browser(), journalDir };
  const request = { domain: job.domain, version: job.version, paths: job.paths };
  try {
    const last = await queue.lastCompleted(job.organizationId, job.domain, job.version);
    const lastContent = last?.bundle?.contentSha256 ?? null;
    let tableSha256 = await keptTable(job.checkpoint, folders.filesDir, shared, signal);
    if (tableSha256 === null) {
      const command = {
        ...folders,
        request,
        hosts: site.hosts,
        workDir: join(workDir, 'source'),
        limits: options.limits(),
        ...crawl,
        recordsDir: folder.crawls,
        pageThreads: options.pageThreads,
      };
      const collect = (source: CollectCommand['source']) =>
        thread.call('collect', { ...command, source }, reporting(progress, 'collect'));
      const collected =
        source.kind === 'command' ? await collectOutput(source, folder.locks, signal, collect) : await collect(source);
      tableSha256 = collected.tableSha256;
      if (collected.pages > PAGES_PER_THREAD_MAX) await thread.terminate();
      await shared?.keepSite(tableSha256, lastContent, signal);
      await progress.checkpoint(tableSha256);
    }

    const siteDir = join(workDir, 'site');
    const checkCommand = { ...folders, tableSha256, siteDir, hosts: site.hosts };
    let checked = await thread.call('check', checkCommand, reporting(progress, 'check'));
    if (source.kind === 'crawl' && crawl.browser.verify === 'auto') {
      const { files, found } = checked;
      const picturesDir = join(folder.pictures, job.jobId);
      await rm(picturesDir, { recursive: true, force: true });
      const work = { siteDir, files, found, workDir: join(workDir, 'verify'), picturesDir };
      const command = { ...folders, ...crawl, settings: source, ...work };
      checked = { ...checked, found: await thread.call('verify', command, reporting(progress, 'verify')) };
      await shared?.keepPictures(job.jobId, signal);
    }

    if (checked.pages > PAGES_PER_THREAD_MAX) await thread.terminate();
    const ownDir = join(workDir, 'own');
    const attempt: Attempt = { ...options, job, progress, thread, workDir, signal };
    const vectorsWithinMs = VECTORS_PART * (deadlineAtMs - performance.now());
    const search = () => makeSearchData(attempt, siteDir, ownDir, checked, vectorsWithinMs);
    const found = await tracer.span('search', {}, search);

    const createdAt = job.createdAt;
    const description = { ...folders, request, tableSha256, ownDir, createdAt, generator };
    const described = await thread.call('describe', description);
    await shared?.keepContent(described.contentSha256, lastContent, signal);
    const bundle = await packAndStore(attempt, described.contentSha256, last);
    const { pages, bytes, files } = checked;
    const report = {
      jobId: job.jobId,
      pages,
      files: files.length,
      bytes,
      counts: found.counts,
      findings: found.listed,
    };
    return { bundle, report };
  } finally {
    await thread.terminate();
    await rm(workDir, { recursive: true, force: true });
    // Keep the record of crawled pages if the crawl is aborted, because the next attempt resumes from these pages.
    if (!signal.aborted) await rm(journalDir, { recursive: true, force: true });
  }
}

const reporting = (progress: JobProgress, step: JobStep) => {
  const onStep = progress.reporterOf(step);
  return { onProgress: (done: Parameters<OnStep>) => onStep(...done) };
};

/** Creates the search data. An error does not fail the job, because the daemon that imports the bundle computes missing vectors. */
async function makeSearchData(
  { searchData, progress, signal }: Attempt,
  siteDir: string,
  ownDir: string,
  checked: CheckedSite,
  vectorsWithinMs: number,
): Promise<FoundSoFar> {
  const into = join(ownDir, 'search');
  await mkdir(into, { recursive: true });
  if (searchData === null) return checked.found;
  try {
    const site = { siteDir, files: checked.files };
    const withinMs = Math.max(0, Math.floor(vectorsWithinMs));
    if (await searchData.make(site, into, progress.reporterOf('search'), signal, withinMs)) return checked.found;
    return missing(checked, NO_TIME);
  } catch (error) {
    signal.throwIfAborted();
    await rm(into, { recursive: true, force: true });
    return missing(checked, error instanceof Error ? error.message : String(error));
  }
}

const NO_TIME =
  'The bundle contains no vectors, because computing them would exceed exportApi.deadline. The next export continues with the vectors computed so far';

function missing({ found }: CheckedSite, detail: string): FoundSoFar {
  const findings = FindingList.of(found);
  findings.add({ kind: 'search_data_missing', page: '', detail });
  return findings.soFar;
}

async function packAndStore(
  { job, folder, store, signatures, thread, workDir, progress, signal, tracer }: Attempt,
  contentSha256: string,
  last: StoredJob | null,
): Promise<ExportedBundle> {
  if (last?.bundle?.contentSha256 === contentSha256) {
    const { bundle } = last;
    if ((await store.has(bundle.sha256)) && (await signatures.has(bundle.sha256))) return bundle;
  }
  const to = join(workDir, 'bundle.tar.gz');
  const folders = storeFolders(folder);
  const command = { ...folders, contentSha256, to };
  const { createdAt, ...packed } = await thread.call('pack', command, reporting(progress, 'pack'));
  await signatures.sign(packed.sha256, to, { ...job, createdAt }, signal);
  const facts = { 'docshelf.bundle.sha256': packed.sha256, 'docshelf.bundle.bytes': packed.sizeBytes };
  await tracer.span('store', { facts }, () => store.put({ ...packed, file: to }, signal));
  return { ...packed, contentSha256 };
}

async function keptTable(checkpoint: string | null, filesDir: string, shared: SharedJobs | null, signal: AbortSignal) {
  if (checkpoint === null) return null;
  if (await new FileStore(filesDir).use({ sha256: checkpoint })) return checkpoint;
  return (await shared?.fetchSite(checkpoint, signal)) === true ? checkpoint : null;
}

export type JobThread = Thread<JobSteps>;

export const openJobThread = (entry: URL, signal: AbortSignal): JobThread =>
  new Thread<JobSteps>({ task: 'export', heap: HEAPS.job, entry, signal });

type TracedThread = Pick<JobThread, 'call' | 'terminate'>;

function tracedThread(entry: URL, signal: AbortSignal, tracer: Tracer): TracedThread {
  const thread = openJobThread(entry, signal);
  return {
    call: (step, ...rest) => tracer.span(step, {}, () => thread.call(step, ...rest)),
    terminate: () => thread.terminate(),
  };
}
