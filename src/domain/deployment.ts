import { DocshelfError } from './errors.ts';

export const DEPLOYMENT_TYPES = ['cloud', 'client-hosted', 'air-gapped'] as const;
export type DeploymentType = (typeof DEPLOYMENT_TYPES)[number];

export const DEFAULT_DOMAIN = 'docs';

/** A domain is one DNS label (RFC 1035, section 2.3.1). It can begin with a digit (RFC 1123, section 2.1). */
export const DOMAIN_PATTERN = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;

/** Maximum domains in a message, so that it stays readable with a thousand sites. */
const DOMAINS_SHOWN_MAX = 20;

/** @param domain null for the only site @param holder subject of the error message @throws DocshelfError `not_found`, `site_needed` */
export function chooseSite<Site extends { readonly domain: string | null }>(
  sites: readonly Site[],
  domain: string | null,
  holder: string,
): Site {
  const [first, second] = sites;
  const only = second === undefined ? first : undefined;
  const site = domain === null ? only : sites.find((each) => each.domain === domain);
  if (site !== undefined) return site;
  const domains = sites.map((each) => each.domain ?? '');
  const known = domains.slice(0, DOMAINS_SHOWN_MAX).join(', ') + (domains.length > DOMAINS_SHOWN_MAX ? ', …' : '');
  if (domain === null) {
    const state = second === undefined ? 'no site' : 'several sites';
    throw new DocshelfError('site_needed', `Cannot choose a site: ${holder} has ${state}`, {
      next: `In a command, select a site with --site. In a request, use a path under /v1/sites/{domain}. The sites are: ${known}.`,
      fields: { domains },
    });
  }
  const state = `Cannot find the site "${domain.slice(0, 200)}": ${holder} has no such site`;
  throw new DocshelfError('not_found', state, {
    next: known === '' ? 'Add a site to the config.' : `Use one of its sites: ${known}.`,
  });
}

/** Returns `/docs/` for `/docs`, `//docs` and `/docs/`. */
export const normalBasePath = (written: string): string => `/${written}/`.replaceAll(/\/{2,}/g, '/');

/**
 * Normalizes a host: removes the port and a trailing dot, and converts to lower case. Writes an IPv6 address with brackets, as
 * the URL standard does.
 */
export function hostName(host: string): string {
  const name = host.toLowerCase();
  const isBareIpv6 = !name.startsWith('[') && name.indexOf(':') !== name.lastIndexOf(':');
  if (isBareIpv6 || name.startsWith('[')) return ipv6Name(isBareIpv6 ? `[${name}]` : name);
  const port = name.indexOf(':');
  const end = port === -1 ? name.length : port;
  return name.slice(0, name[end - 1] === '.' ? end - 1 : end);
}

function ipv6Name(name: string): string {
  const address = name.slice(0, name.indexOf(']') + 1);
  return URL.canParse(`http://${address}`) ? new URL(`http://${address}`).hostname : name;
}
