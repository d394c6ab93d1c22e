import { createRemoteJWKSet, type JWTPayload, errors as joseErrors, customFetch as joseFetch, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { DocshelfError } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';

interface IssuerOptions {
  readonly issuer: string;
  readonly fetch: oidc.CustomFetch;
}

interface Discovered {
  readonly server: oidc.ServerMetadata;
  readonly keys: ReturnType<typeof createRemoteJWKSet>;
}

/** Time limit in seconds of a request to the provider, because a reader waits for the response. */
const REQUEST_S_MAX = 10;
const DISCOVERY_MS = 3_600_000;
/** Time to cache a failed look-up, so that readers do not each retry it. */
const RETRY_MS = 5_000;

/** Metadata and keys of a provider, shared by its clients. Reads the keys again if a token has an unknown key. */
export class Issuer {
  readonly #options: IssuerOptions;
  #discovered: { readonly done: Promise<Discovered>; readonly untilMs: number } | null = null;
  #last: Discovered | null = null;

  constructor(options: IssuerOptions) {
    this.#options = options;
  }

  discover(): Promise<Discovered> {
    if (this.#discovered !== null && this.#discovered.untilMs > Date.now()) return this.#discovered.done;
    const done = this.#read().catch((error: unknown) => {
      this.#discovered = { done, untilMs: Date.now() + RETRY_MS };
      // After a failed request, use the last known metadata until the provider responds again.
      if (this.#last !== null) return this.#last;
      throw error;
    });
    this.#discovered = { done, untilMs: Date.now() + DISCOVERY_MS };
    return done;
  }

  prepare(config: oidc.Configuration): void {
    config[oidc.customFetch] = this.#options.fetch;
    config.timeout = REQUEST_S_MAX;
    for (const act of this.#execute) act(config);
  }

  /** Permits plain http if the issuer has that scheme. The config check accepts such an issuer only on a loopback address. */
  get #execute(): (typeof oidc.allowInsecureRequests)[] {
    return this.#options.issuer.startsWith('http:') ? [oidc.allowInsecureRequests] : [];
  }

  async #read(): Promise<Discovered> {
    const { issuer, fetch: ask } = this.#options;
    const options = { [oidc.customFetch]: ask, timeout: REQUEST_S_MAX, execute: this.#execute };
    const found = await oidc.discovery(new URL(issuer), 'docshelf', undefined, oidc.None(), options);
    const server = found.serverMetadata();
    if (server.jwks_uri === undefined) {
      throw new DocshelfError('source_failed', `Cannot use the provider "${issuer}": it publishes no keys (jwks_uri)`, {
        next: 'Check server.auth.issuer.',
      });
    }
    const keys = createRemoteJWKSet(new URL(server.jwks_uri), {
      [joseFetch]: (url, given) => ask(url, given as never),
      timeoutDuration: REQUEST_S_MAX * 1000,
      cooldownDuration: RETRY_MS,
    });
    this.#last = { server: { ...server }, keys };
    return this.#last;
  }
}

interface ProviderOptions {
  readonly issuer: Issuer;
  readonly clientId: string;
  /** Secret of the client. Null for a public client, which only PKCE protects. */
  readonly clientSecret: Secret | null;
}

const CLOCKS_APART_S_MAX = 60;
/** Accept only asymmetric signatures, so that a token without a signature, or signed with a client secret, is invalid. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ');

export class IdentityProvider {
  readonly #options: ProviderOptions;

  constructor(options: ProviderOptions) {
    this.#options = options;
  }

  async configuration(): Promise<oidc.Configuration> {
    const { issuer, clientId, clientSecret } = this.#options;
    const { server } = await issuer.discover();
    const secret = clientSecret?.reveal();
    const config = new oidc.Configuration(
      server,
      clientId,
      { ...(secret === undefined ? {} : { client_secret: secret }), [oidc.clockTolerance]: CLOCKS_APART_S_MAX },
      secret === undefined ? oidc.None() : authenticationOf(secret),
    );
    issuer.prepare(config);
    return config;
  }

  async verify(token: string): Promise<JWTPayload> {
    const { keys, server } = await this.#options.issuer.discover();
    const { payload, protectedHeader } = await jwtVerify(token, keys, {
      issuer: server.issuer,
      audience: this.#options.clientId,
      algorithms: ALGORITHMS,
      clockTolerance: CLOCKS_APART_S_MAX,
      requiredClaims: ['exp'],
    });
    // Reject logout tokens, because they report a sign-out and must not grant access.
    if (protectedHeader.typ?.toLowerCase() === 'logout+jwt') throw new joseErrors.JWTInvalid('it is a logout token');
    return payload;
  }
}

/** Sends the secret with Basic, or with POST if the provider supports only POST (OpenID Connect Discovery 1.0, section 3). */
function authenticationOf(secret: string): oidc.ClientAuth {
  const [basic, post] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    return (methods.includes('client_secret_basic') ? basic : post)(server, ...rest);
  };
}

/** True if the token is invalid. False if docshelf could not verify the token, because the provider's keys were not available. */
export function isBadToken(error: unknown): boolean {
  if (!(error instanceof joseErrors.JOSEError)) return false;
  return !['ERR_JOSE_GENERIC', 'ERR_JWKS_TIMEOUT', 'ERR_JWKS_INVALID'].includes(error.code);
}

/** Builds the error of a failed sign-in. Contains only one word of the cause: a client must not choose the text of a log line. */
export function refusedSignIn(error: unknown): DocshelfError {
  const word = wordOf(error);
  const next =
    word === 'invalid_client'
      ? 'Compare server.auth.clientId and the content of server.auth.clientSecretFile with the client at the provider.'
      : 'If readers cannot sign in, compare server.auth with the client at the provider. Also compare the clocks of both machines.';
  return new DocshelfError('unauthorized', `Cannot sign a reader in: the sign-in at the provider failed (${word})`, {
    next,
  });
}

/** Converts library errors about a missing or invalid response of the provider to DocshelfErrors. Returns other errors unchanged. */
export function providerFault(error: unknown): unknown {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (cause instanceof DocshelfError) return cause;
  const kinds = [oidc.ClientError, oidc.ResponseBodyError, joseErrors.JOSEError];
  if (!kinds.some((kind) => error instanceof kind)) return error;
  const state = `the response of the provider does not follow OpenID Connect (${wordOf(error)})`;
  return new DocshelfError('source_failed', `Cannot sign readers in: ${state}`, {
    next: 'Check server.auth.issuer and the provider. "docshelf doctor" tests both.',
  });
}

function wordOf(error: unknown): string {
  const { error: word, code } = error as { readonly error?: unknown; readonly code?: unknown };
  return [word, code].find((each) => typeof each === 'string' && /^[\w.-]{1,64}$/.test(each))?.toString() ?? 'unknown';
}
