import { chmod, mkdtemp, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fetchBundle } from '../../deploy/index.ts';
import type { BundleSource } from '../../deploy/ports.ts';
import { DocshelfError, type ErrorCode } from '../../domain/errors.ts';
import type { BundleAnswer } from '../../domain/job.ts';
import { counted } from '../../domain/text.ts';

export interface DownloadOptions {
  readonly sources: readonly BundleSource[];
  /** Asked again where it expires on the way. */
  readonly link: () => Promise<BundleAnswer>;
  readonly bundleBytesMax: number;
  readonly retriesMax: number;
  readonly signal: AbortSignal;
  readonly onProgress: (doneBytes: number, totalBytes: number | null) => void;
}

export interface Downloaded {
  readonly bundle: BundleAnswer;
  readonly digest: string;
  readonly sizeBytes: number;
  /** The server's name for it. */
  readonly fileName: string | null;
}

const EXPIRED: ReadonlySet<ErrorCode> = new Set(['link_expired', 'link_refused']);

/** Only the command that began a part resumes it. */
const PART_AGE_MS_MAX = Number.MAX_SAFE_INTEGER;

/** Gone once `use` has ended. @throws DocshelfError a source code, `wrong_digest`, `cannot_write`; what `use` throws */
export async function downloadBundle<T>(
  folder: string,
  options: DownloadOptions,
  use: (file: string, downloaded: Downloaded) => Promise<T>,
): Promise<T> {
  const work = await mkdtemp(join(folder, '.docshelf-pull-'));
  try {
    const file = join(work, 'bundle');
    const bundle = await options.link();
    const downloaded = await fetchTo(file, work, bundle, options).catch(async (error: unknown) => {
      if (!(error instanceof DocshelfError) || !EXPIRED.has(error.code)) throw error;
      return fetchTo(file, work, await options.link(), options);
    });
    return await use(file, downloaded);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** As readable as files are: it is no secret. */
export async function placeBundle(file: string, target: string): Promise<void> {
  await chmod(file, 0o666 & ~process.umask());
  await rename(file, target);
}

async function fetchTo(
  file: string,
  work: string,
  bundle: BundleAnswer,
  { sources, bundleBytesMax, retriesMax, signal, onProgress }: DownloadOptions,
): Promise<Downloaded> {
  const { digest, sizeBytes, fileName } = await fetchBundle(
    sources,
    { link: bundle.bundleUrl, sha256: bundle.sha256, signal, onProgress },
    { spoolDir: work, bundleFile: file, bundleBytesMax, retriesMax, partMaxAgeMs: PART_AGE_MS_MAX },
  );
  if (bundle.sizeBytes !== null && bundle.sizeBytes !== sizeBytes) {
    const state = `it has ${counted(sizeBytes, 'byte')}, and the service says ${bundle.sizeBytes}`;
    throw new DocshelfError('source_truncated', `Cannot use the bundle of job "${bundle.jobId}": ${state}`, {
      next: 'Try again; where it happens each time, ask who runs the service.',
    });
  }
  return { bundle, digest, sizeBytes, fileName };
}
