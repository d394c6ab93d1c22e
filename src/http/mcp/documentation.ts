import { DocshelfError } from '../../domain/errors.ts';
import { VERSION_ADDRESSES } from '../../domain/release.ts';
import type { Search } from '../../search/index.ts';
import { decodeOrKeep } from '../../web/escape.ts';
import { stripBase } from '../../web/mount/base-path.ts';

export interface Documentation {
  readonly domain: string;
  readonly basePath: string;
  /** Origin of `server.publicUrl`, which makes addresses absolute. If the origin is null, addresses are paths. */
  readonly origin: string | null;
  readonly search: Search | null;
  /** Opens a version. Null if readers have no access, or if no version is active. @param version null for the active version */
  release(version: string | null): Promise<DocumentationRelease | null>;
  versions(): Promise<readonly string[]>;
}

export interface DocumentationRelease {
  readonly version: string;
  readonly basePath: string;
  /** Paths of all pages under the base path, such as `/guides/start`, in the order of UTF-16 code units. */
  pages(): Promise<readonly string[]>;
  titles(pages: readonly string[]): Promise<readonly (string | null)[]>;
  /** Reads a page. Null if it does not exist. @param target percent-encoded path under the base path @throws `signal.reason` */
  read(target: string, signal: AbortSignal, fragment?: string | null): Promise<PageText | null>;
}

interface PageText {
  readonly path: string;
  readonly title: string | null;
  readonly markdown: string;
  /** Offset of the fragment in `markdown`. 0 if there is no fragment, or the page has no such anchor. */
  readonly start: number;
}

const VERSIONS_NAMED_MAX = 20;

export async function servedRelease(site: Documentation, version: string | null): Promise<DocumentationRelease> {
  const release = await site.release(version);
  if (release !== null) return release;
  const versions = await site.versions();
  if (version === null || versions.length === 0) {
    const next = 'Try again later. The operator of docshelf finds the reason in the status of the daemon.';
    throw new DocshelfError('no_bundle', 'Cannot read the documentation: no version is active', { next });
  }
  const named = versions.slice(0, VERSIONS_NAMED_MAX).join(', ');
  const more = versions.length > VERSIONS_NAMED_MAX ? ' and older ones' : '';
  const message = `Cannot read version "${shown(version)}": this documentation has no such version`;
  throw new DocshelfError('version_not_found', message, { next: `Use one of these versions: ${named}${more}.` });
}

export const shown = (text: string): string => text.slice(0, 200).toWellFormed();

type AddressForm = Pick<Documentation, 'domain' | 'basePath' | 'origin'>;

/** Scheme of resource URIs. Unlike `https:`, it keeps a URI valid if the address of the site changes. */
const SCHEME = 'docshelf:';

const ABSOLUTE = /^([a-z][a-z0-9+.-]*:)\/\/([^/?#]*)/i;

export function addressOf(page: string, { basePath, origin }: Omit<AddressForm, 'domain'>): string {
  const path = basePath + page.slice(1);
  return origin === null ? path : new URL(path, origin).href;
}

export function resourceUri(page: string, { domain, basePath }: Omit<AddressForm, 'origin'>): string {
  return `${SCHEME}//${domain}${basePath}${page.slice(1)}`;
}

export const resourceTemplate = ({ domain }: Pick<AddressForm, 'domain'>): string => `${SCHEME}//${domain}/{+path}`;

const OF_VERSION = new RegExp(`^${VERSION_ADDRESSES}([^/]+)(/.*)?$`, 's');

/**
 * Reads an address from a result, a resource URI, or a path with or without the base path. Null for an address of another site.
 * @returns `target` as a percent-encoded path under the base path of the version, and the decoded `fragment` without `#`
 */
export function parseAddress(written: string, form: AddressForm) {
  const target = targetOf(written, form);
  if (target === null) return null;
  const [, version, below = '/'] = OF_VERSION.exec(target) ?? [];
  const [, anchor = ''] = /#(.*)$/s.exec(written.trim()) ?? [];
  const fragment = anchor === '' ? null : decodeOrKeep(anchor);
  return version === undefined
    ? { version: null, target, fragment }
    : { version: decodeOrKeep(version), target: below, fragment };
}

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
