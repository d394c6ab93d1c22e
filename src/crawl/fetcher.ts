import { randomBytes } from 'node:crypto';
import { type FileHandle, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline, type Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { CrawlSettings } from '../domain/crawl.ts';
import type { EgressRules } from '../domain/egress.ts';
import { DocshelfError, errnoOf } from '../domain/errors.ts';
import { linkWithoutSecrets } from '../domain/secret.ts';
import { headersIn, linesOf } from '../domain/text.ts';
import { unlessAborted } from '../files/lanes.ts';
import { admitBehindProxy, createDispatcher } from '../net/dispatcher.ts';
import { EgressPolicy } from '../net/egress.ts';
import { bodyFault, headerOf, type RequestFacts, requestFault } from '../net/http-response.ts';
import { sourceTypeOf } from '../web/rewrite/source-text.ts';
import { mediaTypeOf } from './entry.ts';

interface FileRequest {
  /** An http or https address. Requests omit its fragment. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly limitsOf: (mediaType: string) => BodyLimits;
}

export interface BodyLimits {
  /** Maximum decoded bytes. If the body is larger, the request fails with `source_too_large`. */
  readonly bytesMax: number;
  readonly memoryBytesMax: number;
}

export interface FetchedAnswer {
  readonly status: number;
  header(name: string): string | null;
  /** Decoded body, in a file if it is too large for memory. The caller removes the file. */
  readonly body: Uint8Array | { readonly file: string; readonly bytes: number };
}

/**
 * Matches a valid header value (RFC 9110, section 5.5). Each export checks secrets again, because a secret file can change after
 * the config check.
 */
const HEADER_VALUE = /^[\x20-\x7e]{1,16384}$/;
/** Matches a valid header name (RFC 9110, section 5.1). */
const HEADER_NAME = /^[\w!#$%&'*+.^`|~-]+$/;

export function crawlPolicy(
  rules: EgressRules,
  { url, allowAddresses }: CrawlSettings,
  origins: readonly string[],
): EgressPolicy {
  return new EgressPolicy(rules).forCrawl({ allowAddresses, ownOrigins: [url, ...origins] });
}

/**
 * Reads the secret files again for each export. Do not store the returned `credentials`, which contain the secrets.
 * @throws DocshelfError `bad_source` if a secret is invalid
 */
export async function openFetcher(settings: CrawlSettings, policy: EgressPolicy, spoolDir: string) {
  const { cookieFile, bearerFile, headersFile } = settings;
  const headers: Record<string, string> = headersFile === null ? {} : await readHeaders(headersFile, settings);
  if (cookieFile !== null) headers.cookie = await readSecret(cookieFile, settings);
  if (bearerFile !== null) headers.authorization = `Bearer ${await readSecret(bearerFile, settings)}`;
  const fetcher = new GuardedFetcher({
    policy,
    requestTimeoutMs: settings.limits.requestTimeoutMs,
    connectionsMax: settings.concurrency,
    credentials: { origin: new URL(settings.url).origin, headers },
    spoolDir,
  });
  return { fetcher, credentials: JSON.stringify(headers) };
}

const readOrEmpty = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');

async function readHeaders(file: string, settings: CrawlSettings): Promise<Record<string, string>> {
  const headers = headersIn(linesOf(await readOrEmpty(file)));
  const all = Object.entries(headers);
  if (all.length > 0 && all.every(([name, value]) => HEADER_NAME.test(name) && HEADER_VALUE.test(value)))
    return headers;
  throw noSecret(file, settings, 'headers such as "X-Key: value", one per line,');
}

async function readSecret(file: string, settings: CrawlSettings): Promise<string> {
  const text = (await readOrEmpty(file)).trim();
  if (HEADER_VALUE.test(text)) return text;
  throw noSecret(file, settings, 'the cookie or the token on one line');
}

function noSecret(file: string, { url }: CrawlSettings, secret: string): DocshelfError {
  const message = `Cannot export "${new URL(url).host}": "${file}" contains no valid secret`;
  const next = `Write ${secret} into this file, and make it readable for docshelf.`;
  return new DocshelfError('bad_source', message, { next });
}

interface FetcherSettings {
  readonly policy: EgressPolicy;
  readonly requestTimeoutMs: number;
  readonly connectionsMax: number;
  readonly credentials: { readonly origin: string; readonly headers: Readonly<Record<string, string>> };
  readonly spoolDir: string;
}

export class GuardedFetcher {
  readonly #settings: FetcherSettings;
  readonly #dispatcher: Dispatcher;

  constructor(settings: FetcherSettings) {
    this.#settings = settings;
    this.#dispatcher = createDispatcher(settings.policy, settings.connectionsMax);
  }

  /**
   * Sends one request, and follows no redirect.
   * @throws DocshelfError `source_*`, `host_not_allowed`, `address_not_allowed`; the signal's reason if it aborts
   */
  async fetch(request: FileRequest, signal: AbortSignal): Promise<FetchedAnswer> {
    signal.throwIfAborted();
    const url = new URL(request.url);
    const { policy, requestTimeoutMs, credentials, spoolDir } = this.#settings;
    const { connectTimeoutMs, idleTimeoutMs } = policy.rules;
    policy.admit(url);
    const facts = { thing: `"${linkWithoutSecrets(url.href)}"`, connectTimeoutMs, idleTimeoutMs };
    const timeout = AbortSignal.timeout(requestTimeoutMs);
    const either = AbortSignal.any([signal, timeout]);
    try {
      const own = credentials.origin === url.origin ? credentials.headers : {};
      const headers = {
        'user-agent': 'docshelf',
        accept: 'text/html, */*;q=0.9',
        'accept-encoding': 'gzip, br',
        ...request.headers,
        ...own,
      };
      const target = { origin: url.origin, path: `${url.pathname}${url.search}`, method: 'GET' } as const;
      const send = async (): Promise<Dispatcher.ResponseData> => {
        await admitBehindProxy(policy, url);
        return this.#dispatcher.request({ ...target, headers, signal: either });
      };
      // Check the signal here, because undici ignores it until the connection exists.
      const answer = await unlessAborted(send(), either).catch((error: unknown) => {
        throw requestFault(error, facts);
      });
      const header = (name: string): string | null => headerOf(answer.headers, name);
      // Some servers declare the compression of a download such as `tool.tar.gz` as that of their response. Keep such a file, but
      // decompress pages and the scripts, style sheets and data that they load.
      const type = mediaTypeOf({ contentType: header('content-type') ?? '' });
      const isPacked = /\.t?gz$/i.test(url.pathname) && /^(?:x-)?gzip$/i.test(header('content-encoding') ?? '');
      const isLoaded = (sourceTypeOf(type) ?? 'feed') !== 'feed' || /json$|wasm$/.test(type);
      if (isPacked && !isLoaded) answer.headers['content-encoding'] = 'identity';
      const body = await readBody(answer, request.limitsOf, facts, spoolDir);
      return { status: answer.statusCode, header, body };
    } catch (error) {
      signal.throwIfAborted();
      throw timeout.aborted ? tooSlow(facts.thing, requestTimeoutMs) : error;
    }
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }
}

function tooSlow(thing: string, requestTimeoutMs: number): DocshelfError {
  const message = `Cannot fetch ${thing}: the request took longer than ${requestTimeoutMs / 1000} s`;
  return new DocshelfError('source_timeout', message, { fields: { retryable: false } });
}

const UNUSED_BYTES_MAX = 64 * 1024;

async function readBody(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  limitsOf: FileRequest['limitsOf'],
  facts: RequestFacts,
  spoolDir: string,
): Promise<FetchedAnswer['body']> {
  // Ignore errors that the body reports after docshelf has read it. Without a listener, they would end the process.
  body.on('error', () => undefined);
  if (statusCode === 204 || (statusCode >= 300 && statusCode < 400)) {
    await body.dump({ limit: UNUSED_BYTES_MAX }).catch(() => undefined);
    return new Uint8Array();
  }
  const limits = limitsOf(mediaTypeOf({ contentType: headerOf(headers, 'content-type') ?? '' }));
  let receivedBytes = 0;
  const faultOf = (code: 'source_too_large' | 'source_encoded', state: string): DocshelfError => {
    const fields = { retryable: false, receivedBytes };
    return new DocshelfError(code, `Cannot fetch ${facts.thing}: ${state}`, { fields });
  };
  const tooLarge = (): DocshelfError => faultOf('source_too_large', `it is larger than ${limits.bytesMax} bytes`);
  async function* received(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        receivedBytes += chunk.length;
        if (receivedBytes > limits.bytesMax + UNUSED_BYTES_MAX) throw tooLarge();
        yield chunk;
      }
    } catch (error) {
      throw error instanceof DocshelfError ? error : bodyFault(error, facts, receivedBytes);
    }
  }
  try {
    const coding = `${headers['content-encoding'] ?? ''}`.trim().toLowerCase();
    // Some servers send a charset or `none` as Content-Encoding. Browsers ignore these values.
    if (/^(?:|identity|none|utf-?8)$/.test(coding)) {
      if (Number(headers['content-length'] ?? 0) > limits.bytesMax) throw tooLarge();
      return await gather(received(), limits, tooLarge, spoolDir);
    }
    const decoder = decoderOf(coding);
    if (decoder === null)
      throw faultOf('source_encoded', `docshelf did not request its Content-Encoding "${coding.slice(0, 32)}"`);
    pipeline(received(), decoder, () => undefined);
    return await gather(decoder, limits, tooLarge, spoolDir).catch((error: unknown) => {
      if (error instanceof DocshelfError || errnoOf(error) !== undefined) throw error;
      throw faultOf('source_encoded', 'its body does not match its Content-Encoding');
    });
  } finally {
    body.destroy();
  }
}

async function gather(
  source: AsyncIterable<Buffer>,
  { bytesMax, memoryBytesMax }: BodyLimits,
  tooLarge: () => DocshelfError,
  spoolDir: string,
): Promise<FetchedAnswer['body']> {
  const path = join(spoolDir, `body-${randomBytes(8).toString('hex')}`);
  const chunks: Buffer[] = [];
  let bytes = 0;
  let file: FileHandle | null = null;
  try {
    for await (const chunk of source) {
      bytes += chunk.length;
      if (bytes > bytesMax) throw tooLarge();
      chunks.push(chunk);
      if (bytes <= memoryBytesMax) continue;
      file ??= await open(path, 'wx');
      for (const each of chunks.splice(0)) await file.writeFile(each);
    }
    return file === null ? Buffer.concat(chunks) : { file: path, bytes };
  } catch (error) {
    if (file !== null) await rm(path, { force: true });
    throw error;
  } finally {
    await file?.close();
  }
}

function decoderOf(coding: string): Transform | null {
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip();
  if (coding === 'deflate') return createInflate();
  return coding === 'br' ? createBrotliDecompress() : null;
}
