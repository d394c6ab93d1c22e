import type { IncomingMessage } from 'node:http';
import * as oidc from 'openid-client';
import { bearerToken } from '../bearer.ts';
import { type IdentityProvider, isBadToken, providerFault, refusedSignIn } from './identity-provider.ts';
import { type Seals, SiteCookie } from './sealed-cookies.ts';
import { CALLBACK, ownPage, SIGN_OUT, type SignIn, type SignInEvents } from './sign-in.ts';

export interface OidcSettings {
  readonly scopes: readonly string[];
  readonly groupsClaim: string;
  /** Groups whose members may read the site. An empty list allows everybody who signs in. */
  readonly allowedGroups: readonly string[];
  readonly sessionTtlMs: number;
}

interface OidcSignInOptions extends SignInEvents, OidcSettings {
  readonly provider: IdentityProvider;
  readonly seals: Seals;
  /** Domain of the site. Cookies are sealed for this domain, so that a session of one site does not open another site. */
  readonly site: string;
  readonly basePath: string;
  /** Port for the names of cookies, because browsers send cookies to all ports of a host. Empty for the default port. */
  readonly port: string;
  readonly originOf: (host: string | undefined) => string;
}

interface Flow {
  readonly id: string;
  readonly nonce: string;
  readonly verifier: string;
}
/** Content of the `state` parameter, which is sealed, so that the browser cannot change it. */
interface State {
  readonly id: string;
  readonly to: string;
}
interface Session {
  readonly groups: readonly string[];
}

const FLOW_MS = 600_000;

export class OidcSignIn implements SignIn {
  readonly vary = 'Cookie, Authorization';
  readonly #options: OidcSignInOptions;
  readonly #session: SiteCookie;
  readonly #flow: SiteCookie;

  constructor(options: OidcSignInOptions) {
    this.#options = options;
    const suffix = options.port === '' ? '' : `-${options.port}`;
    this.#session = new SiteCookie(`docshelf${suffix}`, options.basePath);
    this.#flow = new SiteCookie(`docshelf-sign-in${suffix}`, options.basePath);
  }

  admit(incoming: IncomingMessage, target: string, begins = true): Promise<Response | null> {
    return this.#admit(incoming, target, begins).catch((error: unknown) => {
      throw providerFault(error);
    });
  }

  async #admit(incoming: IncomingMessage, target: string, begins: boolean): Promise<Response | null> {
    const [path] = target.split('?', 1);
    if (path === `/${CALLBACK}`) return this.#finish(incoming, target.slice(path.length));
    if (path === `/${SIGN_OUT}`) return this.#signOut(incoming);
    // Ignore Authorization with another scheme, because it is for a proxy, or for another site of the host.
    const token = bearerToken(incoming.headers.authorization);
    if (token !== null) return this.#judgeToken(incoming, token);
    if (this.#hasSession(incoming)) return null;
    return begins && isNavigation(incoming) ? this.#begin(incoming, target) : this.#challenge(incoming);
  }

  knows(incoming: IncomingMessage): boolean {
    return bearerToken(incoming.headers.authorization) === null && this.#hasSession(incoming);
  }

  #hasSession({ headers }: IncomingMessage): boolean {
    const { seals, allowedGroups } = this.#options;
    return this.#session.valuesIn(headers.cookie).some((value) => {
      const session = seals.open<Session>(this.#purpose('session'), value);
      // Check the groups at each request, because the operator may have removed a group from the config since the sign-in.
      return session !== null && (allowedGroups.length === 0 || allowedOf(session.groups, allowedGroups).length > 0);
    });
  }

  async #judgeToken(incoming: IncomingMessage, token: string): Promise<Response | null> {
    const { provider, groupsClaim, allowedGroups, onWrong } = this.#options;
    try {
      const claims = await provider.verify(token);
      if (allowedGroups.length === 0 || allowedOf(claims[groupsClaim], allowedGroups).length > 0) return null;
    } catch (error) {
      if (!isBadToken(error)) throw error;
      onWrong();
      return this.#challenge(incoming, 'invalid_token');
    }
    return notAllowed(incoming);
  }

  #challenge(incoming: IncomingMessage, error?: 'invalid_token'): Response {
    return ownPage(incoming, {
      status: 401,
      words: 'signIn',
      headers: { 'WWW-Authenticate': `Bearer realm="Documentation"${error === undefined ? '' : `, error="${error}"`}` },
    });
  }

  /** Redirects the reader to the provider. Sets a cookie, so that only this browser can complete the sign-in. */
  async #begin(incoming: IncomingMessage, target: string): Promise<Response> {
    const { provider, seals, basePath, scopes } = this.#options;
    const config = await provider.configuration();
    const flow: Flow = { id: oidc.randomState(), nonce: oidc.randomNonce(), verifier: oidc.randomPKCECodeVerifier() };
    const state: State = { id: flow.id, to: returnPath(target, basePath) };
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: this.#callbackOf(incoming),
      scope: [...new Set(['openid', ...scopes])].join(' '),
      state: seals.seal(this.#purpose('state'), state, FLOW_MS),
      nonce: flow.nonce,
      code_challenge: await oidc.calculatePKCECodeChallenge(flow.verifier),
      code_challenge_method: 'S256',
    });
    return redirect(url.href, [this.#flow.set(seals.seal(this.#purpose('flow'), flow, FLOW_MS), FLOW_MS)]);
  }

  async #finish(incoming: IncomingMessage, query: string): Promise<Response> {
    const { seals, provider, sessionTtlMs } = this.#options;
    if (incoming.method !== 'GET') return unfinished(incoming);
    const given = new URLSearchParams(query).getAll('state');
    const [text = ''] = given;
    const state = given.length === 1 ? seals.open<State>(this.#purpose('state'), text) : null;
    if (state === null) return unfinished(incoming);
    const origin = this.#options.originOf(incoming.headers.host);
    const back = new URL(origin + state.to);
    const flow = this.#flow
      .valuesIn(incoming.headers.cookie)
      .map((value) => seals.open<Flow>(this.#purpose('flow'), value))
      .find((each) => each?.id === state.id);
    // If two windows began a sign-in, the browser keeps only the later cookie. The earlier window then uses the other's session.
    if (flow === undefined || flow === null) {
      return this.#hasSession(incoming) ? redirect(back.href, []) : unfinished(incoming);
    }
    const config = await provider.configuration();
    let groups: readonly string[] | null;
    try {
      groups = await this.#groupsOf(config, new URL(this.#callbackOf(incoming) + query), flow, text);
    } catch (error) {
      if (!isProtocolFault(error)) throw error;
      this.#options.onRefused(refusedSignIn(error));
      return unfinished(incoming);
    }
    if (groups === null) return notAllowed(incoming);
    const session = seals.seal(this.#purpose('session'), { groups } satisfies Session, sessionTtlMs);
    return redirect(back.href, [this.#session.set(session, sessionTtlMs), this.#flow.clear()]);
  }

  /** Returns the allowed groups of the reader. Null if the reader is in no allowed group. @throws errors of openid-client and jose */
  async #groupsOf(config: oidc.Configuration, url: URL, { verifier, nonce }: Flow, state: string) {
    const { provider, groupsClaim, allowedGroups } = this.#options;
    const tokens = await oidc.authorizationCodeGrant(config, url, {
      pkceCodeVerifier: verifier,
      expectedNonce: nonce,
      expectedState: state,
      idTokenExpected: true,
    });
    // Verify the signature of the ID token, because openid-client relies only on TLS, which a proxy can terminate.
    const claims = await provider.verify(tokens.id_token ?? '');
    if (allowedGroups.length === 0) return [];
    let groups = claims[groupsClaim];
    if (groups === undefined && config.serverMetadata().userinfo_endpoint !== undefined) {
      groups = (await oidc.fetchUserInfo(config, tokens.access_token, claims.sub ?? ''))[groupsClaim];
    }
    const allowed = allowedOf(groups, allowedGroups);
    return allowed.length === 0 ? null : allowed;
  }

  /** Shows a page with a button first, so that a link on any page cannot sign a reader out. */
  async #signOut(incoming: IncomingMessage): Promise<Response> {
    const { provider, originOf, basePath } = this.#options;
    const { method, headers } = incoming;
    const origin = originOf(headers.host);
    const left = origin + basePath;
    // Continue without the provider, so that a reader can sign out here while the provider is unavailable.
    const config = await provider.configuration().catch(() => null);
    const end = config?.serverMetadata().end_session_endpoint;
    const elsewhere = end === undefined ? null : new URL(end).origin;
    if (method !== 'POST') {
      const formAction = ["'self'", ...(elsewhere === null ? [] : [elsewhere])].join(' ');
      return ownPage(incoming, { status: 200, words: 'signOut', form: 'page', formAction });
    }
    if (headers.origin !== origin) {
      return ownPage(incoming, { status: 403, words: 'stillSignedIn' });
    }
    const to =
      config === null || end === undefined
        ? left
        : oidc.buildEndSessionUrl(config, { post_logout_redirect_uri: left }).href;
    return redirect(to, [this.#session.clear(), this.#flow.clear()], 303);
  }

  #callbackOf({ headers }: IncomingMessage): string {
    return this.#options.originOf(headers.host) + this.#options.basePath + CALLBACK;
  }

  #purpose(of: 'session' | 'flow' | 'state'): string {
    return `${of} ${this.#options.site}`;
  }
}

function redirect(location: string, cookies: readonly string[], status: 302 | 303 = 302): Response {
  const headers = new Headers({ Location: location, 'Content-Length': '0', 'Cache-Control': 'no-store' });
  for (const cookie of cookies) headers.append('Set-Cookie', cookie);
  return new Response(null, { status, headers });
}

function unfinished(incoming: IncomingMessage): Response {
  return ownPage(incoming, { status: 400, words: 'signInUnfinished' });
}

const notAllowed = (incoming: IncomingMessage): Response => ownPage(incoming, { status: 403, words: 'notAllowed' });

/** True if the provider rejected the sign-in or sent an invalid token. False if it did not respond. */
function isProtocolFault(error: unknown): boolean {
  return (
    error instanceof oidc.AuthorizationResponseError ||
    (error instanceof oidc.ResponseBodyError && error.status < 500) ||
    // Exclude the codes for missing or unreadable responses, because an unavailable provider has not rejected the sign-in.
    (error instanceof oidc.ClientError && /^OAUTH_(?!TIMEOUT|ABORT|RESPONSE_IS_NOT|PARSE)/.test(error.code ?? '')) ||
    isBadToken(error)
  );
}

function allowedOf(claim: unknown, allowed: readonly string[]): readonly string[] {
  const groups = Array.isArray(claim) ? claim : [claim];
  return allowed.filter((group) => groups.includes(group));
}

/** Maximum length of the path in the `state` parameter. With a longer path, the reader returns to the first page of the site. */
const PATH_LENGTH_MAX = 1024;

/** True if a browser requests a page. Uses Fetch metadata, or the Accept header for older browsers and plain HTTP. */
function isNavigation({ method, headers }: IncomingMessage): boolean {
  if (method !== 'GET' || headers['sec-purpose'] !== undefined) return false;
  const mode = headers['sec-fetch-mode'];
  if (mode !== undefined) return mode === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return headers.accept?.includes('text/html') === true;
}

/** Path to return to after the sign-in. Returns the first page of the site if a browser could read the target as another host. */
function returnPath(target: string, basePath: string): string {
  const isPath = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(target) && target.length <= PATH_LENGTH_MAX;
  return isPath ? basePath + target.slice(1) : basePath;
}
