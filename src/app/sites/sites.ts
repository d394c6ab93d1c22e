import type { HttpBindings } from '@hono/node-server';
import type { SiteConfig } from '../../config/index.ts';
import { chooseSite } from '../../domain/deployment.ts';
import { toDocshelfError } from '../../domain/errors.ts';
import type { NamedSite } from '../../domain/organization.ts';
import type { DeployState } from '../../domain/status.ts';
import { tellSite } from '../../http/listener/served-request.ts';
import { SiteRoutes } from '../../http/site/route-site.ts';
import { ShelfSite, type SiteHost } from './shelf-site.ts';

/** A site and its place. */
export interface SiteEntry {
  readonly domain: string;
  readonly hosts: readonly string[];
  readonly basePath: string;
  readonly site: ShelfSite;
}

export interface SitesOptions {
  readonly isList: boolean;
  /** Before sites of a list are opened. */
  readonly settleDomains: (domains: readonly string[]) => Promise<void>;
  /** @param domain null in the single form */
  readonly hostOf: (domain: string | null) => SiteHost;
  /** A site of a list that cannot be opened leaves the others served. */
  readonly onFault: (domain: string, error: unknown) => void;
  /** Answers where no site fits. */
  readonly elsewhere: (request: Request, env: HttpBindings) => Promise<Response>;
}

/** States from the worst to the best of those that serve (contract, section 2.1). */
const WORST_FIRST: readonly DeployState[] = ['waiting', 'stale', 'ready'];

/** The sites of a daemon, changed by config reload: what happens to one touches no other. */
export class Sites {
  readonly isList: boolean;
  readonly #options: SitesOptions;
  #entries: readonly SiteEntry[] = [];
  /** Of those that could not be opened; a reload tries again. */
  #notices: readonly string[] = [];
  #routes = new SiteRoutes<SiteEntry>([]);

  constructor(options: SitesOptions) {
    this.#options = options;
    this.isList = options.isList;
  }

  /** @throws DocshelfError of the single form's site: `cannot_write`, `config_invalid`, `data_folder_newer`. */
  async open(configs: readonly SiteConfig[]): Promise<void> {
    await this.#take(configs);
  }

  get notices(): readonly string[] {
    return this.#notices;
  }

  get entries(): readonly SiteEntry[] {
    return this.#entries;
  }

  get routes(): SiteRoutes<SiteEntry> {
    return this.#routes;
  }

  get all(): readonly ShelfSite[] {
    return this.#entries.map(({ site }) => site);
  }

  /** Null where there are several. */
  get only(): ShelfSite | null {
    const [first, second] = this.#entries;
    return second === undefined ? (first?.site ?? null) : null;
  }

  get haveSearch(): boolean {
    return this.all.some(({ search }) => search !== null);
  }

  get domains(): readonly string[] {
    return this.all.map(({ domain }) => domain);
  }

  /** A host shared by several sites names none of them. */
  get names(): readonly NamedSite[] {
    const shared = new Map<string, number>();
    for (const { hosts } of this.#entries) for (const host of hosts) shared.set(host, (shared.get(host) ?? 0) + 1);
    return this.#entries.map(({ site, hosts }) => ({
      domain: site.domain,
      hosts: hosts.filter((host) => shared.get(host) === 1),
    }));
  }

  find(domain: string): ShelfSite | null {
    return this.all.find((site) => site.domain === domain) ?? null;
  }

  /** @param domain null: the only one. @throws DocshelfError `not_found`, `site_needed` */
  chosen(domain: string | null): ShelfSite {
    return chooseSite(this.all, domain, 'this daemon');
  }

  get state(): DeployState {
    const states = this.all.map(({ deployment }) => deployment.state);
    return WORST_FIRST.find((state) => states.includes(state)) ?? 'off';
  }

  /** The site of a request, by its host and path. */
  answer(request: Request, env: HttpBindings): Response | Promise<Response> {
    const { incoming } = env;
    const only = this.isList ? null : this.only;
    if (only !== null) return only.answer(request, env);
    const route = this.#routes.find(incoming.headers.host, incoming.url ?? '/');
    if (route.kind === 'site' || route.kind === 'redirect') tellSite(incoming, route.site.domain);
    switch (route.kind) {
      case 'site':
        return route.site.site.answer(request, env);
      case 'redirect':
        return new Response(null, { status: 308, headers: { Location: route.location } });
      default:
        return this.#options.elsewhere(request, env);
    }
  }

  /**
   * New, changed and removed entries, in this order; `settle` carries them out. A site that leaves ends what it has begun; its
   * folder stays. @throws DocshelfError `config_invalid`
   */
  async accept(configs: readonly SiteConfig[]): Promise<void> {
    const left = await this.#take(configs);
    await Promise.all(left.map((site) => this.#end(site)));
  }

  /** Each site says it: what it serves is as it was. */
  reloadFailed(error: unknown): void {
    for (const { deployment } of this.all) deployment.failed('reload', error);
  }

  /** Resolves when every site has ended its round. */
  async settle(): Promise<void> {
    await Promise.all(this.all.map(({ deployment }) => deployment.settle()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.all.map((site) => site.stop()));
  }

  /** @returns those that have left */
  async #take(configs: readonly SiteConfig[]): Promise<readonly ShelfSite[]> {
    if (this.isList) await this.#options.settleDomains(configs.map(({ domain }) => domain ?? ''));
    const former = new Map(this.#entries.map(({ domain, site }) => [domain, site]));
    const entries: SiteEntry[] = [];
    this.#notices = [];
    for (const config of configs) {
      const domain = config.domain ?? '';
      const site = this.isList ? former.get(domain) : this.all[0];
      const taken = site === undefined ? await this.#openSite(config) : await accepted(site, config);
      if (taken !== null) entries.push({ domain, hosts: config.hosts, basePath: config.basePath, site: taken });
    }
    this.#entries = entries;
    this.#routes = new SiteRoutes(entries);
    const kept = new Set(entries.map(({ site }) => site));
    return [...former.values()].filter((site) => !kept.has(site));
  }

  async #openSite(config: SiteConfig): Promise<ShelfSite | null> {
    const host = this.#options.hostOf(this.isList ? config.domain : null);
    if (!this.isList) return ShelfSite.open(config, host);
    return ShelfSite.open(config, host).catch((error: unknown) => {
      this.#options.onFault(config.domain ?? '', error);
      const { message, next = 'Mend it, and reload.' } = toDocshelfError(error);
      this.#notices = [...this.#notices, `The site "${config.domain}" is not served. ${message}. ${next}`];
      return null;
    });
  }

  async #end(site: ShelfSite): Promise<void> {
    await site.stop();
    site.close();
  }
}

async function accepted(site: ShelfSite, config: SiteConfig): Promise<ShelfSite> {
  await site.accept(config);
  return site;
}
