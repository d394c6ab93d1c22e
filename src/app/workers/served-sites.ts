import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { readView, withTable } from '../../deploy/releases/release-tables.ts';
import type { DocshelfError } from '../../domain/errors.ts';
import { toDocshelfError } from '../../domain/errors.ts';
import { pathOf, tellSite } from '../../http/listener/served-request.ts';
import { siteRequest } from '../../http/listener/site-request.ts';
import { SiteRoutes } from '../../http/site/route-site.ts';
import { isMcp, plainBelow } from '../../http/site/site.ts';
import { type BodyCache, loadSiteRules, type PlainAnswer, SiteServer, SiteSnapshot } from '../../serve/index.ts';
import { isPagePart } from '../../web/media-type.ts';
import { stripBase } from '../../web/mount/base-path.ts';
import type { ServedPlace, SiteOrder, StampedOrder, UseOrder } from './orders.ts';

export interface ServedSitesOptions {
  readonly bodies: BodyCache;
  /** To the daemon. */
  readonly handOn: (env: HttpBindings) => Promise<Response>;
  readonly onCache: (key: string, isHit: boolean) => void;
  readonly onFault: (key: string, error: DocshelfError, requestId: string | null) => void;
}

interface ServedSite {
  readonly server: SiteServer;
  stamp: number;
  /** Built for a swap that is under way. */
  prepared: { readonly stamp: number; readonly snapshot: SiteSnapshot | null } | null;
}

interface FoundSite {
  readonly place: ServedPlace;
  readonly site: ServedSite;
}

/** Docshelf's own addresses: search, reports, sign-in. */
const OWN = '/_docshelf';

/** Files of sites that everybody may read. All else, and what goes wrong here, is the daemon's to answer. */
export class ServedSites {
  readonly #options: ServedSitesOptions;
  readonly #sites = new Map<string, ServedSite>();
  #places = { stamp: 0, isLogged: true, routes: new SiteRoutes<ServedPlace>([]), only: null as ServedPlace | null };

  constructor(options: ServedSitesOptions) {
    this.#options = options;
  }

  get isLogged(): boolean {
    return this.#places.isLogged;
  }

  /** Builds what `use` puts in place. */
  async prepare({ key, stamp, order }: StampedOrder): Promise<void> {
    const snapshot = await this.#build(key, order);
    const site = this.#site(key);
    if (stamp > Math.max(site.stamp, site.prepared?.stamp ?? 0)) site.prepared = { stamp, snapshot };
  }

  async use({ sites, places }: UseOrder): Promise<void> {
    const build = async ({ key, order, prepared }: UseOrder['sites'][number]): Promise<SiteSnapshot | null> => {
      const ready = this.#sites.get(key)?.prepared ?? null;
      return ready !== null && ready.stamp === prepared ? ready.snapshot : this.#build(key, order);
    };
    const snapshots = await Promise.all(sites.map(build));
    for (const [at, { key, stamp }] of sites.entries()) {
      const site = this.#site(key);
      if (site.prepared !== null && site.prepared.stamp < stamp) site.prepared = null;
      if (stamp <= site.stamp) continue;
      site.stamp = stamp;
      site.server.swap(snapshots[at] ?? null);
    }
    if (places === null || places.stamp <= this.#places.stamp) return;
    const only = places.isList ? null : (places.places[0] ?? null);
    const { stamp, isLogged } = places;
    this.#places = { stamp, isLogged, routes: new SiteRoutes(places.places), only };
    const kept = new Set(places.places.map(({ domain }) => domain));
    for (const key of this.#sites.keys()) if (!kept.has(key)) this.#sites.delete(key);
  }

  plain(incoming: IncomingMessage): PlainAnswer | null {
    const found = this.#find(incoming);
    if (found === null || found.place.isGuarded) return null;
    const answer = plainBelow(found.site.server, found.place.basePath, incoming);
    // `answer` looks closer at what is not there: it may be in another version, or docshelf's own.
    const path = pathOf(incoming.url ?? '/');
    if (answer?.status === 404 && (mayBeElsewhere(path, found.site) || found.place.hasMcp)) return null;
    if (answer !== null) this.#tell(incoming, found);
    return answer;
  }

  answer(request: Request, env: HttpBindings): Response | Promise<Response> {
    const found = this.#find(env.incoming);
    if (found === null) return this.#options.handOn(env);
    this.#tell(env.incoming, found);
    const { place, site } = found;
    const asked = siteRequest(request, env);
    const stripped = stripBase(asked.target, place.basePath);
    const isWorker = asked.header('service-worker') !== undefined;
    const isFile = !place.isGuarded && stripped.kind === 'inside' && site.server.current !== null && !isWorker;
    if (!isFile) return this.#options.handOn(env);
    const path = pathOf(stripped.target);
    if (path.startsWith(OWN) || (place.hasMcp && isMcp(path, site.server, asked.header('host'))))
      return this.#options.handOn(env);
    const answer = site.server.respond({ ...asked, target: stripped.target });
    // What does not read is refused at once: the rest of it may be malformed, which ends the connection.
    return answer instanceof Response && answer.status === 405
      ? answer
      : this.#settle(answer, () => mayBeElsewhere(path, site), env);
  }

  async #settle(
    answering: Response | Promise<Response>,
    isElsewhere: () => boolean,
    env: HttpBindings,
  ): Promise<Response> {
    const answer = await answering;
    if (answer.status !== 404 || !isElsewhere()) return answer;
    await answer.body?.cancel();
    return this.#options.handOn(env);
  }

  #find({ headers, url = '/' }: Pick<IncomingMessage, 'headers' | 'url'>): FoundSite | null {
    const { only, routes } = this.#places;
    if (only !== null) return { place: only, site: this.#site(only.domain) };
    const route = routes.find(headers.host, url);
    if (route.kind !== 'site' && route.kind !== 'redirect') return null;
    return { place: route.site, site: this.#site(route.site.domain) };
  }

  #tell(incoming: IncomingMessage, { place, site }: FoundSite): void {
    const name = this.#places.only === null ? place.domain : undefined;
    tellSite(incoming, { site: name, version: site.server.current?.version });
  }

  #site(key: string): ServedSite {
    const known = this.#sites.get(key);
    if (known !== undefined) return known;
    const { bodies, onCache, onFault } = this.#options;
    const server = new SiteServer(bodies, {
      onCache: (isHit) => onCache(key, isHit),
      onFault: (error, requestId) => onFault(key, error, requestId),
    });
    const site = { server, stamp: 0, prepared: null };
    this.#sites.set(key, site);
    return site;
  }

  /** Null where the daemon has to answer, which has all of it in memory: also where it cannot be read. */
  async #build(key: string, order: SiteOrder | null): Promise<SiteSnapshot | null> {
    if (order === null) return null;
    try {
      const view = await readView(order.release);
      return new SiteSnapshot(view, order.older.map(withTable), order.form, await loadSiteRules(view));
    } catch (error) {
      this.#options.onFault(key, toDocshelfError(error), null);
      return null;
    }
  }
}

/** Other processes and replicas may show pages of the next version already, and the daemon knows its files. */
function mayBeElsewhere(path: string, { prepared }: ServedSite): boolean {
  return prepared !== null || isPagePart(path);
}
