import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import type { SiteConfig } from '../../config/index.ts';
import { chooseSite } from '../../domain/deployment.ts';
import type { NamedSite } from '../../domain/organization.ts';
import type { DeployState } from '../../domain/status.ts';
import { mapAhead, untilAllEnded } from '../../files/lanes.ts';
import { tagRequest } from '../../http/listener/served-request.ts';
import { forWorker } from '../../http/site/site.ts';
import { type SiteRoute, SiteRoutes } from '../../http/site/site-routes.ts';
import type { FastAnswer } from '../../site/index.ts';
import { Site, type SiteHost } from './site.ts';

interface SitesOptions {
  readonly isList: boolean;
  readonly settleDomains: (domains: readonly string[]) => Promise<readonly string[]>;
  readonly hostOf: (domain: string | null) => SiteHost;
  readonly elsewhere: (request: Request, env: HttpBindings) => Promise<Response>;
}

interface OpenedSites {
  readonly all: readonly Site[];
  /** Sites by host and path. Empty without a list of sites, because a single site serves all requests. */
  readonly routes: SiteRoutes<Site>;
  /** Notices about parts of the data folder that belong to no site. */
  readonly notices: readonly string[];
}

/** Maximum sites to open at once. To open a site, docshelf reads a dozen small files. */
const OPENED_AT_ONCE = 16;

const WORST_FIRST: readonly DeployState[] = ['waiting', 'stale', 'ready'];

/** Sites of a daemon. A failure of a site does not affect the other sites. */
export class Sites {
  readonly isList: boolean;
  readonly #options: SitesOptions;
  /** Sites and their routes. A change replaces the whole object, so that no request sees a part of the change. */
  current: OpenedSites = { all: [], routes: new SiteRoutes([]), notices: [] };

  constructor(options: SitesOptions) {
    this.#options = options;
    this.isList = options.isList;
  }

  get all(): readonly Site[] {
    return this.current.all;
  }

  get only(): Site | null {
    const [first, second] = this.all;
    return second === undefined ? (first ?? null) : null;
  }

  get haveSearch(): boolean {
    return this.all.some(({ search }) => search !== null);
  }

  /** Domains of the sites with their hosts. Omits each host that several sites share. */
  get names(): readonly NamedSite[] {
    const shared = new Map<string, number>();
    for (const { hosts } of this.all) for (const host of hosts) shared.set(host, (shared.get(host) ?? 0) + 1);
    return this.all.map(({ domain, hosts }) => ({ domain, hosts: hosts.filter((host) => shared.get(host) === 1) }));
  }

  find(domain: string): Site | null {
    return this.all.find((site) => site.domain === domain) ?? null;
  }

  chosen(domain: string | null): Site {
    return chooseSite(this.all, domain, 'this daemon');
  }

  get state(): DeployState {
    const states = this.all.map(({ deployment }) => deployment.state);
    return WORST_FIRST.find((state) => states.includes(state)) ?? 'off';
  }

  readonly fastAnswer = (incoming: IncomingMessage): FastAnswer | null => {
    const route = this.#route(incoming);
    return route.kind === 'site' ? route.site.fastAnswer(incoming) : null;
  };

  readonly fetch = (request: Request, env: HttpBindings): Response | Promise<Response> => {
    const route = this.#route(env.incoming);
    if (route.kind === 'site') return forWorker(env.incoming, route.site.answer(request, env));
    if (route.kind !== 'redirect') return forWorker(env.incoming, this.#options.elsewhere(request, env));
    return forWorker(env.incoming, new Response(null, { status: 308, headers: { Location: route.location } }));
  };

  #route(incoming: IncomingMessage): SiteRoute<Site> {
    const { all, routes } = this.current;
    const [site] = this.isList ? [] : all;
    const route = site ? ({ kind: 'site', site } as const) : routes.find(incoming.headers.host, incoming.url ?? '/');
    if (route.kind === 'site' || route.kind === 'redirect') {
      const { site } = route;
      tagRequest(incoming, { site: this.isList ? site.domain : undefined, version: site.version });
    }
    return route;
  }

  /**
   * Stores new settings, which the next `settle` call applies. A site that is missing in the settings stops its work, but
   * keeps its folder.
   * @throws errors of `Site.open`
   */
  async accept(configs: readonly SiteConfig[]): Promise<void> {
    const notices = this.isList ? await this.#options.settleDomains(configs.map(({ domain }) => domain ?? '')) : [];
    const former = this.all;
    const all: Site[] = [];
    const commits: (() => void)[] = [];
    const take = async (config: SiteConfig): Promise<Site> => {
      const known = this.isList ? former.find((site) => site.config.domain === config.domain) : former[0];
      if (known === undefined) return Site.open(config, this.#options.hostOf(this.isList ? config.domain : null));
      commits.push(await known.accept(config));
      return known;
    };
    for await (const site of mapAhead(configs, OPENED_AT_ONCE, take)) all.push(site);
    for (const commit of commits) commit();
    this.current = { all, routes: this.isList ? new SiteRoutes(all) : this.current.routes, notices };
    await Promise.all(former.filter((site) => !all.includes(site)).map((site) => this.#end(site)));
  }

  reloadFailed(error: unknown): void {
    for (const { deployment } of this.all) deployment.journal.failed('reload', error);
  }

  /** Resolves when every site is idle. With a list of sites, starts to reconcile only sites that have new work. */
  async settle(): Promise<void> {
    const due = this.all.filter(({ deployment }) => !this.isList || deployment.mustReconcile);
    await Promise.all(due.map((site) => site.settle()));
  }

  async stop(): Promise<void> {
    await untilAllEnded(this.all.map((site) => site.stop()));
  }

  async #end(site: Site): Promise<void> {
    // If a site fails to stop, continue, because the reload must still stop or change the other sites.
    await site.stop().catch((error: unknown) => site.deployment.journal.failed('stop', error));
    site.close();
  }
}
