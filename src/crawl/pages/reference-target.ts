import { detachString, type FoundReference, type FoundReferences, resolveSpecifier } from '../../web/rewrite/index.ts';
import type { Scope } from '../scope.ts';

export interface ReferenceTarget {
  readonly href: string;
  readonly hash: string;
  readonly canonical: string;
  readonly isOwn: boolean;
  isNamedAsLink: boolean;
  isNamedAsFile: boolean;
  seenFrom: Folder | null;
  path: string;
  address: string;
}

export type Folder = { readonly path: string };

export interface ReferenceBase {
  readonly fileUrl: string;
  readonly baseUrl: string;
  readonly pageUrl: string;
  readonly importMaps: readonly string[];
}

export function baseOf(found: FoundReferences, fileUrl: string, siteUrl: string, isPage: boolean): ReferenceBase {
  const baseUrl = found.base === null ? fileUrl : (URL.parse(found.base, fileUrl)?.href ?? fileUrl);
  return { fileUrl, baseUrl, pageUrl: isPage ? baseUrl : siteUrl, importMaps: found.importMaps };
}

/** Import maps are rewritten, so their specifiers stay. */
export function isMapped({ kind, url }: Pick<FoundReference, 'kind' | 'url'>, base: ReferenceBase): boolean {
  return kind === 'module' && resolveSpecifier(url, base.baseUrl, base.importMaps)?.isMapped === true;
}

/** The menu of a site is on all of its pages. */
const KNOWN_MAX = 100_000;
const BASES_MAX = 2_000;
const SCHEME = /^https?:/i;

type KnownTargets = Map<string, ReferenceTarget | null>;

export class ReferenceTargets {
  readonly #scope: Scope;
  readonly #byBase = new Map<string, KnownTargets>();
  #known = 0;

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  targetOf(reference: Pick<FoundReference, 'kind' | 'url'>, base: ReferenceBase): ReferenceTarget | null {
    const { kind, url } = reference;
    if (kind === 'module') {
      const resolved = resolveSpecifier(url, base.baseUrl, base.importMaps);
      return resolved === null ? null : this.#resolve(resolved.url, base.baseUrl);
    }
    if (kind === 'base') return this.#resolve(url, base.fileUrl);
    return this.#resolve(url, kind === 'worker' ? base.pageUrl : base.baseUrl);
  }

  #resolve(url: string, base: string): ReferenceTarget | null {
    const targets = this.#targetsOf(partOf(base, url));
    const known = targets.get(url);
    if (known !== undefined) return known;
    const target = this.#newTarget(URL.parse(url, base));
    // Copy the string, because a slice would keep the whole text in memory.
    targets.set(detachString(url), target);
    this.#known += 1;
    return target;
  }

  #targetsOf(part: string): KnownTargets {
    const known = this.#byBase.get(part);
    if (known !== undefined) return known;
    if (this.#known >= KNOWN_MAX || this.#byBase.size >= BASES_MAX) {
      this.#byBase.clear();
      this.#known = 0;
    }
    const targets: KnownTargets = new Map();
    this.#byBase.set(part, targets);
    return targets;
  }

  #newTarget(url: URL | null): ReferenceTarget | null {
    const canonical = url === null ? null : this.#scope.canonical(url);
    if (url === null || canonical === null) return null;
    const { href, hash } = url;
    const isOwn = this.#scope.isOwn(url);
    const unseen = { isNamedAsLink: false, isNamedAsFile: false, seenFrom: null, path: '', address: '' };
    return { href, hash, canonical, isOwn, ...unseen };
  }
}

function partOf(base: string, url: string): string {
  const first = url[0];
  if (first === '/' && url[1] !== '/') return base.slice(0, base.indexOf('/', 8));
  if (first === '#' || first === '?' || first === undefined) return base;
  if (SCHEME.test(url)) return '';
  const end = base.search(/[?#]/);
  return base.slice(0, base.lastIndexOf('/', end === -1 ? base.length : end));
}
