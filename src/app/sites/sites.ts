import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import type { SiteConfig } from '../../config/index.ts';
import { chooseSite } from '../../domain/deployment.ts';
import type { NamedSite } from '../../domain/organization.ts';
import type { DeployState } from '../../domain/status.ts';
import { mapAhead } from '../../files/lanes.ts';
import { tellSite } from '../../http/listener/served-request.ts';
import { SiteRoutes } from '../../http/site/route-site.ts';
import { forWorker } from '../../http/site/site.ts';
import type { PlainAnswer } from '../../serve/index.ts';
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
  /** Before sites of a list are opened. @returns notices */
  readonly settleDomains: (domains: readonly string[]) => Promise<readonly string[]>;
  /** @param domain null in the single form */
  readonly hostOf: (domain: string | null) => SiteHost;
  /** Answers where no site fits. */
  readonly elsewhere: (request: Request, env: HttpBindings) => Promise<Response>;
}

/** Each reads a dozen small files. */
const OPENED_AT_ONCE = 16;

/** States from the worst to the best of those that serve (contract, section 2.1). */
const WORST_FIRST: readonly DeployState[] = ['waiting', 'stale', 'ready'];

/** The sites of a daemon, changed by config reload: what happens to one touches no other. */
export class Sites {
  readonly isList: boolean;
  readonly #options: SitesOptions;
  #entries: readonly SiteEntry[] = [];
  /** What the folder has for none of the sites. */
  #notices: readonly string[] = [];
  #routes = new SiteRoutes<SiteEntry>([]);

  constructor(options: SitesOptions) {
    this.#options = options;
    this.isList = options.isList;
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
    return this.#entries.find(({ site }) => site.domain === domain)?.site ?? null;
  }

  /** @param domain null: the only one. @throws DocshelfError `not_found`, `site_needed` */
  chosen(domain: string | null): ShelfSite {
    return chooseSite(this.all, domain, 'this daemon');
  }

  get state(): DeployState {
    const states = this.all.map(({ deployment }) => deployment.state);
    return WORST_FIRST.find((state) => states.includes(state)) ?? 'off';
  }

  /** Null for what `answer` is for. */
  plain(incoming: IncomingMessage): PlainAnswer | null {
    const only = this.isList ? null : this.only;
    if (only !== null) return plainOf(only, incoming);
    const route = this.#routes.find(incoming.headers.host, incoming.url ?? '/');
    if (route.kind !== 'site') return null;
    return plainOf(route.site.site, incoming, route.site.domain);
  }

  /** By the site of a request, which its host and path name. */
  answer(request: Request, env: HttpBindings): Response | Promise<Response> {
    return forWorker(env.incoming, this.#answer(request, env));
  }

  #answer(request: Request, env: HttpBindings): Response | Promise<Response> {
    const { incoming } = env;
    const only = this.isList ? null : this.only;
    if (only !== null) {
      tellSite(incoming, { site: undefined, version: only.version });
      return only.answer(request, env);
    }
    const route = this.#routes.find(incoming.headers.host, incoming.url ?? '/');
    if (route.kind === 'site' || route.kind === 'redirect') {
      const { domain, site } = route.site;
      tellSite(incoming, { site: domain, version: site.version });
    }
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
   * folder stays. @throws DocshelfError of the single form's site: `cannot_write`, `config_invalid`, `data_folder_newer`
   */
  async accept(configs: readonly SiteConfig[]): Promise<void> {
    const left = await this.#take(configs);
    await Promise.all(left.map((site) => this.#end(site)));
  }

  /** Each site says it: what it serves is as it was. */
  reloadFailed(error: unknown): void {
    for (const { deployment } of this.all) deployment.failed('reload', error);
  }

  /** Resolves when every site has ended its round; in a list only those that begin their work or have something new begin one. */
  async settle(): Promise<void> {
    const due = this.all.filter(({ deployment }) => !this.isList || deployment.mustSettle);
    await Promise.all(due.map((site) => site.settle()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.all.map((site) => site.stop()));
  }

  /** @returns those that have left */
  async #take(configs: readonly SiteConfig[]): Promise<readonly ShelfSite[]> {
    const domains = configs.map(({ domain }) => domain ?? '');
    const notices = this.isList ? await this.#options.settleDomains(domains) : [];
    const former = new Map(this.#entries.map(({ domain, site }) => [domain, site]));
    const entries: SiteEntry[] = [];
    const commits: (() => void)[] = [];
    this.#notices = notices;
    const take = async (config: SiteConfig): Promise<SiteEntry> => {
      const { hosts, basePath } = config;
      const domain = config.domain ?? '';
      const known = this.isList ? former.get(domain) : this.all[0];
      const commit = await known?.accept(config);
      if (commit !== undefined) commits.push(commit);
      const site = known ?? (await ShelfSite.open(config, this.#options.hostOf(this.isList ? config.domain : null)));
      return { domain, hosts, basePath, site };
    };
    for await (const entry of mapAhead(configs, OPENED_AT_ONCE, take)) entries.push(entry);
    for (const commit of commits) commit();
    this.#entries = entries;
    this.#routes = new SiteRoutes(entries);
    const kept = new Set(entries.map(({ site }) => site));
    return [...former.values()].filter((site) => !kept.has(site));
  }

  async #end(site: ShelfSite): Promise<void> {
    // Its fault is not that of the sites that stay.
    await site.stop().catch((error: unknown) => site.deployment.failed('stop', error));
    site.close();
  }
}

/** @param domain on a shelf of many */
function plainOf(site: ShelfSite, incoming: IncomingMessage, domain?: string): PlainAnswer | null {
  const answer = site.plain(incoming);
  if (answer !== null) tellSite(incoming, { site: domain, version: site.version });
  return answer;
}
