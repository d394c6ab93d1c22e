import type { Config } from '../../config/index.ts';
import { clientOf, GuessRates } from '../../http/limits/client-rates.ts';
import { peerOf, remoteAddressBehind } from '../../http/listener/request.ts';
import { BasicPasswords, PasswordCheck } from '../../http/sign-in/basic-passwords.ts';
import type { Issuer } from '../../http/sign-in/identity-provider.ts';
import { isSignInAddress, type SignIn, type SignInEvents, TrustedHeader } from '../../http/sign-in/sign-in.ts';
import { siteOrigin } from '../../http/site/site-routes.ts';
import { once } from '../../threads/once.ts';
import type { Network } from '../network.ts';
import { sessionKeys } from './preview.ts';

interface SignInPlace {
  readonly config: Config;
  readonly site: string | null;
  readonly hosts: readonly string[];
  readonly basePath: string;
}

export class SignIns {
  readonly #network: Network;
  readonly #issuers = new Map<string, Promise<Issuer>>();
  readonly #passwords = new PasswordCheck();
  readonly #rates = new GuessRates({ act: 'sign in', cause: 'wrong passwords' });

  constructor(network: Network) {
    this.#network = network;
  }

  /**
   * Opens the configured sign-in of a site. Null if all clients may read the site. The config check ensures that each kind of
   * sign-in has its settings.
   */
  open({ config, ...place }: SignInPlace, events: SignInEvents): SignIn | null {
    const { auth, trustedProxies } = config.server;
    switch (auth.kind) {
      case 'none':
        return null;
      case 'basic': {
        const remoteAddress = remoteAddressBehind(trustedProxies);
        return new BasicPasswords({
          ...events,
          users: auth.usersFile?.text.reveal() ?? '',
          passwords: this.#passwords,
          rates: this.#rates,
          clientOf: (incoming) =>
            clientOf(remoteAddress(peerOf(incoming), incoming.headers['x-forwarded-for']?.toString())),
        });
      }
      case 'header':
        return new TrustedHeader({ name: auth.name ?? '', trustedProxies });
      case 'oidc':
        return this.#openOidc({ config, ...place }, events);
    }
  }

  /** Creates the OpenID Connect sign-in, and loads its modules with the first request of a reader. */
  #openOidc({ config, site, hosts, basePath }: SignInPlace, events: SignInEvents): SignIn {
    const { auth, publicUrl } = config.server;
    const { issuer, clientId, clientSecretFile, scopes, groupsClaim, allowedGroups, sessionTtlMs } = auth;
    const make = async (): Promise<SignIn> => {
      const [{ IdentityProvider }, { OidcSignIn }, { Seals }] = await Promise.all([
        import('../../http/sign-in/identity-provider.ts'),
        import('../../http/sign-in/oidc-sign-in.ts'),
        import('../../http/sign-in/sealed-cookies.ts'),
      ]);
      const provider = new IdentityProvider({
        issuer: await this.#issuer(issuer ?? ''),
        clientId: clientId ?? '',
        clientSecret: clientSecretFile?.text ?? null,
      });
      return new OidcSignIn({
        ...events,
        ...{ scopes, groupsClaim, allowedGroups, sessionTtlMs },
        provider,
        seals: new Seals(await sessionKeys(config)),
        site: JSON.stringify([site, issuer, clientId]),
        basePath,
        port: new URL(publicUrl ?? '').port,
        originOf: (host) => siteOrigin(publicUrl ?? '', hosts, host),
      });
    };
    const open = once(make);
    let opened: SignIn | null = null;
    return {
      knows: (incoming) => opened?.knows(incoming) ?? false,
      vary: 'Cookie, Authorization',
      isOwn: isSignInAddress,
      admit: async (incoming, target, begins) => {
        opened = await open();
        return opened.admit(incoming, target, begins);
      },
    };
  }

  /** Returns the same object for all sites with one OpenID Connect issuer, so that docshelf fetches the issuer's keys once. */
  #issuer(issuer: string): Promise<Issuer> {
    const known = this.#issuers.get(issuer);
    if (known !== undefined) return known;
    const make = async (): Promise<Issuer> => {
      const { Issuer: OpenIdIssuer } = await import('../../http/sign-in/identity-provider.ts');
      const { gatedFetch } = await import('../../net/http-client.ts');
      return new OpenIdIssuer({ issuer, fetch: gatedFetch(() => this.#network.client()) });
    };
    const made = make();
    this.#issuers.set(issuer, made);
    return made;
  }

  async end(): Promise<void> {
    await this.#passwords.end();
  }
}

export function signInKey({ server: { auth, publicUrl } }: Config): string {
  const files = [auth.usersFile, auth.clientSecretFile, auth.sessionKeyFile];
  return JSON.stringify([auth, publicUrl, ...files.map((file) => file?.text.reveal() ?? null)]);
}
