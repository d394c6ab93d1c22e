import { hostName, normalBasePath } from '../../domain/deployment.ts';
import type { SiteAddress, SiteRoutes } from './route-site.ts';

/** Where the shelf page is read. */
export interface ShelfPlace {
  /** The Host header of the request, which is compared and never repeated (contract, section 2). */
  readonly host: string | undefined;
  /** That the site listener has. */
  readonly port: number;
  /** `server.publicUrl`; its scheme and port are those of all sites. */
  readonly publicUrl: string | null;
}

/**
 * Address of a site's first page for who reads the shelf page there: a path where the same host answers it, else its first
 * host name, with the port of the listener where readers reach that without a proxy.
 */
export function shelfAddress<T extends SiteAddress>(site: T, routes: SiteRoutes<T>, place: ShelfPlace): string {
  const { host, port, publicUrl } = place;
  const path = normalBasePath(site.basePath);
  const here = routes.find(host, path);
  if (here.kind === 'site' && here.site === site) return path;
  const [name] = site.hosts;
  // A site without host names, seen from a host that another site has: publicUrl alone can tell where it is.
  if (name === undefined) return publicUrl === null ? path : new URL(path, publicUrl).href;
  if (publicUrl !== null) {
    const { protocol, port: publicPort } = new URL(publicUrl);
    return `${protocol}//${hostName(name)}${publicPort === '' ? '' : `:${publicPort}`}${path}`;
  }
  return `//${hostName(name)}${host?.endsWith(`:${port}`) ? `:${port}` : ''}${path}`;
}

/**
 * Where a site is reached. Scheme and port are those of `publicUrl`; the host that was asked, where it is one of the site's, else its
 * first.
 */
export function siteOrigin(publicUrl: string, hosts: readonly string[], asked = ''): string {
  const url = new URL(publicUrl);
  const host = hosts.find((each) => hostName(each) === hostName(asked)) ?? hosts[0];
  if (host !== undefined) url.hostname = hostName(host);
  return url.origin;
}

/** Null where nobody says under which address readers reach the site. */
export function publicOrigin(publicUrl: string | null, hosts: readonly string[]): string | null {
  return publicUrl === null ? null : siteOrigin(publicUrl, hosts);
}
