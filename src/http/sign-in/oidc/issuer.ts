import { createRemoteJWKSet, customFetch as joseFetch } from 'jose';
import * as oidc from 'openid-client';
import { DocshelfError } from '../../../domain/errors.ts';

export interface IssuerOptions {
  readonly issuer: string;
  /** Through the gate. */
  readonly fetch: oidc.CustomFetch;
  readonly now?: () => number;
  /** For tests, which cannot wait. */
  readonly retryMs?: number;
}

export interface Discovered {
  readonly server: oidc.ServerMetadata;
  readonly keys: ReturnType<typeof createRemoteJWKSet>;
}

/** A reader waits for it. */
const REQUEST_S_MAX = 10;
const DISCOVERY_MS = 3_600_000;
/** A provider that is away is not asked by each reader. */
const RETRY_MS = 5_000;

/** What an OpenID provider says of itself, to all of its clients: read when needed and kept, its keys read anew for a token of another one. */
export class Issuer {
  readonly #options: IssuerOptions;
  readonly #now: () => number;
  #discovered: { readonly done: Promise<Discovered>; readonly untilMs: number } | null = null;
  #last: Discovered | null = null;

  constructor(options: IssuerOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** @throws of the network, and what is wrong with its document */
  discover(): Promise<Discovered> {
    if (this.#discovered !== null && this.#discovered.untilMs > this.#now()) return this.#discovered.done;
    const done = this.#read().catch((error: unknown) => {
      const { retryMs = RETRY_MS } = this.#options;
      this.#discovered = { done, untilMs: this.#now() + retryMs };
      // What it said before holds until it can be asked again.
      if (this.#last !== null) return this.#last;
      throw error;
    });
    this.#discovered = { done, untilMs: this.#now() + DISCOVERY_MS };
    return done;
  }

  /** How it is asked. */
  prepare(config: oidc.Configuration): void {
    config[oidc.customFetch] = this.#options.fetch;
    config.timeout = REQUEST_S_MAX;
    for (const act of this.#execute) act(config);
  }

  /** The config lets a provider be without TLS on loopback alone. */
  get #execute(): (typeof oidc.allowInsecureRequests)[] {
    return this.#options.issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : [];
  }

  async #read(): Promise<Discovered> {
    const { issuer, fetch: ask, retryMs = RETRY_MS } = this.#options;
    const options = { [oidc.customFetch]: ask, timeout: REQUEST_S_MAX, execute: this.#execute };
    const found = await oidc.discovery(new URL(issuer), 'docshelf', undefined, oidc.None(), options);
    const server = found.serverMetadata();
    if (server.jwks_uri === undefined) {
      throw new DocshelfError('source_failed', `Cannot use the provider "${issuer}": it names no keys (jwks_uri)`, {
        next: 'Check server.auth.issuer.',
      });
    }
    const keys = createRemoteJWKSet(new URL(server.jwks_uri), {
      [joseFetch]: (url, given) => ask(url, given as never),
      timeoutDuration: REQUEST_S_MAX * 1000,
      cooldownDuration: retryMs,
    });
    this.#last = { server: { ...server }, keys };
    return this.#last;
  }
}
