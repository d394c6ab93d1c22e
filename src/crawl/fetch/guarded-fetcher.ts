import { readFile } from 'node:fs/promises';
import type { Dispatcher } from 'undici';
import type { CrawlSettings } from '../../domain/crawl.ts';
import type { EgressRules } from '../../domain/egress.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { linkWithoutSecrets } from '../../domain/secret.ts';
import { admitBehindProxy, createDispatcher } from '../../net/dispatcher.ts';
import { EgressPolicy } from '../../net/egress.ts';
import { AnswerReader, type FetchedAnswer, type FileRequest } from './guarded-answer.ts';

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
