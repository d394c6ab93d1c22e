import { createRemoteJWKSet, type JWTPayload, errors as joseErrors, customFetch as joseFetch, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import type { Secret } from '../../../domain/secret.ts';

export interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Null: a public client, which PKCE alone protects. */
  readonly clientSecret: Secret | null;
}

interface ProviderOptions extends ProviderSettings {
  /** Through the gate. */
  readonly fetch: oidc.CustomFetch;
  readonly now?: () => number;
  /** For tests, which cannot wait. */
  readonly retryMs?: number;
}

interface Discovered {
  readonly config: oidc.Configuration;
  readonly keys: ReturnType<typeof createRemoteJWKSet>;
}

/** A reader waits for it. */
const REQUEST_S_MAX = 10;
/** Clocks of two machines. */
const CLOCKS_APART_S_MAX = 60;
const DISCOVERY_MS = 3_600_000;
/** A provider that is away is not asked by each reader. */
const RETRY_MS = 5_000;
/** Asymmetric ones: none that a client's secret, or nobody's, could sign. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

/** An OpenID provider: its document is read when needed and kept, its keys are read anew for a token of another one. */
export class IdentityProvider {
  readonly #options: ProviderOptions;
  readonly #now: () => number;
  #discovered: { readonly done: Promise<Discovered>; readonly untilMs: number } | null = null;
  #last: Discovered | null = null;

  constructor(options: ProviderOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** @throws of the network, and what is wrong with the provider's document */
  async configuration(): Promise<oidc.Configuration> {
    return (await this.#discover()).config;
  }

  /** @throws as `configuration`; a `JOSEError` for which `isBadToken` is true */
  async verify(token: string): Promise<JWTPayload> {
    const { keys, config } = await this.#discover();
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      issuer: config.serverMetadata().issuer,
      audience: this.#options.clientId,
      algorithms: ALGORITHMS,
      clockTolerance: CLOCKS_APART_S_MAX,
      requiredClaims: ['exp'],
    });
    // Says that a reader has left, and is for another door.
    if (protectedHeader.typ?.toLowerCase() === 'logout+jwt') throw new joseErrors.JWTInvalid('it is a logout token');
    return payload;
  }

  #discover(): Promise<Discovered> {
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

  async #read(): Promise<Discovered> {
    const { issuer, clientId, clientSecret, fetch: ask, retryMs = RETRY_MS } = this.#options;
    const secret = clientSecret?.reveal();
    const config = await oidc.discovery(
      new URL(issuer),
      clientId,
      { ...(secret === undefined ? {} : { client_secret: secret }), [oidc.clockTolerance]: CLOCKS_APART_S_MAX },
      secret === undefined ? oidc.None() : authenticationOf(secret),
      {
        [oidc.customFetch]: ask,
        timeout: REQUEST_S_MAX,
        // The config lets it be so on loopback alone.
        execute: issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : [],
      },
    );
    const { jwks_uri: jwksUri } = config.serverMetadata();
    if (jwksUri === undefined) throw new Error(`"${issuer}" names no keys (jwks_uri)`);
    const keys = createRemoteJWKSet(new URL(jwksUri), {
      [joseFetch]: (url, options) => ask(url, options as never),
      timeoutDuration: REQUEST_S_MAX * 1000,
      cooldownDuration: retryMs,
    });
    this.#last = { config, keys };
    return this.#last;
  }
}

/** OpenID Connect Discovery 1.0, section 3: Basic, where the provider does not say that it takes only the other. */
function authenticationOf(secret: string): oidc.ClientAuth {
  const [basic, post] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
}

/** False where the token could not be judged: the provider did not give its keys. */
export function isBadToken(error: unknown): boolean {
  if (!(error instanceof joseErrors.JOSEError)) return false;
  return !['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'].includes(error.code);
}
