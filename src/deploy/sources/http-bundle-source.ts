import { parse } from 'content-disposition';
import { DocshelfError } from '../../domain/errors.ts';
import { cleanFileName, isFileName } from '../../domain/file-name.ts';
import { linkWithoutSecrets, type Secret } from '../../domain/secret.ts';
import type { HttpClient } from '../../net/http-client.ts';
import type { HttpResponse } from '../../net/http-response.ts';
import { decodeOrKeep } from '../../web/escape.ts';
import type { BundleSource, OpenedBundle, OpenRequest } from '../ports.ts';
import { refusalOf } from './http-refusal.ts';

/** Nothing is decoded: stores label a `.tar.gz` with `gzip` because it is one; S3 keeps `aws-chunked` from the upload. */
const READABLE_CODINGS: ReadonlySet<string> = new Set(['', 'identity', 'gzip', 'x-gzip', 'zstd', 'aws-chunked']);

export class HttpBundleSource implements BundleSource {
  readonly #client: HttpClient;
  readonly #now: () => number;

  constructor(client: HttpClient, now: () => number = Date.now) {
    this.#client = client;
    this.#now = now;
  }

  handles(link: Secret): boolean {
    return /^https?:/i.test(link.reveal());
  }

  open(link: Secret, request: OpenRequest): Promise<OpenedBundle> {
    return openOverHttp(this.#client, link, request, {
      redirects: 'follow',
      refusalOf: (response) => refusalOf(response, link, this.#now()),
    });
  }
}

interface HttpManner {
  readonly redirects: 'follow' | 'answer';
  /** Ends the exchange. */
  readonly refusalOf: (response: HttpResponse) => Promise<DocshelfError>;
}

export async function openOverHttp(
  client: HttpClient,
  link: Secret,
  { resume, signal }: OpenRequest,
  { redirects, refusalOf: refusalFor }: HttpManner,
): Promise<OpenedBundle> {
  const whole = async (response: HttpResponse): Promise<OpenedBundle> => {
    if (response.status === 200) return opened(response, link, 0, contentLengthOf(response));
    const refusal = await refusalFor(response);
    signal.throwIfAborted();
    throw refusal;
  };
  if (resume !== null) {
    const headers = { range: `bytes=${resume.offset}-`, 'if-range': resume.etag };
    const response = await client.get(link, { headers, signal, redirects });
    if (response.status === 206) {
      const range = rangeThatGoesOn(response, resume);
      if (range !== null) return opened(response, link, resume.offset, range.totalBytes);
    }
    // Another range than asked for, or none (416): from the start.
    if (response.status !== 206 && response.status !== 416) return whole(response);
    response.close();
  }
  return whole(await client.get(link, { signal, redirects }));
}

function opened(response: HttpResponse, link: Secret, offset: number, totalBytes: number | null): OpenedBundle {
  const coding = response.header('content-encoding')?.trim().toLowerCase() ?? '';
  if (!coding.split(',').every((word) => READABLE_CODINGS.has(word.trim()))) {
    response.close();
    const message = `Cannot fetch "${linkWithoutSecrets(link.reveal())}": the server sends it with a Content-Encoding`;
    throw new DocshelfError('source_encoded', message, {
      next: 'Turn the compression of archives off at the server, or remove Content-Encoding from the stored object.',
      fields: { contentEncoding: coding.slice(0, 64), retryable: false },
    });
  }
  const isChunked = /\bchunked\s*$/i.test(response.header('transfer-encoding') ?? '');
  return {
    stream: response.stream(),
    offset,
    totalBytes,
    endIsCertain: isChunked || response.header('content-length') !== null,
    etag: strongTag(response.header('etag')),
    fileName: bundleFileName(response.header('content-disposition'), [link.reveal(), response.link.reveal()]),
    close: () => response.close(),
  };
}

function rangeThatGoesOn(
  response: HttpResponse,
  resume: { readonly offset: number; readonly etag: string },
): { readonly totalBytes: number } | null {
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(response.header('content-range') ?? '');
  if (match === null) return null;
  const [start, end, totalBytes] = match.slice(1).map(Number) as [number, number, number];
  if (start !== resume.offset || end !== totalBytes - 1 || end < start) return null;
  const declared = contentLengthOf(response);
  if (declared !== null && declared !== totalBytes - start) return null;
  // A 206 carries the ETag (RFC 9110 section 15.3.7); another one would join two bundles.
  const etag = response.header('etag');
  return etag === null || etag === resume.etag ? { totalBytes } : null;
}

function contentLengthOf(response: HttpResponse): number | null {
  const text = response.header('content-length');
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Only a strong validator may join ranges (RFC 9110 section 13.1.5). */
function strongTag(etag: string | null): string | null {
  return etag !== null && /^"[^"]{1,1024}"$/.test(etag) ? etag : null;
}

const ARCHIVE = /\.(?:tar|tar\.gz|tgz|tar\.zst|zip)$/i;

/**
 * Content-Disposition, else the end of a link's path, by preference an archive's.
 * @param links the one that was asked for, and where redirects led
 */
export function bundleFileName(contentDisposition: string | null, links: readonly string[]): string | null {
  const given = contentDisposition === null ? null : plainName(parse(contentDisposition).parameters.filename ?? '');
  if (given !== null) return given;
  const names = links.map((link) => plainName(decodeOrKeep(new URL(link).pathname))).filter((name) => name !== null);
  return names.find((name) => ARCHIVE.test(name)) ?? names.at(-1) ?? null;
}

/** Fit to be printed and to be a label's source; never used as a path. */
function plainName(path: string): string | null {
  const name = cleanFileName(path.split(/[/\\]/).at(-1) ?? '');
  return isFileName(name) ? name : null;
}
