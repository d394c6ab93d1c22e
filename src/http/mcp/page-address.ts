import { VERSION_ADDRESSES } from '../../domain/release.ts';
import { decodeOrKeep } from '../../web/escape.ts';
import { stripBase } from '../../web/mount/base-path.ts';
import type { Documentation } from './documentation.ts';

export type AddressForm = Pick<Documentation, 'domain' | 'basePath' | 'origin'>;

/** Of resources: an assistant reads them here, whatever address the site has for others. */
const SCHEME = 'docshelf:';

/** Scheme and authority. */
const ABSOLUTE = /^([a-z][a-z0-9+.-]*:)\/\/([^/?#]*)/i;

/** Absolute where the config says what it begins with. @param page below the base path, percent-encoded */
export function addressOf(page: string, { basePath, origin }: Omit<AddressForm, 'domain'>): string {
  const path = basePath + page.slice(1);
  return origin === null ? path : new URL(path, origin).href;
}

export function resourceUri(page: string, { domain, basePath }: Omit<AddressForm, 'origin'>): string {
  return `${SCHEME}//${domain}${basePath}${page.slice(1)}`;
}

export function resourceTemplate({ domain }: Pick<AddressForm, 'domain'>): string {
  return `${SCHEME}//${domain}/{+path}`;
}

export interface NamedPlace {
  /** Null: the active one. */
  readonly version: string | null;
  /** Raw, below the base path of that version. */
  readonly target: string;
}

/** Version, and what is below it. */
const OF_VERSION = new RegExp(`^${VERSION_ADDRESSES}([^/]+)(/.*)?$`, 's');

/**
 * What an assistant names: an address as answers have it, a resource, a path with or without the base path. Null for an address of
 * another place.
 */
export function placeOf(written: string, form: AddressForm): NamedPlace | null {
  const target = targetOf(written, form);
  if (target === null) return null;
  const [, version, below = '/'] = OF_VERSION.exec(target) ?? [];
  return version === undefined ? { version: null, target } : { version: decodeOrKeep(version), target: below };
}

/** Below the site's base path. */
function targetOf(written: string, { domain, basePath, origin }: AddressForm): string | null {
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
