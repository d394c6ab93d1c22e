import { stripBase } from '../../web/mount/base-path.ts';
import type { Documentation } from './documentation.ts';

export type AddressForm = Pick<Documentation, 'domain' | 'basePath' | 'origin'>;

/** Of resources: an assistant reads them here, whatever address the site has for others. */
const SCHEME = 'docshelf:';

/** Scheme and authority. */
const ABSOLUTE = /^([a-z][a-z0-9+.-]*:)\/\/([^/?#]*)/i;

/** Absolute where the config says what it begins with. @param page below the base path, percent-encoded */
export function addressOf(page: string, { basePath, origin }: AddressForm): string {
  const path = basePath + page.slice(1);
  return origin === null ? path : new URL(path, origin).href;
}

export function resourceUri(page: string, { domain, basePath }: AddressForm): string {
  return `${SCHEME}//${domain}${basePath}${page.slice(1)}`;
}

export function resourceTemplate({ domain }: AddressForm): string {
  return `${SCHEME}//${domain}/{+path}`;
}

/**
 * The raw target below the base path of what an assistant names: an address as answers have it, a resource, a path with or without
 * the base path. Null for an address of another place.
 */
export function targetOf(written: string, { domain, basePath, origin }: AddressForm): string | null {
  const text = written.trim().replace(/[?#].*$/s, '');
  const [whole = '', scheme = '', authority = ''] = ABSOLUTE.exec(text) ?? [];
  if (scheme !== '' && !isOurs(scheme.toLowerCase(), authority.toLowerCase(), domain, origin)) return null;
  const rest = text.slice(whole.length);
  const path = rest.startsWith('/') ? rest : `/${rest}`;
  const stripped = stripBase(path, basePath);
  if (stripped.kind === 'redirect') return '/';
  return stripped.kind === 'inside' ? stripped.target : path;
}

function isOurs(scheme: string, authority: string, domain: string, origin: string | null): boolean {
  if (scheme === SCHEME) return authority === domain;
  return origin !== null && URL.parse(`${scheme}//${authority}`)?.origin === new URL(origin).origin;
}
