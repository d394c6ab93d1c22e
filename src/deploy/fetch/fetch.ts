import { BUNDLE_LINK_FORMS } from '../../domain/bundle-link.ts';
import { DocshelfError, toDocshelfError } from '../../domain/errors.ts';
import { linkWithoutSecrets, type Secret } from '../../domain/secret.ts';
import { counted } from '../../domain/text.ts';
import { RETRY_TOOLS, type RetryTools, retry } from '../../net/retry.ts';
import type { BundleSource, OpenedBundle } from '../ports.ts';
import { Part } from './spool.ts';

export { sweepSpool } from './spool.ts';

export interface FetchSettings {
  readonly spoolDir: string;
  /** On the spool's file system, in a folder that is swept when its owner has died. */
  readonly bundleFile: string;
  readonly bundleBytesMax: number;
  readonly retriesMax: number;
  readonly partMaxAgeMs: number;
}

export interface FetchRequest {
  readonly link: Secret;
  readonly sha256: string | null;
  readonly signal: AbortSignal;
  readonly onProgress?: (doneBytes: number, totalBytes: number | null) => void;
  readonly onRetry?: (error: DocshelfError, waitMs: number) => void;
}

export interface FetchedBundle {
  readonly digest: string;
  readonly sizeBytes: number;
  readonly fileName: string | null;
  /** True if the digest is the one that the request or the source named. */
  readonly isVerified: boolean;
}

export interface FetchTools extends RetryTools {
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const FETCH_TOOLS: FetchTools = Object.freeze({ ...RETRY_TOOLS, now: Date.now });

/**
 * Brings a bundle through the spool to its file: bounded, resumed, retried, whole by length or digest. What a failed
 * fetch received stays for resuming, unless it is too large, of another digest, or on a full disk.
 * @throws DocshelfError the source's (ports.ts), `source_too_large`, `source_no_length`, `source_truncated`,
 *   `wrong_digest`, `cannot_write`; the signal's reason
 */
export async function fetchBundle(
  sources: readonly BundleSource[],
  request: FetchRequest,
  settings: FetchSettings,
  tools: FetchTools = FETCH_TOOLS,
): Promise<FetchedBundle> {
  const { link, signal, onRetry } = request;
  const source = sourceFor(sources, link);
  try {
    const part = await Part.open(settings.spoolDir, link, tools.now() - settings.partMaxAgeMs);
    try {
      const attempt = () => transfer(source, part, request, settings.bundleBytesMax);
      const transferred = await retry(attempt, { retriesMax: settings.retriesMax, signal, onRetry }, tools);
      const { bytes: sizeBytes, digest } = part;
      await part.complete(settings.bundleFile);
      return { digest, sizeBytes, ...transferred };
    } finally {
      await part.release();
    }
  } catch (error) {
    signal.throwIfAborted();
    throw toDocshelfError(error);
  }
}

/** @throws DocshelfError `source_failed` */
export function sourceFor(sources: readonly BundleSource[], link: Secret): BundleSource {
  const source = sources.find((candidate) => candidate.handles(link));
  if (source !== undefined) return source;
  throw new DocshelfError('source_failed', `Cannot fetch ${thingOf(link)}: no source reads such links`, {
    next: `Write it as ${BUNDLE_LINK_FORMS}.`,
    fields: { retryable: false },
  });
}

/** One attempt. */
async function transfer(
  source: BundleSource,
  part: Part,
  { link, sha256, signal, onProgress }: FetchRequest,
  bytesMax: number,
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
      // No later attempt could go on from there.
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

function thingOf(link: Secret): string {
  return `"${linkWithoutSecrets(link.reveal())}"`;
}

function noLength(link: Secret): DocshelfError {
  const state = 'the server does not say its length, so that a cut transfer would look like a whole one';
  return new DocshelfError('source_no_length', `Cannot fetch ${thingOf(link)}: ${state}`, {
    next: 'Set staticExport.sha256 to the digest of the bundle, or have the server send Content-Length.',
    fields: { retryable: false },
  });
}

function tooLarge(link: Secret, bytesMax: number): DocshelfError {
  return new DocshelfError('source_too_large', `Cannot fetch ${thingOf(link)}: it is larger than ${bytesMax} bytes`, {
    next: 'Check that the link leads to a bundle.',
    fields: { bytesMax, retryable: false },
  });
}

function wrongLength(link: Secret, receivedBytes: number, totalBytes: number): DocshelfError {
  const state = `${counted(receivedBytes, 'byte')} came where ${totalBytes} were declared`;
  return new DocshelfError('source_truncated', `Cannot fetch ${thingOf(link)}: ${state}`, {
    next: 'Try again; where it happens each time, look at the server, and at proxies between it and docshelf.',
    fields: { receivedBytes, totalBytes, retryable: true },
  });
}

/** A retry helps where bytes were joined with an earlier part, or cut without notice. */
function wrongDigest(link: Secret, expected: string, found: string, opened: OpenedBundle): DocshelfError {
  const state = `its SHA-256 is ${found}, expected ${expected}`;
  return new DocshelfError('wrong_digest', `Cannot use ${thingOf(link)}: ${state}`, {
    next:
      expected === opened.sha256
        ? 'The registry gave other bytes than its manifest names: try again, or push the bundle anew.'
        : 'Compare staticExport.sha256 with the digest that the export gave, or generate the bundle anew.',
    fields: { expected, found, retryable: opened.offset > 0 || !opened.endIsCertain },
  });
}
