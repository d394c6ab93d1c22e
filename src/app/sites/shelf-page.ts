import type { HttpBindings } from '@hono/node-server';
import type { Config } from '../../config/index.ts';
import type { FaultHooks } from '../../http/problem.ts';
import type { SiteRoutes } from '../../http/site/route-site.ts';
import type { createShelfApp, ShelfState } from '../../http/site/shelf.ts';
import { shelfAddress } from '../../http/site/shelf-address.ts';
import type { ListedSite } from '../../http/site/shelf-page.ts';
import type { AnswerSiteSearch } from '../../http/site/site-search.ts';
import type { FirstPages } from '../../serve/first-pages.ts';
import type { SiteEntry } from './sites.ts';

export interface ShelfPageOptions extends FaultHooks {
  /** As they are now. */
  readonly entries: () => readonly SiteEntry[];
  readonly routes: () => SiteRoutes<SiteEntry>;
  readonly current: () => Config;
  /** Of the site listener. */
  readonly port: () => number;
}

type ShelfApp = ReturnType<typeof createShelfApp>;

/** What is answered where no site of a list fits: the page that lists them, and one search over all. Loaded when first asked for. */
export class ShelfPageAnswer {
  readonly #options: ShelfPageOptions;
  #app: Promise<ShelfApp> | null = null;

  constructor(options: ShelfPageOptions) {
    this.#options = options;
  }

  async answer(request: Request, env: HttpBindings): Promise<Response> {
    this.#app ??= this.#open();
    return (await this.#app).fetch(request, env);
  }

  async #open(): Promise<ShelfApp> {
    const { current, onError, metrics } = this.#options;
    const [{ createShelfApp: create }, { siteSearch }, { ShelfSearch }, serving] = await Promise.all([
      import('../../http/site/shelf.ts'),
      import('../../http/site/site-search.ts'),
      import('../../search/index.ts'),
      import('../../serve/first-pages.ts'),
    ]);
    const pages = new serving.FirstPages();
    const search = siteSearch({
      search: new ShelfSearch(() => this.#searched()),
      trustedProxies: current().server.trustedProxies,
      metrics,
      ...(onError && { onError }),
    });
    return create({
      sites: (host) => this.#listed(pages, host),
      current: () => this.#state(search),
      onError: (error, requestId) => onError?.(error as never, requestId),
    });
  }

  #state(search: AnswerSiteSearch): ShelfState {
    const isOn = this.#options.current().server.shelf;
    return { isOn, search: this.#searched().length > 0 ? search : null };
  }

  #searched() {
    return this.#options.entries().flatMap(({ domain, site: { search, release } }) => {
      return search === null || release === null ? [] : [{ site: domain, search }];
    });
  }

  #listed(pages: FirstPages, host: string | undefined): Promise<readonly ListedSite[]> {
    const { entries, routes, current, port } = this.#options;
    const place = { host, port: port(), publicUrl: current().server.publicUrl };
    const shown = entries().filter(({ site }) => site.deployment.state !== 'off');
    return Promise.all(
      shown.map(async (entry) => {
        const { domain, site } = entry;
        const { release } = site;
        const said = release === null ? null : await pages.of(release);
        return {
          domain,
          title: site.config.title ?? said?.title ?? null,
          description: said?.description ?? null,
          language: said?.language ?? null,
          version: release?.version ?? null,
          date: release?.createdAt ?? null,
          address: shelfAddress(entry, routes(), place),
          state: site.deployment.state,
        };
      }),
    );
  }
}
