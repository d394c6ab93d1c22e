import { createHash, type Hash, hash, randomBytes } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { type FileHandle, lstat, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { BUNDLE_LINK_FORMS } from '../../domain/bundle-link.ts';
import { DocshelfError, toDocshelfError } from '../../domain/errors.ts';
import { linkWithoutSecrets, type Secret } from '../../domain/secret.ts';
import { membersOf } from '../../domain/shape.ts';
import { counted } from '../../domain/text.ts';
import { type FileLock, lockFile } from '../../files/file-lock.ts';
import { ageOf, openToAppend, replaceFile } from '../../files/index.ts';
import { RETRY_TOOLS, type RetryTools, retry } from '../../net/retry.ts';
import { type BundleSource, cannotFetch, type OpenedBundle } from '../ports.ts';

/** Age of a partial download after which docshelf does not resume it. */
const PART_AGE_MS_MAX = 24 * 3600_000;

export interface FetchRequest {
  readonly link: Secret;
  readonly sha256: string | null;
  /** Existing folder for the partial download, which a later fetch of the same link resumes. */
  readonly spoolDir: string;
  /** Path of the complete bundle, on the same volume as `spoolDir`. */
  readonly bundleFile: string;
  readonly bundleBytesMax: number;
  readonly retriesMax: number;
  readonly signal: AbortSignal;
  readonly onProgress?: (doneBytes: number, totalBytes: number | null) => void;
}

export interface FetchedBundle {
  readonly digest: string;
  readonly sizeBytes: number;
  readonly fileName: string | null;
  readonly isVerified: boolean;
}

/**
 * Downloads a bundle. After a failure, keeps the partial file if a later download can resume it.
 * @throws DocshelfError `source_*`, `wrong_digest`, `cannot_write`
 */
export async function fetchBundle(
  sources: readonly BundleSource[],
  request: FetchRequest,
  tools: RetryTools = RETRY_TOOLS,
): Promise<FetchedBundle> {
  const { link, signal } = request;
  const source = sourceFor(sources, link);
  try {
    const part = await Part.open(request.spoolDir, link);
    try {
      const transferred = await retry(() => transfer(source, part, request), request, tools);
      const { bytes: sizeBytes, digest } = part;
      await part.complete(request.bundleFile);
      return { digest, sizeBytes, ...transferred };
    } finally {
      await part.release();
    }
  } catch (error) {
    signal.throwIfAborted();
    throw toDocshelfError(error);
  }
}

export function sourceFor(sources: readonly BundleSource[], link: Secret): BundleSource {
  const source = sources.find(({ links }) => links.test(link.reveal()));
  if (source !== undefined) return source;
  throw cannotFetch(
    link,
    'source_failed',
    'docshelf does not support this kind of link',
    `Write the link as ${BUNDLE_LINK_FORMS}.`,
  );
}

async function transfer(
  source: BundleSource,
  part: Part,
  { link, sha256, bundleBytesMax: bytesMax, signal, onProgress }: FetchRequest,
): Promise<Pick<FetchedBundle, 'fileName' | 'isVerified'>> {
  const opened = await source.open(link, { resume: part.resume, signal });
  try {
    const { totalBytes } = opened;
    if (totalBytes === null && !opened.endIsCertain && sha256 === null) throw noLength(link);
    if (totalBytes !== null && totalBytes > bytesMax) {
      await part.discard();
      throw tooLarge(link, bytesMax);
    }
    if (opened.offset === 0) await part.restart(opened.etag);
    onProgress?.(part.bytes, totalBytes);
    for await (const chunk of opened.stream) {
      if (part.bytes + chunk.length > bytesMax) {
        await part.discard();
        throw tooLarge(link, bytesMax);
      }
      await part.append(chunk);
      onProgress?.(part.bytes, totalBytes);
    }
    signal.throwIfAborted();
    if (totalBytes !== null && part.bytes !== totalBytes) {
      const receivedBytes = part.bytes;
      if (receivedBytes > totalBytes) await part.discard();
      throw wrongLength(link, receivedBytes, totalBytes);
    }
    const named = [sha256, opened.sha256].filter((wanted) => wanted != null);
    const expected = named.find((wanted) => wanted !== part.digest);
    if (expected !== undefined) {
      const found = part.digest;
      await part.discard();
      throw wrongDigest(link, expected, found, opened);
    }
    return { fileName: opened.fileName, isVerified: named.length > 0 };
  } finally {
    opened.close();
  }
}

function noLength(link: Secret): DocshelfError {
  const state = 'the server does not send its length, so docshelf could not detect an incomplete transfer';
  const next = 'Set staticExport.sha256 to the digest of the bundle, or configure the server to send Content-Length.';
  return cannotFetch(link, 'source_no_length', state, next);
}

function tooLarge(link: Secret, bytesMax: number): DocshelfError {
  const next = 'Check that the link is for a bundle. If it is, raise staticExport.limits.bundleBytes.';
  return cannotFetch(link, 'source_too_large', `it is larger than ${bytesMax} bytes`, next, { bytesMax });
}

function wrongLength(link: Secret, receivedBytes: number, totalBytes: number): DocshelfError {
  const state = `the server declared ${counted(totalBytes, 'byte')}, but sent ${receivedBytes}`;
  const next = 'Try again. If it fails each time, check the server and the proxies between it and docshelf.';
  return cannotFetch(link, 'source_truncated', state, next, { receivedBytes, totalBytes, retryable: true });
}

/**
 * Error for a bundle with an unexpected digest. Retryable if the download was resumed or may be incomplete, because the next
 * attempt can then receive other bytes.
 */
function wrongDigest(link: Secret, expected: string, found: string, opened: OpenedBundle): DocshelfError {
  const state = `its SHA-256 is ${found}, expected ${expected}`;
  return new DocshelfError('wrong_digest', `Cannot use "${linkWithoutSecrets(link.reveal())}": ${state}`, {
    next:
      expected === opened.sha256
        ? 'Try again. If it fails again, push the bundle to the registry again, because its bytes do not match the manifest.'
        : 'Compare staticExport.sha256 with the digest that the export reported. If they are equal, generate the bundle again.',
    fields: { expected, found, retryable: opened.offset > 0 || !opened.endIsCertain },
  });
}

/**
 * Partial download. Its file name is the SHA-256 of the link without query. If another process holds the lock of the spool
 * folder, the file name also has a random part.
 */
export class Part {
  bytes = 0;
  readonly #base: string;
  readonly #file: string;
  readonly #lock: FileLock | null;
  #etag: string | null = null;
  #hash: Hash = createHash('sha256');
  #handle: FileHandle | null = null;

  private constructor(base: string, lock: FileLock | null) {
    this.#base = base;
    this.#file = lock === null ? `${base}.${randomBytes(8).toString('hex')}.part` : `${base}.part`;
    this.#lock = lock;
  }

  static async open(spoolDir: string, link: Secret, nowMs = Date.now()): Promise<Part> {
    const part = new Part(join(spoolDir, keyOf(link)), lockSpool(spoolDir));
    try {
      if (part.#lock !== null) await part.#resumePart(nowMs - PART_AGE_MS_MAX);
      return part;
    } catch (error) {
      await part.release();
      throw error;
    }
  }

  get resume(): { readonly offset: number; readonly etag: string } | null {
    return this.bytes > 0 && this.#etag !== null ? { offset: this.bytes, etag: this.#etag } : null;
  }

  get digest(): string {
    return this.#hash.copy().digest('hex');
  }

  async restart(etag: string | null): Promise<void> {
    await this.discard();
    this.#handle = await open(this.#file, 'wx', 0o600);
    this.#etag = this.#lock === null ? null : etag;
    // Write the ETag to disk before the first byte of the download, so that the ETag never belongs to bytes of another download.
    if (this.#etag !== null) await replaceFile(`${this.#base}.json`, JSON.stringify({ etag: this.#etag }));
  }

  async append(chunk: Uint8Array): Promise<void> {
    if (this.#handle === null) throw new Error('append() before restart()');
    try {
      await this.#handle.appendFile(chunk);
    } catch (error) {
      await this.discard();
      throw error;
    }
    this.#hash.update(chunk);
    this.bytes += chunk.length;
  }

  async complete(file: string): Promise<void> {
    await this.#closeFile();
    await rename(this.#file, file);
    await this.discard();
  }

  async discard(): Promise<void> {
    await this.#closeFile();
    await rm(this.#file, { force: true });
    if (this.#lock !== null) await rm(`${this.#base}.json`, { force: true });
    this.bytes = 0;
    this.#etag = null;
    this.#hash = createHash('sha256');
  }

  async release(): Promise<void> {
    try {
      if (this.resume === null) await this.discard();
      else await this.#closeFile();
    } finally {
      this.#lock?.close();
    }
  }

  async #resumePart(oldestMs: number): Promise<void> {
    const info = await lstat(this.#file).catch(() => null);
    const etag = await readEtag(`${this.#base}.json`);
    if (info?.isFile() !== true || etag === null || info.mtimeMs < oldestMs) return;
    for await (const chunk of createReadStream(this.#file) as AsyncIterable<Buffer>) {
      this.#hash.update(chunk);
      this.bytes += chunk.length;
    }
    this.#etag = etag;
    this.#handle = await openToAppend(this.#file);
  }

  async #closeFile(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    await handle?.close();
  }
}

/**
 * Removes old files, and partial downloads of links other than `keepLink`, from the spool folder. Does nothing while another
 * process fetches a bundle.
 */
export async function sweepSpool(spoolDir: string, keepLink: Secret | null, nowMs: number): Promise<void> {
  if (!existsSync(spoolDir)) return;
  const lock = lockSpool(spoolDir);
  if (lock === null) return;
  try {
    const keepKey = keepLink === null ? null : keyOf(keepLink);
    for (const name of await readdir(spoolDir)) {
      const key = /^([0-9a-f]{64})(?:\.[0-9a-f]{16})?\.(?:part|json|lock|done)$/.exec(name)?.[1];
      if (key === undefined) continue;
      const file = join(spoolDir, name);
      // A file with a random part in its name may belong to a running fetch, so remove the file only if it is old.
      const isResumable = name === `${key}.part` || name === `${key}.json`;
      const isOld = ((await ageOf(file, nowMs)) ?? 0) > PART_AGE_MS_MAX;
      if (isOld || (isResumable && key !== keepKey)) await rm(file, { force: true });
    }
  } finally {
    lock.close();
  }
}

function lockSpool(spoolDir: string): FileLock | null {
  const lock = lockFile(join(spoolDir, 'lock'), 'exclusive');
  return lock === 'taken' ? null : lock;
}

async function readEtag(file: string): Promise<string | null> {
  const { etag } = membersOf<{ etag: string }>(await readFile(file, 'utf8').catch(() => null));
  return typeof etag === 'string' ? etag : null;
}

const keyOf = (link: Secret): string => hash('sha256', linkWithoutSecrets(link.reveal()));
