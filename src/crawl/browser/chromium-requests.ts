import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { CDPSession } from 'playwright-core';
import { DocshelfError } from '../../domain/errors.ts';
import { Scheduler } from '../../threads/scheduler.ts';
import type { FetchedAnswer } from '../fetcher.ts';
import type { AnswerRequest, FailedRequest, PageRequest } from '../render/rendered-page.ts';

interface PausedRequest {
  readonly requestId: string;
  readonly frameId: string;
  readonly resourceType: string;
  readonly request: {
    readonly url: string;
    readonly method: string;
    readonly headers: Readonly<Record<string, string>>;
  };
}

export type OwnersOf = (frameId: string) => { readonly visits: readonly Visit[]; readonly isMainFrame: boolean };

const AT_ONCE_MAX = 32;
const KEPT_BYTES_MAX = 32 * 1024 ** 2;
const BODY_BYTES_MAX = 64 * 1024 ** 2;

/** Response headers that docshelf passes to the browser. Excludes lengths and content codings, because docshelf has decoded the bytes. */
const HEADERS = [
  'content-type location refresh link content-disposition content-language content-security-policy etag last-modified vary',
  'cross-origin-embedder-policy cross-origin-opener-policy cross-origin-resource-policy referrer-policy permissions-policy',
  'access-control-allow-origin access-control-allow-credentials access-control-expose-headers',
  'x-content-type-options x-frame-options',
].flatMap((line) => line.split(' '));

const NOT_SENT =
  /^(?:user-agent|referer|origin|host|connection|range|if-.*|cache-control|pragma|upgrade-insecure-requests|sec-.*|purpose|accept-encoding)$/;
const SAME_FOR_ALL = /^(?:accept|accept-language|cookie)$/;

const COOKIE_END = /, (?=[^\s;,=]+=)/;

/** Responds to every request of pages, frames and workers of a browser. */
export class ChromiumRequests {
  readonly #cdp: CDPSession;
  readonly #answer: AnswerRequest;
  readonly #ownersOf: OwnersOf;
  readonly #signal: AbortSignal;
  readonly #kept = new LRUCache<string, FetchedAnswer>({
    maxSize: KEPT_BYTES_MAX,
    sizeCalculation: ({ body }) => 1 + (body instanceof Uint8Array ? body.length : 0),
  });
  readonly #scheduler = new Scheduler(AT_ONCE_MAX);

  constructor(cdp: CDPSession, answer: AnswerRequest, ownersOf: OwnersOf, signal: AbortSignal) {
    this.#cdp = cdp;
    this.#answer = answer;
    this.#ownersOf = ownersOf;
    this.#signal = signal;
  }

  async start(): Promise<void> {
    this.#cdp.on('Fetch.requestPaused', (paused) => void this.#take(paused));
    await this.#cdp.send('Fetch.enable', { patterns: [{ urlPattern: '*' }] });
  }

  async #take(paused: PausedRequest): Promise<void> {
    const owners = this.#ownersOf(paused.frameId);
    const url = withoutFragment(paused.request.url);
    const isMissed = !(paused.resourceType === 'Other' && new URL(url).pathname === '/favicon.ico');
    const fail = (why: string): void => {
      if (isMissed) for (const visit of visits) visit.fail(url, why);
    };
    const isOwnDocument = owners.isMainFrame && paused.resourceType === 'Document';
    // A visit loads one page. Until the browser requests the page itself, ignore other requests, because they belong to the previous page.
    const visits = owners.visits.filter((visit) => visit.hasDocument || isOwnDocument);
    for (const visit of visits) visit.begin();
    try {
      const isAdmitted = visits.every((visit) => visit.admits(isOwnDocument));
      const refusal = visits.length === 0 ? 'nobody' : (refusalOf(paused) ?? (isAdmitted ? null : 'budget'));
      if (refusal !== null) {
        fail(refusal);
        await this.#refuse(paused);
        return;
      }
      const answer = await this.#find(toPageRequest(paused, url, visits[0]?.url ?? url));
      const bytes = await bytesOf(answer);
      for (const visit of visits) visit.count(bytes.length);
      if (answer.status >= 400) fail(String(answer.status));
      if (await this.#fulfill(paused, answer, bytes)) return;
      if (await this.#refuse(paused)) fail('answer');
    } catch (error) {
      const why = error instanceof DocshelfError ? error.code : 'internal';
      if (await this.#refuse(paused)) fail(why);
    } finally {
      for (const visit of visits) visit.end();
    }
  }

  #find(request: PageRequest): Promise<FetchedAnswer> {
    const key = keyOf(request);
    const kept = this.#kept.get(key);
    if (kept !== undefined) return Promise.resolve(kept);
    const ask = async (): Promise<FetchedAnswer> => {
      const answer = await this.#answer(request, this.#signal);
      if (answer.body instanceof Uint8Array) this.#kept.set(key, answer);
      return answer;
    };
    return this.#scheduler.run(ask, { share: key });
  }

  #fulfill({ requestId, request }: PausedRequest, answer: FetchedAnswer, bytes: Uint8Array): Promise<boolean> {
    const sent = this.#cdp.send('Fetch.fulfillRequest', {
      requestId,
      responseCode: answer.status,
      responseHeaders: headersOf(answer, request.headers.Origin),
      body: request.method === 'HEAD' ? '' : toBase64(bytes),
    });
    return succeeds(sent);
  }

  #refuse({ requestId }: PausedRequest): Promise<boolean> {
    return succeeds(this.#cdp.send('Fetch.failRequest', { requestId, errorReason: 'BlockedByClient' }));
  }
}

/** Rejects requests for schemes except http and https, requests that could change the site, and event streams, which never end. */
function refusalOf({ request: { url, method, headers } }: PausedRequest): string | null {
  if (!/^https?:/i.test(url)) return 'scheme';
  if (method !== 'GET' && method !== 'HEAD') return 'method';
  return headers.Accept === 'text/event-stream' ? 'stream' : null;
}

function toPageRequest({ request, resourceType }: PausedRequest, url: string, pageUrl: string): PageRequest {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) {
    const lowered = name.toLowerCase();
    if (!NOT_SENT.test(lowered)) headers[lowered] = value;
  }
  return { url, headers, isNavigation: resourceType === 'Document', pageUrl };
}

function keyOf({ url, headers }: PageRequest): string {
  const own = Object.entries(headers).filter(([name]) => !SAME_FOR_ALL.test(name));
  return JSON.stringify([url, own]);
}

async function bytesOf({ body }: FetchedAnswer): Promise<Uint8Array> {
  if (body instanceof Uint8Array) return body;
  if (body.bytes > BODY_BYTES_MAX) {
    throw new DocshelfError(
      'source_too_large',
      `Cannot show a response of ${body.bytes} bytes in a page: it is too large`,
    );
  }
  return readFile(body.file);
}

/** Allows all requests across origins, because the exported site will serve all files from one origin. */
function headersOf(answer: FetchedAnswer, origin: string | undefined): { name: string; value: string }[] {
  const headers = HEADERS.flatMap((name) => {
    const value = answer.header(name);
    return value === null ? [] : [{ name, value }];
  });
  if (origin !== undefined && answer.header('access-control-allow-origin') === null) {
    headers.push({ name: 'access-control-allow-origin', value: origin });
    headers.push({ name: 'access-control-allow-credentials', value: 'true' });
  }
  const cookies = answer.header('set-cookie')?.split(COOKIE_END) ?? [];
  return [...headers, ...cookies.map((value) => ({ name: 'set-cookie', value }))];
}

const toBase64 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64');

const succeeds = (sent: Promise<unknown>): Promise<boolean> =>
  sent.then(
    () => true,
    () => false,
  );

function withoutFragment(url: string): string {
  const at = url.indexOf('#');
  return at === -1 ? url : url.slice(0, at);
}

const REQUESTS_MAX = 3_000;
const PAGE_BYTES_MAX = 256 * 1024 ** 2;
/** Maximum requests for the document of one page. Each redirect causes another request. Browsers follow 20 redirects. */
const DOCUMENTS_MAX = 20;
const KEPT_MAX = 100;
const ERROR_CHARACTERS_MAX = 500;
const MESSAGES_MAX = 5_000;

const POLL_MS = 20;

export class Visit {
  readonly failures: FailedRequest[] = [];
  readonly consoleErrors: string[] = [];
  #requests = 0;
  #bytes = 0;
  #documents = 0;
  #messages = 0;
  #inFlight = 0;
  /** Time (`performance.now()`) when a request last started or ended. */
  lastChangeAt = performance.now();
  readonly #onFlood: () => void;
  readonly url: string;

  constructor(url: string, onFlood: () => void) {
    this.url = url;
    this.#onFlood = onFlood;
  }

  admits(isOwnDocument: boolean): boolean {
    this.#requests += 1;
    if (isOwnDocument) this.#documents += 1;
    return this.#requests <= REQUESTS_MAX && this.#bytes <= PAGE_BYTES_MAX && this.#documents <= DOCUMENTS_MAX;
  }

  get hasDocument(): boolean {
    return this.#documents > 0;
  }

  begin(): void {
    this.#inFlight += 1;
    this.lastChangeAt = performance.now();
  }

  end(): void {
    this.#inFlight -= 1;
    this.lastChangeAt = performance.now();
  }

  count(bytes: number): void {
    this.#bytes += bytes;
  }

  fail(url: string, why: string): void {
    if (this.failures.length < KEPT_MAX) this.failures.push({ url, why });
  }

  hear(error: string | null): void {
    this.#messages += 1;
    if (this.#messages === MESSAGES_MAX) this.#onFlood();
    if (error !== null && this.consoleErrors.length < KEPT_MAX)
      this.consoleErrors.push(error.slice(0, ERROR_CHARACTERS_MAX));
  }

  async quiet(quietMs: number, msMax: number, signal: AbortSignal): Promise<boolean> {
    const deadline = performance.now() + msMax;
    for (;;) {
      const now = performance.now();
      if (this.#inFlight === 0 && now - this.lastChangeAt >= quietMs) return true;
      if (now >= deadline) return false;
      await delay(POLL_MS, undefined, { signal });
    }
  }
}
