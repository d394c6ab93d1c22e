import { setTimeout as delay } from 'node:timers/promises';
import { DocshelfError } from '../../../domain/errors.ts';
import { linkWithoutSecrets, type Secret } from '../../../domain/secret.ts';
import type { HttpClient } from '../../../net/http-client.ts';
import type { HttpResponse } from '../../../net/http-response.ts';
import { retryAfterOf } from '../../../net/retry-after.ts';
import { serviceRefusal } from './export-refusal.ts';

export interface ExportServiceSettings {
  /** Base URL; `/v1/static-export` is put behind it. */
  readonly apiUrl: string;
  /** The admin key. It is sent to that address alone: no redirect is followed, and no `Location` is asked. */
  readonly key: Secret;
}

/** What waiting takes from the world, so that a test needs none. */
export interface ExportServiceTools {
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<unknown>;
  /** 0 (included) to 1 (excluded). */
  readonly random: () => number;
  /** Milliseconds of a steady clock. */
  readonly steadyNow: () => number;
}

export const EXPORT_SERVICE_TOOLS: ExportServiceTools = Object.freeze({
  sleep: (ms: number, signal: AbortSignal) => delay(ms, undefined, { signal }),
  random: Math.random,
  steadyNow: () => performance.now(),
});

export interface Call<T> {
  /** Words that follow "Cannot". */
  readonly act: string;
  readonly method: 'GET' | 'POST';
  /** Behind `/v1/static-export`. */
  readonly path: string;
  readonly body?: object;
  /** Null: it is no such answer. */
  readonly read: (answer: unknown) => T | null;
  readonly signal: AbortSignal;
}

export interface Answered<T> {
  readonly value: T;
  readonly retryAfterMs: number | null;
}

/** Calls of this API answer in milliseconds; one that takes this long is not going to. */
const CALL_MS_MAX = 30_000;
/** A page of a hundred jobs has 40 KB. */
const ANSWER_BYTES_MAX = 1024 ** 2;

/** Further attempts of one call: at most 0.5 + 1 + 2 = 3.5 s, or what Retry-After asks for, each at most a minute. */
const RETRIES_MAX = 3;
const BACKOFF_FIRST_MS = 500;
const RETRY_AFTER_MS_MAX = 60_000;

/** Single calls of a static export service: bounded in time and bytes, with the service's own words where it refuses. */
export class ExportCalls {
  readonly #client: Pick<HttpClient, 'get' | 'post'>;
  readonly #base: string;
  readonly #key: Secret;
  readonly #tools: ExportServiceTools;

  constructor(
    client: Pick<HttpClient, 'get' | 'post'>,
    { apiUrl, key }: ExportServiceSettings,
    tools: ExportServiceTools,
  ) {
    this.#client = client;
    this.#base = apiUrl.replace(/\/+$/, '');
    this.#key = key;
    this.#tools = tools;
  }

  /** One call, and further attempts where `mayRetry` lets the fault be tried again. */
  async persist<T>(mayRetry: (error: DocshelfError) => boolean, call: Call<T>): Promise<T> {
    for (let failures = 0; ; failures += 1) {
      try {
        return (await this.once(call)).value;
      } catch (error) {
        if (!(error instanceof DocshelfError) || failures === RETRIES_MAX || !mayRetry(error)) throw error;
        const askedMs = Math.min(RETRY_AFTER_MS_MAX, Number(error.fields.retryAfterMs ?? 0));
        await this.pause(Math.max(askedMs, this.#tools.random() * BACKOFF_FIRST_MS * 2 ** failures), call.signal);
      }
    }
  }

  /** @throws the signal's reason where that aborts. */
  async pause(ms: number, signal: AbortSignal): Promise<void> {
    await this.#tools.sleep(ms, signal).catch((reason: unknown) => {
      signal.throwIfAborted();
      throw reason;
    });
  }

  async once<T>(call: Call<T>): Promise<Answered<T>> {
    const act = `${call.act} at ${linkWithoutSecrets(this.#base).replace(/\/$/, '')}`;
    try {
      return await this.#exchange(call, act);
    } catch (error) {
      call.signal.throwIfAborted();
      if (error instanceof DocshelfError) throw error;
      throw new DocshelfError('source_timeout', `Cannot ${act}: no whole answer within ${CALL_MS_MAX / 1000} s`, {
        next: 'Check the network and network.proxy, or ask who runs the service.',
        fields: { retryable: true },
        cause: error,
      });
    }
  }

  async #exchange<T>({ method, path, body, read, signal }: Call<T>, act: string): Promise<Answered<T>> {
    const response = await this.#send(method, `${this.#base}/v1/static-export${path}`, body, signal);
    const text = await response.text(ANSWER_BYTES_MAX);
    const retryAfter = response.header('retry-after');
    const { status } = response;
    if (status < 200 || status > 299) {
      const refused = { status, body: text, retryAfter, location: response.header('location') };
      throw serviceRefusal(act, refused, this.#key, Date.now());
    }
    const value = read(jsonOf(text));
    if (value !== null) return { value, retryAfterMs: retryAfterOf(retryAfter, Date.now()) };
    throw new DocshelfError('export_service_failed', `Cannot ${act}: its answer is not what such a service gives`, {
      next: 'Check the address: /v1/static-export is put behind it.',
      fields: { status, retryable: false },
    });
  }

  #send(method: 'GET' | 'POST', url: string, body: object | undefined, signal: AbortSignal): Promise<HttpResponse> {
    const headers = {
      accept: 'application/json, application/problem+json',
      authorization: `Bearer ${this.#key.reveal()}`,
    };
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(CALL_MS_MAX)]);
    if (method === 'GET') return this.#client.get(url, { headers, signal: bounded, redirects: 'answer' });
    const type = body === undefined ? {} : { 'content-type': 'application/json' };
    const text = body === undefined ? '' : JSON.stringify(body);
    return this.#client.post(url, text, { headers: { ...headers, ...type }, signal: bounded });
  }
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
