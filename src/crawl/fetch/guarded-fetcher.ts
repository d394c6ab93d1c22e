import type { Dispatcher } from 'undici';
import { DocshelfError } from '../../domain/errors.ts';
import { linkWithoutSecrets } from '../../domain/secret.ts';
import { AddressGuard, type AddressRules } from '../../net/guarded-address.ts';
import { admitBehindProxy } from '../../net/guarded-proxy.ts';
import { createDispatcher, type DispatcherSettings } from '../../net/http-dispatcher.ts';
import type { FetchedAnswer, Fetcher, FetchRequest } from '../ports.ts';
import { AnswerReader } from './guarded-answer.ts';

export interface FetcherSettings extends DispatcherSettings {
  readonly addresses: AddressRules;
  /** From the request to the body's last byte. */
  readonly requestTimeoutMs: number;
  /** To one origin at a time. */
  readonly connectionsMax: number;
  /** Headers that are sent to one origin and to no other. */
  readonly credentials: { readonly origin: string; readonly headers: Readonly<Record<string, string>> } | null;
  /** An existing folder for bodies that are too large for memory. */
  readonly spoolDir: string;
}

/** Asks for the files of a site that is crawled. Connections stay open between requests. */
export class GuardedFetcher implements Fetcher {
  readonly #settings: FetcherSettings;
  readonly #guard: AddressGuard;
  readonly #dispatcher: Dispatcher;
  /** By host: whether a target may be asked through a proxy, looked up once. */
  readonly #admitted = new Map<string, Promise<void>>();

  constructor(settings: FetcherSettings) {
    this.#settings = settings;
    this.#guard = new AddressGuard(settings.addresses);
    this.#dispatcher = createDispatcher(settings, this.#guard, settings.connectionsMax);
  }

  async fetch(request: FetchRequest, signal: AbortSignal): Promise<FetchedAnswer> {
    signal.throwIfAborted();
    const url = new URL(request.url);
    const { connectTimeoutMs, idleTimeoutMs, requestTimeoutMs, credentials, spoolDir, proxy } = this.#settings;
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
      if (!reader.isOver) {
        this.#dispatcher.dispatch(
          { origin: url.origin, path: `${url.pathname}${url.search}`, method: 'GET', headers },
          reader,
        );
      }
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
    const known = this.#admitted.get(url.hostname);
    if (known !== undefined) return known;
    const admitted = admitBehindProxy(this.#guard, url, this.#settings.proxy);
    this.#admitted.set(url.hostname, admitted);
    return admitted;
  }
}

function tooSlow(thing: string, requestTimeoutMs: number): DocshelfError {
  return new DocshelfError('source_timeout', `Cannot fetch ${thing}: not done within ${requestTimeoutMs / 1000} s`, {
    fields: { retryable: false },
  });
}
