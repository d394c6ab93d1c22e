import { type FoundReference, type FoundReferences, resolveSpecifier } from '../../web/rewrite/index.ts';
import type { Scope } from './scope.ts';

/** Where a reference leads. */
export interface Target {
  /** Absolute, with its fragment. */
  readonly href: string;
  /** With its `#`, or empty. */
  readonly hash: string;
  readonly canonical: string;
  readonly isOwn: boolean;
  /** Whether it has been told of, as what a link leads to and as what a page loads. */
  isToldAsLink: boolean;
  isToldAsFile: boolean;
}

/** Where the references of a file start from. */
export interface ReferenceBase {
  /** Address of the file. */
  readonly fileUrl: string;
  /** What its relative references are resolved against: its `<base>`, or itself. */
  readonly baseUrl: string;
  /** What the addresses in a script are resolved against that are seen from the page. */
  readonly pageUrl: string;
  readonly importMaps: readonly string[];
}

/** @param siteUrl stands for the page of a file that pages load; `isPage`: whether it is markup, and a page itself */
export function baseOf(found: FoundReferences, fileUrl: string, siteUrl: string, isPage: boolean): ReferenceBase {
  const baseUrl = found.base === null ? fileUrl : (URL.parse(found.base, fileUrl)?.href ?? fileUrl);
  return { fileUrl, baseUrl, pageUrl: isPage ? baseUrl : siteUrl, importMaps: found.importMaps };
}

/** Whether an import map leads a specifier: then the map is written anew, and the specifier stays. */
export function isMapped({ kind, url }: Pick<FoundReference, 'kind' | 'url'>, base: ReferenceBase): boolean {
  return kind === 'module' && resolveSpecifier(url, base.baseUrl, base.importMaps)?.isMapped === true;
}

/** Addresses that are remembered, and bases of theirs: the menu of a site is on all of its pages. */
const KNOWN_MAX = 100_000;
const BASES_MAX = 2_000;
const SCHEME = /^https?:/i;

type KnownTargets = Map<string, Target | null>;

/** Resolves references, and remembers what they lead to. */
export class Targets {
  readonly #scope: Scope;
  /** By as much of the base as a reference needs: all of it, its folder, its origin, nothing. */
  #byBase = new Map<string, KnownTargets>();
  #known = 0;

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  /** Null for what leads nowhere, and for what is not http(s). */
  of(reference: Pick<FoundReference, 'kind' | 'url'>, base: ReferenceBase): Target | null {
    const { kind, url } = reference;
    if (kind === 'module') {
      const resolved = resolveSpecifier(url, base.baseUrl, base.importMaps);
      return resolved === null ? null : this.#resolve(resolved.url, base.baseUrl);
    }
    // A base is resolved against the address of the page itself.
    if (kind === 'base') return this.#resolve(url, base.fileUrl);
    return this.#resolve(url, kind === 'worker' ? base.pageUrl : base.baseUrl);
  }

  #resolve(url: string, base: string): Target | null {
    const targets = this.#knownOf(neededOf(url, base));
    const known = targets.get(url);
    if (known !== undefined) return known;
    const target = this.#targetOf(URL.parse(url, base));
    targets.set(url, target);
    this.#known += 1;
    return target;
  }

  #knownOf(base: string): KnownTargets {
    const known = this.#byBase.get(base);
    if (known !== undefined) return known;
    if (this.#known >= KNOWN_MAX || this.#byBase.size >= BASES_MAX) {
      this.#byBase = new Map();
      this.#known = 0;
    }
    const targets: KnownTargets = new Map();
    this.#byBase.set(base, targets);
    return targets;
  }

  #targetOf(url: URL | null): Target | null {
    const canonical = url === null ? null : this.#scope.canonical(url);
    if (url === null || canonical === null) return null;
    const { href, hash } = url;
    return { href, hash, canonical, isOwn: this.#scope.isOwn(url), isToldAsLink: false, isToldAsFile: false };
  }
}

function neededOf(url: string, base: string): string {
  const first = url[0];
  if (first === '/' && url[1] !== '/') return base.slice(0, base.indexOf('/', 8));
  if (first === '#' || first === '?' || first === undefined) return base;
  if (SCHEME.test(url)) return '';
  const end = base.search(/[?#]/);
  return base.slice(0, base.lastIndexOf('/', end === -1 ? base.length : end));
}
