import { DocshelfError } from '../../domain/errors.ts';
import { VERSION_ADDRESSES } from '../../domain/release.ts';
import type { Search } from '../../search/index.ts';
import { stripBase } from '../../web/mount/base-path.ts';
import { decodeOrKeep } from '../../web/percent-decode.ts';

/** What assistants read of a site. */
export interface Documentation {
  readonly domain: string;
  /** With its last slash. */
  readonly basePath: string;
  /** `server.publicUrl`; null: addresses are paths. */
  readonly origin: string | null;
  /** Null where search is off. */
  readonly search: Search | null;
  /**
   * As it is now. Null where nothing is served, and where readers have no such version.
   *
   * @param version its label; null: the active one. @throws DocshelfError `cannot_read`, `release_damaged`
   */
  release(version: string | null): Promise<DocumentationRelease | null>;
  /** Labels of what readers may read, the newest first. */
  versions(): Promise<readonly string[]>;
}

/** One version of a site; it stays as it is while a request works on it. */
export interface DocumentationRelease {
  readonly version: string;
  /** Of the addresses of its pages, with its last slash. */
  readonly basePath: string;
  /** Of all pages, below the base path (`/guides/start`), in the order of UTF-16 code units. */
  pages(): Promise<readonly string[]>;
  /** Null: the page says none. @param pages of `pages` */
  titles(pages: readonly string[]): Promise<readonly (string | null)[]>;
  /**
   * Null: there is no such page.
   * @param target below the base path, raw
   * @throws DocshelfError `cannot_read`, `release_damaged`; the signal's reason
   */
  read(target: string, signal: AbortSignal): Promise<PageMarkup | null>;
}

interface PageMarkup {
  /** Of the page, as `pages` has it. */
  readonly path: string;
  readonly title: string | null;
  readonly markdown: string;
}

/** Of a sentence. */
const VERSIONS_TOLD_MAX = 20;

/** @param version null: the active one. @throws DocshelfError `no_bundle`, `version_not_found` */
export async function servedRelease(site: Documentation, version: string | null): Promise<DocumentationRelease> {
  const release = await site.release(version);
  if (release !== null) return release;
  const versions = await site.versions();
  if (version === null || versions.length === 0) {
    const next = 'Ask again later; who runs docshelf finds the reason in its status.';
    throw new DocshelfError('no_bundle', 'Cannot read the documentation: no version is active', { next });
  }
  const told = versions.slice(0, VERSIONS_TOLD_MAX).join(', ');
  const more = versions.length > VERSIONS_TOLD_MAX ? ' and older ones' : '';
  const message = `Cannot read version "${shown(version)}": this documentation has no such version`;
  throw new DocshelfError('version_not_found', message, { next: `There is ${told}${more}.` });
}

/** A stranger's words, within a sentence. */
export const shown = (text: string): string => text.slice(0, 200).toWellFormed();

type AddressForm = Pick<Documentation, 'domain' | 'basePath' | 'origin'>;

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

interface NamedPlace {
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
