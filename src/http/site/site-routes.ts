import { hostName, normalBasePath } from '../../domain/deployment.ts';
import { OWN_FOLDER } from '../../domain/release.ts';
import { decodeUnreserved } from '../../web/escape.ts';

export interface SiteAddress {
  readonly domain: string;
  /** Host names and IP addresses. An empty list means every host that no other site has in its list. */
  readonly hosts: readonly string[];
  /** Base path in any form: `/`, `/docs/` or `/docs`. */
  readonly basePath: string;
}

export type SiteRoute<T> =
  | { readonly kind: 'site'; readonly site: T }
  /** Request for the base path without its trailing slash. `location` contains the path and query of the redirect (308). */
  | { readonly kind: 'redirect'; readonly site: T; readonly location: string }
  /** No site matches, but the path belongs to the shelf page: `/` or `/_docshelf/…`. */
  | { readonly kind: 'shelf' }
  | { readonly kind: 'none' };

interface HostSites<T> {
  readonly byPath: Map<string, T>;
  /** Number of segments of the longest base path. A look-up ignores further segments of an address. */
  segmentsMax: number;
}

const SHELF: SiteRoute<never> = { kind: 'shelf' };
const NONE: SiteRoute<never> = { kind: 'none' };

/** Looks up the host and each path segment once. If two sites have the same host and base path, the first wins. */
export class SiteRoutes<T extends SiteAddress> {
  readonly #byHost = new Map<string, HostSites<T>>();
  readonly #otherHosts: HostSites<T> = { byPath: new Map(), segmentsMax: 0 };

  constructor(sites: readonly T[]) {
    for (const site of sites) {
      if (site.hosts.length === 0) add(this.#otherHosts, site);
      for (const host of site.hosts) {
        const name = hostName(host);
        const ofHost = this.#byHost.get(name) ?? { byPath: new Map(), segmentsMax: 0 };
        this.#byHost.set(name, ofHost);
        add(ofHost, site);
      }
    }
  }

  find(host: string | undefined, target: string): SiteRoute<T> {
    if (!target.startsWith('/')) return NONE;
    const { byPath, segmentsMax } = this.#byHost.get(hostName(host ?? '')) ?? this.#otherHosts;
    const [, written = '', query = ''] = /^([^?#]*)(\?[^#]*)?/.exec(target) ?? [];
    const path = written.includes('%') ? decodeUnreserved(written) : written;

    let site = byPath.get('/');
    let slash = 0;
    for (let segment = 0; segment < segmentsMax; segment++) {
      const end = path.indexOf('/', slash + 1);
      if (end === -1) {
        // Build the location only from the configured path, so that a client cannot cause a redirect to another host.
        const base = `${path}/`;
        const whole = slash + 1 < path.length ? byPath.get(base) : undefined;
        if (whole !== undefined) return { kind: 'redirect', site: whole, location: base + query };
        break;
      }
      site = byPath.get(path.slice(0, end + 1)) ?? site;
      slash = end;
    }
    if (site !== undefined) return { kind: 'site', site };
    return path === '/' || path.startsWith(`/${OWN_FOLDER}`) ? SHELF : NONE;
  }
}

function add<T extends SiteAddress>(ofHost: HostSites<T>, site: T): void {
  const segments = site.basePath.split('/').filter((segment) => segment !== '');
  const path = segments.length === 0 ? '/' : `/${segments.join('/')}/`;
  if (ofHost.byPath.has(path)) return;
  ofHost.byPath.set(path, site);
  ofHost.segmentsMax = Math.max(ofHost.segmentsMax, segments.length);
}

interface ShelfPlace {
  /** Host header of the request. Only compare it, because a client controls this header. */
  readonly host: string | undefined;
  readonly port: number;
  /** Value of `server.publicUrl`. All sites use its scheme and port. */
  readonly publicUrl: string | null;
}

/** Address of a site on the shelf page: a path if the requested host serves the site, or else an address with its first host. */
export function shelfAddress<T extends SiteAddress>(site: T, routes: SiteRoutes<T>, place: ShelfPlace): string {
  const { host, port, publicUrl } = place;
  const path = normalBasePath(site.basePath);
  const here = routes.find(host, path);
  if (here.kind === 'site' && here.site === site) return path;
  const [name] = site.hosts;
  // If the site has no configured host, and the requested host belongs to another site, build the address of the site with the
  // host of `publicUrl`.
  if (name === undefined) return publicUrl === null ? path : new URL(path, publicUrl).href;
  if (publicUrl !== null) {
    const { protocol, port: publicPort } = new URL(publicUrl);
    return `${protocol}//${hostName(name)}${publicPort === '' ? '' : `:${publicPort}`}${path}`;
  }
  return `//${hostName(name)}${host?.endsWith(`:${port}`) ? `:${port}` : ''}${path}`;
}

/**
 * Returns the site's origin: scheme and port of `publicUrl`, with the requested host if the site has it, or else the site's first
 * host.
 */
export function siteOrigin(publicUrl: string, hosts: readonly string[], asked = ''): string {
  const url = new URL(publicUrl);
  const host = hosts.find((each) => hostName(each) === hostName(asked)) ?? hosts[0];
  if (host !== undefined) url.hostname = hostName(host);
  return url.origin;
}

export function publicOrigin(publicUrl: string | null, hosts: readonly string[]): string | null {
  return publicUrl === null ? null : siteOrigin(publicUrl, hosts);
}
