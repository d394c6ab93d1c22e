import { randomBytes } from 'node:crypto';
import { createWriteStream, type WriteStream } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { join } from 'node:path';
import type { Transform } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import type { Dispatcher } from 'undici';
import type { CrawlSettings } from '../domain/crawl.ts';
import type { EgressRules } from '../domain/egress.ts';
import { DocshelfError } from '../domain/errors.ts';
import { linkWithoutSecrets } from '../domain/secret.ts';
import { admitBehindProxy, createDispatcher } from '../net/dispatcher.ts';
import { EgressPolicy } from '../net/egress.ts';
import { bodyFault, headerOf, type RequestFacts, requestFault } from '../net/http-response.ts';
import { mediaTypeOf } from './entry.ts';

export interface FileRequest {
  /** http or https; a fragment is not sent. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly limitsOf: (mediaType: string) => BodyLimits;
}

export interface BodyLimits {
  /** Decoded bytes. Over it the request fails with `source_too_large`. */
  readonly bytesMax: number;
  /** Over it the body is a file and not in memory. */
  readonly memoryBytesMax: number;
}

export interface FetchedAnswer {
  readonly status: number;
  /** As `headerOf`. */
  header(name: string): string | null;
  /** Decoded. A file is the caller's to remove. */
  readonly body: Uint8Array | { readonly file: string; readonly bytes: number };
}

const hasNoUse = (status: number): boolean => status === 204 || (status >= 300 && status < 400);

/** Decodes the body, and bounds its bytes on the wire and its decoded ones. */
export class AnswerReader implements Dispatcher.DispatchHandler {
  readonly answer: Promise<FetchedAnswer>;
  isOver = false;
  readonly #limitsOf: FileRequest['limitsOf'];
  readonly #facts: RequestFacts;
  readonly #spoolDir: string;
  readonly #resolve: (answer: FetchedAnswer) => void;
  readonly #reject: (error: unknown) => void;
  #controller: Dispatcher.DispatchController | null = null;
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #limits: BodyLimits = { bytesMax: 0, memoryBytesMax: 0 };
  #decoder: Transform | null = null;
  #chunks: Buffer[] = [];
  #receivedBytes = 0;
  #isPaused = false;
  #bytes = 0;
  #file: { readonly path: string; readonly stream: WriteStream } | null = null;

  constructor(limitsOf: FileRequest['limitsOf'], facts: RequestFacts, spoolDir: string) {
    this.#limitsOf = limitsOf;
    this.#facts = facts;
    this.#spoolDir = spoolDir;
    const { promise, resolve, reject } = Promise.withResolvers<FetchedAnswer>();
    this.answer = promise;
    this.#resolve = resolve;
    this.#reject = reject;
  }

  abort(reason: unknown): void {
    this.#fail(reason);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.isOver) controller.abort(new Error('given up'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
    this.#limits = hasNoUse(status)
      ? NOTHING
      : this.#limitsOf(mediaTypeOf({ contentType: headers['content-type'] ?? '' }));
    if (hasNoUse(status)) return;
    const coding = `${headers['content-encoding'] ?? ''}`.trim().toLowerCase();
    if (coding !== '' && coding !== 'identity') this.#decodeWith(coding);
    else if (Number(headers['content-length'] ?? 0) > this.#limits.bytesMax) this.#fail(this.#tooLarge());
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isOver) return;
    this.#receivedBytes += chunk.length;
    if (this.#limits === NOTHING) {
      if (this.#receivedBytes <= UNUSED_BYTES_MAX) return;
      this.#end();
      controller.abort(new Error('unused'));
      // A coding that gives nothing for all it takes must end as well.
    } else if (this.#receivedBytes > this.#limits.bytesMax + UNUSED_BYTES_MAX) this.#fail(this.#tooLarge());
    else if (this.#decoder === null) this.#take(chunk);
    else if (!this.#decoder.write(chunk)) {
      controller.pause();
      this.#decoder.once('drain', () => controller.resume());
    }
  }

  onResponseEnd(): void {
    if (this.isOver) return;
    if (this.#decoder === null) this.#end();
    else this.#decoder.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    const isBody = this.#status !== 0;
    this.#fail(isBody ? bodyFault(error, this.#facts, this.#receivedBytes) : requestFault(error, this.#facts));
  }

  #decodeWith(coding: string): void {
    const decoder = decoderOf(coding);
    if (decoder === null) {
      const state = `its Content-Encoding "${coding.slice(0, 32)}" was not asked for`;
      this.#fail(this.#error('source_encoded', state));
      return;
    }
    this.#decoder = decoder;
    decoder.on('data', (chunk: Buffer) => this.#take(chunk));
    decoder.on('end', () => this.#end());
    decoder.on('error', () =>
      this.#fail(this.#error('source_encoded', 'its body is not what its Content-Encoding says')),
    );
  }

  #take(chunk: Buffer): void {
    if (this.isOver) return;
    this.#bytes += chunk.length;
    if (this.#bytes > this.#limits.bytesMax) this.#fail(this.#tooLarge());
    else if (this.#file !== null) this.#write(chunk);
    else {
      this.#chunks.push(chunk);
      if (this.#bytes > this.#limits.memoryBytesMax) this.#spool();
    }
  }

  #spool(): void {
    const path = join(this.#spoolDir, `body-${randomBytes(8).toString('hex')}`);
    this.#file = { path, stream: createWriteStream(path, { flags: 'wx' }) };
    this.#file.stream.on('error', (error) => this.#fail(error));
    for (const chunk of this.#chunks.splice(0)) this.#write(chunk);
  }

  #write(chunk: Buffer): void {
    // Chunks that were read come after the pause has begun.
    if (this.#file?.stream.write(chunk) !== false || this.#isPaused) return;
    const source = this.#decoder ?? this.#controller;
    this.#isPaused = true;
    source?.pause();
    this.#file.stream.once('drain', () => {
      this.#isPaused = false;
      source?.resume();
    });
  }

  #end(): void {
    if (this.isOver) return;
    const headers = this.#headers;
    const header = (name: string): string | null => headerOf(headers, name);
    const status = this.#status;
    const finish = (body: FetchedAnswer['body']): void => {
      if (this.isOver) return;
      this.isOver = true;
      this.#resolve({ status, header, body });
    };
    if (this.#file === null) {
      finish(joined(this.#chunks, this.#bytes));
    } else {
      const { path, stream } = this.#file;
      stream.end(() => finish({ file: path, bytes: this.#bytes }));
    }
  }

  #fail(reason: unknown): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#chunks = [];
    this.#decoder?.destroy();
    if (this.#file !== null) {
      const { path, stream } = this.#file;
      stream.on('close', () => void rm(path, { force: true }).catch(() => undefined));
      stream.destroy();
    }
    this.#reject(reason);
    this.#controller?.abort(new Error('given up'));
  }

  #tooLarge(): DocshelfError {
    return this.#error('source_too_large', `it is larger than ${this.#limits.bytesMax} bytes`);
  }

  #error(code: 'source_too_large' | 'source_encoded', state: string): DocshelfError {
    const fields = { retryable: false, receivedBytes: this.#receivedBytes };
    return new DocshelfError(code, `Cannot fetch ${this.#facts.thing}: ${state}`, { fields });
  }
}

const NOTHING: BodyLimits = { bytesMax: 0, memoryBytesMax: 0 };
/** Of an unwanted body, to keep the connection. */
const UNUSED_BYTES_MAX = 64 * 1024;

/** A buffer of its own can be handed to another thread. */
function joined(chunks: readonly Buffer[], bytes: number): Uint8Array {
  const body = new Uint8Array(bytes);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}

function decoderOf(coding: string): Transform | null {
  if (coding === 'gzip' || coding === 'x-gzip') return createGunzip();
  if (coding === 'deflate') return createInflate();
  return coding === 'br' ? createBrotliDecompress() : null;
}

/** RFC 9110, section 5.5; the config has looked at the files already. */
const HEADER_VALUE = /^[\x20-\x7e]{1,16384}$/;

/** @param origins URLs of the site besides that of its source */
export function crawlPolicy(
  rules: EgressRules,
  { url, allowAddresses }: CrawlSettings,
  origins: readonly string[],
): EgressPolicy {
  return new EgressPolicy(rules).forCrawl({ allowAddresses, ownOrigins: [url, ...origins] });
}

/**
 * With the credentials that the files hold now.
 * @param spoolDir an existing folder for bodies that are too large for memory
 * @returns `credentials` holds secrets, and is kept nowhere
 * @throws DocshelfError `bad_source` where a secret cannot be read
 */
export async function openFetcher(
  settings: CrawlSettings,
  policy: EgressPolicy,
  spoolDir: string,
): Promise<{ readonly fetcher: GuardedFetcher; readonly credentials: string }> {
  const headers: Record<string, string> = {};
  if (settings.cookieFile !== null) headers.cookie = await readSecret(settings.cookieFile, settings);
  if (settings.bearerFile !== null) headers.authorization = `Bearer ${await readSecret(settings.bearerFile, settings)}`;
  const fetcher = new GuardedFetcher({
    policy,
    requestTimeoutMs: settings.limits.requestTimeoutMs,
    connectionsMax: settings.concurrency,
    credentials: { origin: new URL(settings.url).origin, headers },
    spoolDir,
  });
  return { fetcher, credentials: JSON.stringify(headers) };
}

async function readSecret(file: string, { url }: CrawlSettings): Promise<string> {
  const text = await readFile(file, 'utf8').then(
    (content) => content.trim(),
    () => '',
  );
  if (HEADER_VALUE.test(text)) return text;
  const message = `Cannot export "${new URL(url).host}": "${file}" holds no secret that can be sent`;
  const next = 'Put the cookie, or the token, on one line into the file that the source names, readable for docshelf.';
  throw new DocshelfError('bad_source', message, { next });
}

interface FetcherSettings {
  readonly policy: EgressPolicy;
  /** To the body's last byte. */
  readonly requestTimeoutMs: number;
  /** To one origin. */
  readonly connectionsMax: number;
  /** Sent to one origin alone. */
  readonly credentials: { readonly origin: string; readonly headers: Readonly<Record<string, string>> } | null;
  readonly spoolDir: string;
}

export class GuardedFetcher {
  readonly #settings: FetcherSettings;
  readonly #dispatcher: Dispatcher;
  readonly #admitted = new Map<string, Promise<void>>();

  constructor(settings: FetcherSettings) {
    this.#settings = settings;
    this.#dispatcher = createDispatcher(settings.policy, settings.connectionsMax);
  }

  /**
   * Every status resolves; no redirect is followed.
   * @throws DocshelfError `host_not_allowed`, `address_not_allowed`, `source_unreachable`, `source_timeout`, `source_truncated`, `source_failed`,
   *   `source_too_large`, `source_encoded`, with `fields.retryable`; the signal's reason where that aborts
   */
  async fetch(request: FileRequest, signal: AbortSignal): Promise<FetchedAnswer> {
    signal.throwIfAborted();
    const url = new URL(request.url);
    const { policy, requestTimeoutMs, credentials, spoolDir } = this.#settings;
    const { connectTimeoutMs, idleTimeoutMs, proxy } = policy.rules;
    policy.admit(url);
    const facts = { thing: `"${linkWithoutSecrets(url.href)}"`, connectTimeoutMs, idleTimeoutMs };
    const reader = new AnswerReader(request.limitsOf, facts, spoolDir);
    const onAbort = (): void => reader.abort(signal.reason);
    const timer = setTimeout(() => reader.abort(tooSlow(facts.thing, requestTimeoutMs)), requestTimeoutMs);
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      if (proxy !== 'off')
        await this.#admit(url).catch((error: unknown) => reader.onResponseError(null, error as Error));
      const own = credentials?.origin === url.origin ? credentials.headers : {};
      const headers = {
        'user-agent': 'docshelf',
        accept: 'text/html, */*;q=0.9',
        'accept-encoding': 'gzip, br',
        ...request.headers,
        ...own,
      };
      const options = { origin: url.origin, path: `${url.pathname}${url.search}`, method: 'GET', headers } as const;
      if (!reader.isOver) this.#dispatcher.dispatch(options, reader);
      return await reader.answer;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', onAbort);
    }
  }

  async close(): Promise<void> {
    await this.#dispatcher.destroy();
  }

  #admit(url: URL): Promise<void> {
    const known = this.#admitted.get(url.host);
    if (known !== undefined) return known;
    const admitted = admitBehindProxy(this.#settings.policy, url);
    this.#admitted.set(url.host, admitted);
    return admitted;
  }
}

function tooSlow(thing: string, requestTimeoutMs: number): DocshelfError {
  return new DocshelfError('source_timeout', `Cannot fetch ${thing}: not done within ${requestTimeoutMs / 1000} s`, {
    fields: { retryable: false },
  });
}
