import type { HttpBindings } from '@hono/node-server';
import type { Config } from '../../config/index.ts';
import { ClientRates } from '../../http/limits/client-rates.ts';
import type { Metrics } from '../../http/metrics/metrics.ts';
import { admit, asPrivate, isFree } from '../../http/sign-in/guarded-site.ts';
import type { SignIn } from '../../http/sign-in/sign-in.ts';
import type { createShelfApp, ListedSite } from '../../http/site/shelf.ts';
import type { SiteAssets } from '../../http/site/site-assets.ts';
import { shelfAddress } from '../../http/site/site-routes.ts';
import { type ShelfScope, siteSearch } from '../../http/site/site-search.ts';
import { ShelfSearch } from '../../search/index.ts';
import { once } from '../../threads/once.ts';
import { type SignIns, signInKey } from './sign-ins.ts';
import type { Site } from './site.ts';
import type { Sites } from './sites.ts';

interface ShelfPageOptions {
  readonly sites: Sites;
  readonly current: () => Config;
  readonly port: () => number;
  readonly signIns: SignIns;
  readonly assets: SiteAssets;
  readonly metrics: Pick<Metrics, 'onError' | 'onWrongSignIn'>;
  readonly onError: (error: unknown, requestId: string | null) => void;
}

/**
 * Two forms of the shelf page, which lists the sites. `open` lists sites without sign-in; `signedIn` also lists sites with the
 * daemon's sign-in.
 */
interface ShelfApps {
  readonly open: ReturnType<typeof createShelfApp>;
  readonly signedIn: ReturnType<typeof createShelfApp>;
}

const SIGN_IN_QUERY = /[?&]sign-in(?:[&#]|$)/;

/**
 * If the daemon has several sites, responds to requests that match none of them. Loads the code of the shelf page with the first
 * such request.
 */
export class ShelfPageAnswer {
  readonly #options: ShelfPageOptions;
  readonly #apps = once(() => this.#open());
  readonly #pages = once(async () => (await import('../../site/first-pages.ts')).firstPages());
  #signIn: { readonly key: string; readonly signIn: SignIn | null } | null = null;

  constructor(options: ShelfPageOptions) {
    this.#options = options;
  }

  async answer(request: Request, env: HttpBindings): Promise<Response> {
    const apps = await this.#apps();
    const signIn = this.#currentSignIn();
    const target = env.incoming.url ?? '/';
    if (signIn === null || isFree(target) || !this.#options.current().server.shelf)
      return apps.open.fetch(request, env);
    const isAsked = this.#shown(null).length === 0 || SIGN_IN_QUERY.test(target) || signIn.isOwn?.(target) === true;
    const refused = await admit({ signIn, onFault: this.#options.onError }, request, env, target, isAsked);
    if (refused === null) return asPrivate(await apps.signedIn.fetch(request, env), signIn);
    return asPrivate(isAsked ? refused : await apps.open.fetch(request, env), signIn);
  }

  /**
   * Sites that a reader of `domain` can find: this site, public sites, and sites that share the daemon's sign-in with it. Null
   * for fewer than two sites.
   */
  scopeOf(domain: string): ShelfScope | null {
    const { current } = this.#options;
    if (current().sites.length < 2) return null;
    const known = (): readonly Site[] => this.#knownFrom(domain);
    return {
      search: () => new ShelfSearch(() => searched(known())),
      sites: async (host) => {
        const listed = await this.#listed(known(), host);
        return new Map(
          listed.map((site) => [site.domain, { domain: site.domain, title: site.title, address: site.address }]),
        );
      },
    };
  }

  #knownFrom(domain: string): readonly Site[] {
    const { sites, current } = this.#options;
    const own = sites.find(domain);
    const key = own?.signInKey ?? null;
    const others = current().server.shelf ? this.#shown(key === signInKey(current()) ? key : null) : [];
    return sites.all.filter((site) => site === own || others.includes(site));
  }

  #currentSignIn(): SignIn | null {
    const config = this.#options.current();
    const key = signInKey(config);
    if (this.#signIn?.key !== key) {
      const { signIns, metrics, onError } = this.#options;
      const place = { config, site: null, hosts: [], basePath: '/' };
      const onRefused = (error: unknown): void => onError(error, null);
      this.#signIn = { key, signIn: signIns.open(place, { onWrong: () => metrics.onWrongSignIn(), onRefused }) };
    }
    return this.#signIn.signIn;
  }

  async #open(): Promise<ShelfApps> {
    const { current, assets, onError, metrics } = this.#options;
    const { createShelfApp: create } = await import('../../http/site/shelf.ts');
    const clients = new ClientRates();
    const appFor = (keyOf: () => string | null): ReturnType<typeof create> => {
      const search = siteSearch({
        search: new ShelfSearch(() => searched(this.#shown(keyOf()))),
        trustedProxies: current().server.trustedProxies,
        clients,
        metrics,
        onError,
      });
      return create({
        sites: (host) => this.#listed(this.#shown(keyOf()), host),
        current: () => ({
          isOn: current().server.shelf,
          search: searched(this.#shown(keyOf())).length > 0 ? search : null,
          hasMore: keyOf() === null && this.#shown(signInKey(current())).length > this.#shown(null).length,
        }),
        assets,
        onError,
      });
    };
    return { open: appFor(() => null), signedIn: appFor(() => signInKey(current())) };
  }

  #shown(key: string | null): readonly Site[] {
    const isShown = ({ deployment, signInKey: needed }: Site): boolean =>
      deployment.state !== 'off' && (needed === null || needed === key);
    return this.#options.sites.all.filter(isShown);
  }

  async #listed(shown: readonly Site[], host: string | undefined): Promise<readonly ListedSite[]> {
    const { sites, current, port } = this.#options;
    const place = { host, port: port(), publicUrl: current().server.publicUrl };
    const pageOf = await this.#pages();
    return Promise.all(
      shown.map(async (site) => {
        const { domain, config, release, deployment } = site;
        const page = release && (await pageOf(release));
        return {
          domain,
          title: config.title ?? page?.title ?? null,
          description: page?.description ?? null,
          language: page?.language ?? null,
          version: release?.version ?? null,
          date: release?.createdAt ?? null,
          address: shelfAddress(site, sites.current.routes, place),
          state: deployment.state,
        };
      }),
    );
  }
}

function searched(sites: readonly Site[]) {
  return sites.flatMap(({ domain, search, release }) => {
    return search === null || release === null ? [] : [{ site: domain, search }];
  });
}
