import { access, chmod, constants, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import type { OpenExportService } from '../../app/export-client.ts';
import { archiveLimits } from '../../app/slices.ts';
import { fetchBundle } from '../../deploy/fetch/fetch.ts';
import type { BundleSource } from '../../deploy/ports.ts';
import { DocshelfError, type ErrorCode, errnoState, rethrowAs } from '../../domain/errors.ts';
import { SIGNATURE_EXTENSION } from '../../domain/file-name.ts';
import { type BundleAnswer, bundleFileName, type JobAnswer } from '../../domain/job.ts';
import { counted } from '../../domain/text.ts';
import { isVersion, versionFromDigest, versionFromFileName } from '../../domain/version.ts';
import { temporaryFolder } from '../../files/index.ts';
import { importArchive, sentenceOf } from '../bundle/import.ts';
import type { ChosenSite } from '../load-config.ts';
import { note, ProgressBar, printResult } from '../output.ts';
import {
  requestOf,
  type StartOptions,
  showJob,
  startingSubcommand,
  type WaitingOptions,
  withService,
  withTimeout,
} from './service.ts';

interface PullOptions extends WaitingOptions, StartOptions {
  readonly jobId?: string;
  readonly output?: string;
  readonly activate: boolean;
  readonly writeValues?: string;
}

type Pulled = Awaited<ReturnType<typeof keep>>;

type Target = { readonly folder: string; readonly name: string | null; readonly keeps: boolean };

export function exportPullCommand(): Command {
  return withTimeout(
    startingSubcommand(
      'pull',
      'Start an export, wait for it, then download and verify its bundle',
      'docshelf export pull --domain acme --version v3 --output bundles/ --write-values values.yaml',
    ),
  )
    .option('--job-id <id>', 'Continue with this job instead of starting a new one')
    .option(
      '--output <file-or-folder>',
      'File or folder for the bundle (default: the current folder, unless --into is set)',
    )
    .option('--into', 'Import the bundle into the data folder of this config, through its daemon if one runs')
    .option('--no-activate', 'With --into, store the bundle, but keep the active version')
    .option('--write-values <file>', 'YAML file in which to set staticExport.bundleUrl, version, and sha256')
    .action((options: PullOptions) =>
      withService(options, async (opened, site, signal) => {
        // Check the output folder and the values file before the export, because the export can take minutes.
        const target = await targetOf(options);
        if (options.writeValues !== undefined) await (await valuesWriter()).checkValuesFile(options.writeValues);
        using progress = new ProgressBar();
        printResult(options, await pull({ options, opened, site, signal, target, progress }), pageOf);
      }),
    );
}

interface Pull {
  readonly options: PullOptions;
  readonly opened: OpenExportService;
  readonly site: ChosenSite;
  readonly signal: AbortSignal;
  readonly target: Target;
  readonly progress: ProgressBar;
}

async function pull(run: Pull): Promise<Pulled> {
  const { options, opened, signal, target, progress } = run;
  const { config } = run.site;
  const { service, sources } = opened;
  let { jobId } = options;
  if (jobId === undefined) {
    ({ jobId } = await service.start(requestOf(options, config), signal));
    note(`docshelf: started ${jobId}; to continue after an interruption, pass --job-id ${jobId}`);
  }
  const job = await service.wait(jobId, { timeoutMs: options.timeout, signal, onJob: showJob(progress) });
  const download = {
    sources,
    link: () => service.bundle(jobId, signal),
    bundleBytesMax: config.staticExport.limits.bundleBytesMax,
    retriesMax: config.network.retries,
    signal,
    onProgress: (doneBytes: number, totalBytes: number | null) =>
      progress.draw('fetching', totalBytes === null ? null : doneBytes / totalBytes, jobId),
  };
  return downloadBundle(target.folder, download, (file, downloaded) => keep(run, job, file, downloaded));
}

/** @returns facts to print about the bundle, without its link, because the link is a credential */
async function keep(run: Pull, job: JobAnswer, file: string, downloaded: Downloaded) {
  const { options, site, target, progress } = run;
  const { bundle, digest, sizeBytes } = downloaded;
  const name = nameOf(job, downloaded);
  const { inspectArchive } = await import('../../archive/index.ts');
  await inspectArchive(file, { name, limits: archiveLimits(site.config), foldsCase: false });
  if (bundle.signature !== null) await writeFile(file + SIGNATURE_EXTENSION, bundle.signature);

  const label = [options.version, job.version].find((word) => typeof word === 'string' && isVersion(word)) ?? null;
  progress.end();
  const request = { fileName: name, version: label, signature: null, activate: options.activate };
  const json = options.json === true;
  const imported = options.into === true ? (await importArchive(site, { json }, { file }, request)).delivered : null;

  const place = target.keeps ? join(target.folder, target.name ?? name) : null;
  if (place !== null) {
    if (bundle.signature !== null) await rename(file + SIGNATURE_EXTENSION, place + SIGNATURE_EXTENSION);
    await placeBundle(file, place);
  }
  // If the bundle has no version, derive the version label as an import does.
  const version = imported?.version ?? label ?? versionFromFileName(name) ?? versionFromDigest(digest);
  const values = options.writeValues ?? null;
  if (values !== null)
    await (await valuesWriter()).writeValues(values, { bundleUrl: bundle.bundleUrl, version, sha256: digest });
  return { jobId: job.jobId, domain: job.domain, version, sha256: digest, sizeBytes, file: place, imported, values };
}

export async function targetOf({ output, into, jobId, domain, paths }: Omit<PullOptions, 'activate'>): Promise<Target> {
  if (jobId !== undefined && (domain !== undefined || paths !== undefined)) {
    throw new DocshelfError('usage', 'Cannot continue with --job-id: --domain and --paths are only for a new export', {
      next: 'Omit --domain and --paths.',
    });
  }
  if (output === undefined && into === true) return { folder: tmpdir(), name: null, keeps: false };
  const given = resolve(output ?? '.');
  const info = await stat(given).catch(() => null);
  const isFolder = info?.isDirectory() === true || output?.endsWith('/') === true;
  const next = 'Pass an existing, writable folder with --output.';
  // Renaming the bundle over a device such as /dev/null would remove the device.
  if (info !== null && !isFolder && !info.isFile())
    throw new DocshelfError('cannot_write', `Cannot write "${given}": it is not a file`, { next });
  const path = info === null || isFolder ? given : await realpath(given);
  const folder = isFolder ? path : dirname(path);
  await access(folder, constants.W_OK).catch(
    rethrowAs('cannot_write', `write to the folder "${folder}"`, next, errnoState),
  );
  return { folder, name: isFolder ? null : basename(path), keeps: true };
}

/** Uses the file name from the server only if it is a plain archive name, so that a server cannot overwrite other files. */
function nameOf({ jobId, domain, createdAt }: JobAnswer, { fileName }: Downloaded): string {
  if (fileName !== null && /^[A-Za-z0-9][\w.+-]*\.(?:tar|tar\.gz|tgz|tar\.zst|zip)$/i.test(fileName)) return fileName;
  const name = domain === null || createdAt === null ? '' : bundleFileName({ domain, createdAt });
  return /^[a-z0-9][a-z0-9.-]*$/.test(name) ? name : `${jobId.replace(/[^\w-]/g, '_')}.tar.gz`;
}

function pageOf({ jobId, version, sha256, file, imported, values }: Pulled): string {
  const lines = [`Downloaded the bundle of ${jobId}: version ${version}, SHA-256 ${sha256}.`];
  if (file !== null) lines.push(`The bundle is stored in ${file}.`);
  if (imported !== null) lines.push(sentenceOf(imported));
  if (values !== null) lines.push(`The link, version, and digest of the bundle are set in ${values}.`);
  return lines.join('\n');
}

/** Load the YAML editor on demand, because its parser takes 28 ms to load. */
const valuesWriter = () => import('./write-values.ts');

export interface DownloadOptions {
  readonly sources: readonly BundleSource[];
  readonly link: () => Promise<BundleAnswer>;
  readonly bundleBytesMax: number;
  readonly retriesMax: number;
  readonly signal: AbortSignal;
  readonly onProgress: (doneBytes: number, totalBytes: number | null) => void;
}

type Downloaded = Awaited<ReturnType<typeof fetchTo>>;

const EXPIRED: ReadonlySet<ErrorCode> = new Set(['link_expired', 'link_refused']);

/**
 * Downloads a bundle, and deletes the file after `use`.
 * @throws DocshelfError `source_*`, `wrong_digest`, `cannot_write`; errors of `use`
 */
export async function downloadBundle<T>(
  folder: string,
  options: DownloadOptions,
  use: (file: string, downloaded: Downloaded) => Promise<T>,
): Promise<T> {
  await using work = await temporaryFolder(join(folder, '.docshelf-pull-'));
  const file = join(work.path, 'bundle');
  const downloaded = await fetchTo(file, work.path, await options.link(), options).catch(async (error: unknown) => {
    if (!(error instanceof DocshelfError) || !EXPIRED.has(error.code)) throw error;
    return fetchTo(file, work.path, await options.link(), options);
  });
  return await use(file, downloaded);
}

export async function placeBundle(file: string, target: string): Promise<void> {
  await chmod(file, 0o666 & ~process.umask());
  await rename(file, target);
}

async function fetchTo(
  file: string,
  spoolDir: string,
  bundle: BundleAnswer,
  { sources, link: _, ...options }: DownloadOptions,
) {
  const { bundleUrl: link, sha256 } = bundle;
  const request = { ...options, link, sha256, spoolDir, bundleFile: file };
  const { digest, sizeBytes, fileName } = await fetchBundle(sources, request);
  if (bundle.sizeBytes !== null && bundle.sizeBytes !== sizeBytes) {
    const state = `it has ${counted(sizeBytes, 'byte')}, but the service reports ${bundle.sizeBytes}`;
    throw new DocshelfError('source_truncated', `Cannot use the bundle of job "${bundle.jobId}": ${state}`, {
      next: 'Try again. If it fails each time, contact the operator of the service.',
    });
  }
  return { bundle, digest, sizeBytes, fileName };
}
