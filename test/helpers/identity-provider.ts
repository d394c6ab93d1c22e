import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import Provider, { type Adapter, type AdapterPayload, type Configuration } from 'oidc-provider';
import { onFileEnd } from './file-end.ts';
import { type Answer, answerClient } from './local-server.ts';

interface Account {
  readonly groups?: readonly string[];
}

interface ClientPlaces {
  /** Addresses to which the provider may redirect readers. */
  readonly redirectUris: readonly string[];
  readonly afterSignOut?: readonly string[];
}

export const CLIENT = { id: 'docs', secret: 'canary-of-a-client-secret' };

/** OpenID Connect provider on loopback. It signs in each visitor as `reader`, without a form. */
export class TestIdentityProvider {
  /** Name of the reader in the browser. */
  reader = 'anna';
  /** True puts the claims by account into the ID token, false only into userinfo. */
  groupsInToken = true;
  accounts: Record<string, Account> = { anna: { groups: ['docs', 'staff'] }, ben: { groups: ['guests'] }, cleo: {} };
  /** Lifetime of ID tokens in seconds. */
  idTokenS = 600;
  requests: string[] = [];
  readonly #server: Server;
  readonly #adapter = memoryAdapter();
  /** Response to send at a path instead of the normal one. */
  broken: { readonly path: string; readonly status: number; readonly body: string } | null = null;
  #answer: Answer | null = null;
  #places: ClientPlaces = { redirectUris: [] };
  #keyNumber = 0;
  #key: CryptoKey | null = null;
  #port = 0;

  private constructor() {
    this.#server = createServer((request, response) => {
      this.requests.push(`${request.method} ${request.url?.split('?')[0]}`);
      if (this.broken !== null && request.url?.split('?')[0] === this.broken.path) {
        response.writeHead(this.broken.status, { 'content-type': 'application/json' }).end(this.broken.body);
        return;
      }
      answerClient((...exchange) => this.#answer?.(...exchange), request, response);
    });
  }

  static async start(): Promise<TestIdentityProvider> {
    const provider = new TestIdentityProvider();
    await provider.open();
    onFileEnd(() => provider.close());
    return provider;
  }

  get issuer(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens on the former port again. */
  async open(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(this.#port, '127.0.0.1', resolve));
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  /** Sets the redirect addresses of the client, and replaces the signing key. */
  async serve(places: ClientPlaces = this.#places): Promise<void> {
    this.#places = places;
    this.#keyNumber++;
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    this.#key = privateKey;
    const jwk = await exportJWK(privateKey);
    const provider = new Provider(
      this.issuer,
      this.#configuration({ ...jwk, kid: `key-${this.#keyNumber}`, use: 'sig', alg: 'RS256' }),
    );
    const answer = provider.callback();
    this.#answer = (request, response) =>
      request.url?.startsWith('/interaction/') ? this.#signIn(provider, request, response) : answer(request, response);
  }

  /** Creates a token with the provider's signature. */
  async token(
    claims: JWTPayload,
    { alg = 'RS256', kid = `key-${this.#keyNumber}`, key = this.#key, typ = 'JWT' } = {},
  ): Promise<string> {
    const whole = { iss: this.issuer, aud: CLIENT.id, sub: 'machine', ...claims };
    return new SignJWT(whole).setProtectedHeader({ alg, kid, typ }).sign(key as CryptoKey);
  }

  async #signIn(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { params, prompt } = await provider.interactionDetails(request, response);
    if (this.reader === '') {
      await provider.interactionFinished(request, response, { error: 'access_denied', error_description: 'no' });
      return;
    }
    if (prompt.name === 'login') {
      await provider.interactionFinished(request, response, { login: { accountId: this.reader } });
      return;
    }
    const grant = new provider.Grant({ accountId: this.reader, clientId: String(params.client_id) });
    grant.addOIDCScope(String(params.scope));
    await provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  }

  #configuration(jwk: object): Configuration {
    return {
      clients: [
        {
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          redirect_uris: [...this.#places.redirectUris],
          post_logout_redirect_uris: [...(this.#places.afterSignOut ?? [])],
          grant_types: ['authorization_code'],
          response_types: ['code'],
        },
      ],
      adapter: () => this.#adapter,
      jwks: { keys: [jwk as never] },
      cookies: { keys: ['test'] },
      ttl: {
        Interaction: 600,
        Session: 600,
        Grant: 600,
        AccessToken: 600,
        IdToken: () => this.idTokenS,
        AuthorizationCode: 60,
      },
      pkce: { required: () => true },
      conformIdTokenClaims: false,
      claims: { openid: ['sub', ...(this.groupsInToken ? ['groups'] : [])], profile: ['groups'] },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_, interaction) => `/interaction/${interaction.uid}` },
      findAccount: (_, id) => ({
        accountId: id,
        claims: async (use) => ({
          sub: id,
          ...(use === 'userinfo' || this.groupsInToken ? { groups: this.accounts[id]?.groups } : {}),
        }),
      }),
    };
  }
}

/** Stores sessions, codes and grants. The provider's own adapter prints a warning at each start. */
function memoryAdapter(): Adapter {
  const kept = new Map<string, AdapterPayload>();
  const find = async (id: string): Promise<AdapterPayload | undefined> => kept.get(id);
  const byUid = async (uid: string) => [...kept.values()].find((each) => each.uid === uid);
  return {
    upsert: async (id, payload) => void kept.set(id, payload),
    find,
    findByUid: byUid,
    findByUserCode: async () => undefined,
    consume: async (id) => void kept.set(id, { ...kept.get(id), consumed: Math.floor(Date.now() / 1000) }),
    destroy: async (id) => void kept.delete(id),
    revokeByGrantId: async (grantId) => {
      for (const [id, payload] of kept) if (payload.grantId === grantId) kept.delete(id);
    },
  };
}
