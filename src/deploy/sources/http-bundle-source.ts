import { parse } from 'content-disposition';
import { expiryOfLink, validityOf } from '../../domain/bundle-link.ts';
import type { DocshelfError, ErrorCode } from '../../domain/errors.ts';
import { cleanFileName, isFileName } from '../../domain/file-name.ts';
import type { Secret } from '../../domain/secret.ts';
import type { HttpClient } from '../../net/http-client.ts';
import type { HttpResponse } from '../../net/http-response.ts';
import { retryAfterOf } from '../../net/retry.ts';
import { s3FaultOf } from '../../net/s3-faults.ts';
import { decodeOrKeep } from '../../web/escape.ts';
import { type BundleSource, cannotFetch, type OpenedBundle, type OpenRequest } from '../ports.ts';

/** Content codings to accept without decoding: object stores label a `.tar.gz` as `gzip`, and S3 can return `aws-chunked`. */
const READABLE_CODINGS: ReadonlySet<string> = new Set(['', 'identity', 'gzip', 'x-gzip', 'zstd', 'aws-chunked']);

export function httpBundleSource(client: HttpClient, now: () => number = Date.now): BundleSource {
  return {
    links: /^https?:/i,
    open: (link, request) =>
      openOverHttp(client, link, request, {
        redirects: 'follow',
        refusalOf: (response) => refusalOf(response, link, now()),
      }),
  };
}

interface OpenBehaviour {
  readonly redirects: 'follow' | 'answer';
  readonly refusalOf: (response: HttpResponse) => Promise<DocshelfError>;
}

export async function openOverHttp(
  client: HttpClient,
  link: Secret,
  { resume, signal }: OpenRequest,
  { redirects, refusalOf: refusalFor }: OpenBehaviour,
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
      const range = resumableRange(response, resume);
      if (range !== null) return opened(response, link, resume.offset, range.totalBytes);
    }
    // If the server sent a different range or rejects the range (416), download from the beginning.
    if (response.status !== 206 && response.status !== 416) return whole(response);
    response.close();
  }
  return whole(await client.get(link, { signal, redirects }));
}

function opened(response: HttpResponse, link: Secret, offset: number, totalBytes: number | null): OpenedBundle {
  const coding = response.header('content-encoding')?.trim().toLowerCase() ?? '';
  if (!coding.split(',').every((word) => READABLE_CODINGS.has(word.trim()))) {
    response.close();
    const next =
      'Turn off the compression of archives on the server, or remove Content-Encoding from the stored object.';
    const contentEncoding = coding.slice(0, 64);
    throw cannotFetch(link, 'source_encoded', 'the server sends it with a Content-Encoding', next, { contentEncoding });
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

function resumableRange(response: HttpResponse, resume: { readonly offset: number; readonly etag: string }) {
  const match = /^bytes (\d{1,15})-(\d{1,15})\/(\d{1,15})$/.exec(response.header('content-range') ?? '');
  if (match === null) return null;
  const [start, end, totalBytes] = match.slice(1).map(Number) as [number, number, number];
  if (start !== resume.offset || end !== totalBytes - 1 || end < start) return null;
  const declared = contentLengthOf(response);
  if (declared !== null && declared !== totalBytes - start) return null;
  // If the ETag of a 206 response differs (RFC 9110, section 15.3.7), do not resume, because the file would mix two bundles.
  const etag = response.header('etag');
  return etag === null || etag === resume.etag ? { totalBytes } : null;
}

function contentLengthOf(response: HttpResponse): number | null {
  const text = response.header('content-length');
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Returns only a strong ETag, because a client must not resume a download by a weak ETag (RFC 9110, section 13.1.5). */
const strongTag = (etag: string | null): string | null =>
  etag !== null && /^"[^"]{1,1024}"$/.test(etag) ? etag : null;

const ARCHIVE = /\.(?:tar|tar\.gz|tgz|tar\.zst|zip)$/i;

/**
 * Returns the file name in Content-Disposition, or else the last path segment of one of the links, preferably a segment with an
 * archive extension.
 */
export function bundleFileName(contentDisposition: string | null, links: readonly string[]): string | null {
  const given = contentDisposition === null ? null : plainName(parse(contentDisposition).parameters.filename ?? '');
  if (given !== null) return given;
  const names = links.map((link) => plainName(decodeOrKeep(new URL(link).pathname))).filter((name) => name !== null);
  return names.find((name) => ARCHIVE.test(name)) ?? names.at(-1) ?? null;
}

/** Returns a file name for messages and version labels, or null if the path has no valid name. Do not use the name as a path. */
function plainName(path: string): string | null {
  const name = cleanFileName(path.split(/[/\\]/).at(-1) ?? '');
  return isFileName(name) ? name : null;
}

const BODY_BYTES_MAX = 4096;

/** Clock difference from which docshelf reports wrong clocks as the cause of a rejected link. Some stores report no cause. */
export const CLOCKS_APART_MS = 5 * 60_000;

export const RESTORE_OBJECT = 'Restore the object, and store bundles in a storage class with immediate access.';

/** HTTP statuses after which a retry may help, in addition to 5xx (RFC 9110, section 15; RFC 8470 for 425). */
const TEMPORARY_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);

const FRESH_LINK =
  'Generate a new link, for example with "docshelf export bundle JOB", and set it as staticExport.bundleUrl. If staticExport.version names a stored version, no link is needed.';
const SET_CLOCK = 'Set the clock of the machine that signed the link, and of this machine, then generate a new link.';
const CHECK_LINK =
  'Compare the link with the generated link, including its query. In a shell or a YAML file, put the link in quotes.';

/** Error fields for a response after which a retry may help, with the server's wait time if known. Null if a retry cannot help. */
export function retryFieldsOf(response: HttpResponse, nowMs: number) {
  const { status } = response;
  if (!TEMPORARY_STATUSES.has(status) && status < 500) return null;
  const retryAfterMs = retryAfterOf(response.header('retry-after'), nowMs);
  return { retryable: true, ...(retryAfterMs === null ? {} : { retryAfterMs }) };
}

export async function readRefusal(response: HttpResponse, nowMs: number) {
  const { status } = response;
  // If the body of the response cannot be read, report only the status. The caller checks its signal for an abort.
  const body = await response.text(BODY_BYTES_MAX).catch(() => '');
  const serverCode = serverCodeOf(response, body);
  const shown = serverCode === null ? `${status}` : `${status} ${serverCode}`;
  return { status, body, serverCode, shown, passing: retryFieldsOf(response, nowMs) };
}

export async function refusalOf(response: HttpResponse, link: Secret, nowMs: number): Promise<DocshelfError> {
  const { status, body, serverCode, shown, passing } = await readRefusal(response, nowMs);
  const fields = { status, ...(serverCode === null ? {} : { serverCode }) };
  const refusal = (code: ErrorCode, state: string, next: string, more: object = {}): DocshelfError =>
    cannotFetch(link, code, `${state} (${shown})`, next, { ...fields, ...more });

  const known = serverCode === null ? null : s3FaultOf(serverCode);
  if (known?.kind === 'archived') return refusal('source_failed', known.state, RESTORE_OBJECT);
  // Check status 400 like 401 and 403, because S3 and Google send 400 if the token that signed the link has expired.
  if (status === 400 || status === 401 || status === 403) {
    const links = [link, response.link];
    const isEarly = saysEarly(body);
    if (!isEarly && saysExpired(body)) return refusal('link_expired', 'the link has expired', FRESH_LINK);
    const isClock = isEarly || known?.kind === 'clock';
    if (!isClock && status !== 400 && isPast(links, nowMs)) {
      return refusal('link_expired', 'the link has expired', FRESH_LINK);
    }
    if (isClock || (status !== 400 && !MISMATCH.test(body) && isAhead(links, nowMs))) {
      return refusal(
        'link_refused',
        'the clocks of the server and of the machine that signed the link differ too much',
        SET_CLOCK,
      );
    }
  }
  if (status === 401 || status === 403) return refusal('link_refused', 'the server rejects the link', CHECK_LINK);
  if (status === 404 || status === 410) {
    return refusal('bundle_not_found', 'the bundle does not exist', 'Check the link, or generate a new link.');
  }
  if (passing !== null) {
    return refusal('source_failed', 'the server is unavailable', 'Try again later, or check the server.', passing);
  }
  return refusal('source_failed', 'the server returned an unexpected response', 'Check the link.');
}

function serverCodeOf(response: HttpResponse, body: string): string | null {
  const found = /<Code>\s*([^<]*?)\s*<\/Code>|"code"\s*:\s*"([^"]*)"/.exec(body);
  const word = response.header('x-ms-error-code') ?? found?.[1] ?? found?.[2] ?? '';
  return /^[A-Za-z.]{1,64}$/.test(word) ? word : null;
}

function isPast(links: readonly Secret[], nowMs: number): boolean {
  return links.some((link) => (expiryOfLink(link.reveal()) ?? Number.POSITIVE_INFINITY) < nowMs);
}

function isAhead(links: readonly Secret[], nowMs: number): boolean {
  return links.some((link) => (validityOf(link.reveal()).startsAtMs ?? 0) - nowMs > CLOCKS_APART_MS);
}

const MISMATCH = /SignatureDoesNotMatch|signature did not match/i;

/** Matches the 403 response of S3, MinIO and AWS services to a link that is not yet valid. */
const EARLY_BODY = /request is not (?:yet valid|valid yet)|signature (?:is )?not yet (?:current|valid)/i;

/** Matches a response to an expired link: 400 or 403 from S3, Google, Azure ("… specified time frame") or docshelf. */
const EXPIRED_BODY =
  /request (?:signature )?(?:has )?expired|token has expired|signature (?:has )?expired|link has expired|link_expired|ExpiredToken|not valid in the specified (?:key )?time frame/i;

const AZURE_TIMES = /start \[([^\]]+)\].*?current \[([^\]]+)\]/is;

export function saysEarly(body: string): boolean {
  const [, start, current] = AZURE_TIMES.exec(body) ?? [];
  return EARLY_BODY.test(body) || Date.parse(current ?? '') < Date.parse(start ?? '');
}

export const saysExpired = (body: string): boolean => EXPIRED_BODY.test(body);
