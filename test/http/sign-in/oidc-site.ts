import { Secret } from '../../../src/domain/secret.ts';
import { IdentityProvider, Issuer } from '../../../src/http/sign-in/identity-provider.ts';
import { type OidcSettings, OidcSignIn } from '../../../src/http/sign-in/oidc-sign-in.ts';
import { Seals } from '../../../src/http/sign-in/sealed-cookies.ts';
import { gatedFetch } from '../../../src/net/http-client.ts';
import { CLIENT, type TestIdentityProvider } from '../../helpers/identity-provider.ts';
import { type ClientSettings, httpClientOf } from '../../net/http-client-of.ts';
import { type GuardedSite, guardedSite } from './guarded-listener.ts';

/** Key of 32 bytes, as text. */
export const KEY = 'a-key-of-sessions-that-is-long-enough';

interface OidcSiteOptions extends Partial<OidcSettings> {
  readonly basePath?: string;
  readonly port?: string;
  readonly site?: string;
  readonly keys?: readonly string[];
  readonly network?: ClientSettings;
  readonly clientSecret?: string;
  /** Called after the provider has responded and before the site reads the response. */
  readonly onAnswered?: (url: string) => void;
}

export interface OidcSite extends GuardedSite {
  readonly origin: string;
  /** Address of the site with its base path. */
  readonly home: string;
  readonly wrong: string[];
  readonly refused: unknown[];
}

/** Site whose readers sign in at `provider`. */
export async function oidcSite(
  provider: TestIdentityProvider,
  {
    basePath = '/',
    port = '',
    site = 'acme',
    keys = [KEY],
    network,
    clientSecret = CLIENT.secret,
    onAnswered,
    ...settings
  }: OidcSiteOptions = {},
): Promise<OidcSite & AsyncDisposable> {
  const client = httpClientOf(network);
  const gated = gatedFetch(async () => client);
  const wrong: string[] = [];
  const refused: unknown[] = [];
  let origin = '';
  const signIn = new OidcSignIn({
    scopes: [],
    groupsClaim: 'groups',
    allowedGroups: [],
    sessionTtlMs: 3_600_000,
    ...settings,
    provider: new IdentityProvider({
      issuer: new Issuer({
        issuer: provider.issuer,
        fetch: async (url, init) => {
          const answer = await gated(url, init);
          onAnswered?.(url);
          return answer;
        },
      }),
      clientId: CLIENT.id,
      clientSecret: new Secret(clientSecret),
    }),
    seals: new Seals(keys),
    site,
    basePath,
    port,
    originOf: () => origin,
    onWrong: () => wrong.push('wrong'),
    onRefused: (error) => refused.push(error),
  });
  const opened = await guardedSite(signIn, { basePath });
  origin = opened.listener.url;
  await provider.serve({
    redirectUris: [`${origin}${basePath}_docshelf/sign-in/callback`],
    afterSignOut: [origin + basePath],
  });
  return {
    ...opened,
    origin,
    home: origin + basePath,
    wrong,
    refused,
    [Symbol.asyncDispose]: async () => {
      await client.close();
      await opened[Symbol.asyncDispose]();
    },
  };
}
