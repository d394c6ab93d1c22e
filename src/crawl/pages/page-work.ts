import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FileStore, StoredFile } from '../../files/file-store.ts';
import { encodingOf, htmlCharset, markedCharset } from '../../web/media-type.ts';
import { findReferences } from '../../web/rewrite/find-references.ts';
import type { FoundKind, FoundReference, FoundReferences } from '../../web/rewrite/reference.ts';
import { resolveSpecifier } from '../../web/rewrite/resolve-specifier.ts';
import { type SourceType, unitsOf, utf8Bytes } from '../../web/rewrite/source-text.ts';
import { type Edit, encodePath, relativeUrl, rewriteFile, spliceBytes } from '../../web/rewrite/write.ts';
import { hasNoFollow } from '../admission.ts';
import { namesPage } from '../entry.ts';
import { naturalName } from '../names.ts';
import type { Scope, ScopeSettings } from '../scope.ts';

interface ReferenceTarget {
  readonly href: string;
  readonly hash: string;
  readonly canonical: string;
  readonly isOwn: boolean;
  isNamedAsLink: boolean;
  isNamedAsFile: boolean;
}

interface ReferenceBase {
  readonly fileUrl: string;
  readonly baseUrl: string;
  readonly pageUrl: string;
  readonly importMaps: readonly string[];
}

function baseOf(found: FoundReferences, fileUrl: string, siteUrl: string, isPage: boolean): ReferenceBase {
  const baseUrl = found.base === null ? fileUrl : (URL.parse(found.base, fileUrl)?.href ?? fileUrl);
  return { fileUrl, baseUrl, pageUrl: isPage ? baseUrl : siteUrl, importMaps: found.importMaps };
}

/** True if an import map resolves the module specifier. The export then rewrites the map instead of the specifier. */
const isMapped = ({ kind, url }: Pick<FoundReference, 'kind' | 'url'>, base: ReferenceBase): boolean =>
  kind === 'module' && resolveSpecifier(url, base.baseUrl, base.importMaps)?.isMapped === true;

/** Maximum cached addresses. A cache helps, because the menu of a site is on all of its pages. */
const KNOWN_MAX = 100_000;
const SCHEME = /^https?:/i;

class ReferenceTargets {
  readonly #scope: Scope;
  readonly #known = new Map<string, ReferenceTarget | null>();

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
    const key = `${partOf(base, url)} ${url}`;
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const target = this.#newTarget(URL.parse(url, base));
    if (this.#known.size >= KNOWN_MAX) this.#known.clear();
    this.#known.set(key, target);
    return target;
  }

  #newTarget(url: URL | null): ReferenceTarget | null {
    const canonical = url === null ? null : this.#scope.canonical(url);
    if (url === null || canonical === null) return null;
    const { href, hash } = url;
    const isOwn = this.#scope.isOwn(url);
    return { href, hash, canonical, isOwn, isNamedAsLink: false, isNamedAsFile: false };
  }
}

/** Part of `base` that decides the target of `url`. Pages of one folder share the targets of their relative references. */
function partOf(base: string, url: string): string {
  const first = url[0];
  if (first === '/' && url[1] !== '/') return base.slice(0, base.indexOf('/', 8));
  if (first === '#' || first === '?' || first === undefined) return base;
  if (SCHEME.test(url)) return '';
  const end = base.search(/[?#]/);
  return base.slice(0, base.lastIndexOf('/', end === -1 ? base.length : end));
}

const LITERAL_CHARS_MAX = 2_000;
const CONTENT = 'content=';
const QUOTES = new Set(['"', "'", '`']);

/**
 * Finds string literals of scripts that equal an address which the browser requested, or begin such an address (`"https://cdn/" +
 * name`). Replaces the literals by absolute paths, because scripts resolve relative addresses against the page.
 */
export class AskedLiterals {
  readonly #scope: Scope;
  readonly #paths: ReadonlyMap<string, string>;
  readonly #asked: ReadonlySet<string>;
  readonly #origins: readonly string[];

  constructor(asked: readonly string[], paths: ReadonlyMap<string, string>, scope: Scope) {
    this.#scope = scope;
    this.#paths = paths;
    this.#asked = new Set(asked);
    const origins = new Set(asked.map((url) => new URL(url).origin));
    if (origins.has(scope.origin)) {
      for (const host of scope.settings.hosts) origins.add(`https://${host}`).add(`http://${host}`);
    }
    this.#origins = [...origins];
  }

  editsIn(units: string): Edit[] {
    const edits: Edit[] = [];
    for (const origin of this.#origins) {
      for (let at = units.indexOf(origin); at !== -1; at = units.indexOf(origin, at + origin.length)) {
        const literal = literalAt(units, at);
        if (literal === null) continue;
        const text = literal.isWhole ? this.#addressOf(literal.text) : this.#prefixOf(literal.text, origin);
        if (text !== null) edits.push({ start: at, end: at + literal.text.length, text });
      }
    }
    return edits;
  }

  #addressOf(literal: string): string | null {
    const url = URL.parse(literal);
    const canonical = url === null ? null : this.#scope.canonical(url);
    const path = canonical === null ? undefined : this.#paths.get(canonical);
    if (url === null || path === undefined || canonical === null || !this.#asked.has(canonical)) return null;
    return `/${encodePath(path)}${url.hash}`;
  }

  #prefixOf(literal: string, origin: string): string | null {
    const path = literal.slice(origin.length);
    if (path !== '' && !path.startsWith('/')) return null;
    const url = new URL(origin);
    const canonical = this.#scope.canonical(url);
    if (canonical === null) return null;
    const beginning = canonical.slice(0, -1) + path;
    if (!this.#asked.values().some((address) => address.startsWith(beginning))) return null;
    if (this.#scope.isOwn(url)) return path;
    return `/${encodePath(naturalName(url, '', this.#scope.origin).folder).replace(/\/$/, '')}${path}`;
  }
}

function literalAt(units: string, at: number): { readonly text: string; readonly isWhole: boolean } | null {
  const quote = units[at - 1] ?? '';
  // Skip the `content` attribute of meta elements, because browsers do not load its address.
  if (!QUOTES.has(quote) || units.slice(at - 1 - CONTENT.length, at - 1).toLowerCase() === CONTENT) return null;
  const rest = units.slice(at, at + LITERAL_CHARS_MAX);
  const end = rest.indexOf(quote);
  const filled = quote === '`' ? rest.indexOf('${') : -1;
  if (filled !== -1 && (end === -1 || filled < end)) return { text: rest.slice(0, filled), isWhole: false };
  if (end === -1) return null;
  const text = rest.slice(0, end);
  if (/[\s\\<>]/.test(text)) return null;
  return { text, isWhole: !/^\s*\+/.test(rest.slice(end + 1, end + 20)) };
}

export type PageThreadData = { readonly filesDir: string; readonly scope: ScopeSettings };

export interface ReadRequest {
  readonly url: string;
  readonly content: Uint8Array | StoredFile;
  readonly type: SourceType;
  readonly charset: string | null;
}

type FoundUrl = { readonly kind: FoundKind; readonly url: string };

export interface ReadPage {
  readonly content: StoredFile;
  /** True if a robots meta element forbids to follow links. */
  readonly noFollow: boolean;
  readonly urls: readonly FoundUrl[];
  readonly withDigest: readonly string[];
  readonly payloads: readonly string[];
}

export interface SiteNames {
  readonly paths: ReadonlyMap<string, string>;
  /**
   * Fragments (with `#`) of redirect targets, by the canonical address that redirects. Links to this address get the fragment.
   */
  readonly fragments: ReadonlyMap<string, string>;
  readonly asked: readonly string[];
}

export interface WriteRequest {
  readonly url: string;
  readonly path: string;
  readonly content: StoredFile;
  readonly type: SourceType;
  /** True if references must be absolute paths, because the page is served at several addresses. */
  readonly isRooted: boolean;
  readonly needsDigest: boolean;
}

type WrittenPage = { readonly content: StoredFile; readonly integrity: string | null };

const NO_FILE: ReadonlySet<FoundKind> = new Set(['prefix', 'canonical', 'base', 'hint', 'mounted', 'scope', 'pattern']);
const STAYING: ReadonlySet<FoundKind> = new Set(['canonical', 'scope', 'pattern']);
const HAS_SCRIPTS = /\.(?:[cm]?js|x?html?|svg)$/i;

/** Adds a byte order mark to a page that only its header declares as UTF-8, because another host may send another header. */
function withMark(bytes: Uint8Array, type: SourceType, charset: string | null): Uint8Array {
  const isUtf8ByHeader = type === 'html' && encodingOf(charset ?? '') === 'utf-8' && htmlCharset(bytes) !== 'utf-8';
  return isUtf8ByHeader && bytes.some((byte) => byte > 0x7f) ? Buffer.concat([Buffer.from('\ufeff'), bytes]) : bytes;
}

interface Written {
  readonly base: ReferenceBase;
  readonly from: string;
  readonly path: string;
  readonly isRooted: boolean;
}

export class PageWork {
  readonly #store: FileStore;
  readonly #scope: Scope;
  readonly #targets: ReferenceTargets;
  #names: SiteNames = { paths: new Map(), fragments: new Map(), asked: [] };
  #literals: AskedLiterals | null = null;
  #digests: ReadonlyMap<string, string> = new Map();

  constructor(store: FileStore, scope: Scope) {
    this.#store = store;
    this.#scope = scope;
    this.#targets = new ReferenceTargets(scope);
  }

  read({ url, type, charset, content }: ReadRequest): ReadPage {
    const given = content instanceof Uint8Array ? content : readFileSync(this.#store.pathOf(content.sha256));
    const bytes = withMark(utf8Bytes(given, type, charset), type, charset);
    const kept = content instanceof Uint8Array || bytes !== given ? this.#store.putBlocking(bytes) : content;
    const { origin, pathname } = new URL(url);
    const found = findReferences({ type, bytes, path: pathname });
    const isMarkup = type === 'html' || type === 'xml';
    const { urls, withDigest } = this.#newUrls(found, url, isMarkup);
    return {
      content: kept,
      noFollow: found.robots.some(hasNoFollow),
      urls,
      withDigest,
      payloads: found.payloads.map((path) => origin + path),
    };
  }

  #newUrls(found: FoundReferences, fileUrl: string, isMarkup: boolean) {
    const base = baseOf(found, fileUrl, this.#scope.origin + this.#scope.prefix, isMarkup);
    const urls: FoundUrl[] = [];
    const withDigest: string[] = [];
    for (const reference of found.references) {
      const { kind } = reference;
      if (NO_FILE.has(kind)) continue;
      const target = this.#targets.targetOf(reference, base);
      if (target === null) continue;
      if (kind === 'integrity') withDigest.push(target.canonical);
      else if (isNew(target, namesPage(kind))) urls.push({ kind, url: target.canonical });
    }
    return { urls, withDigest };
  }

  useNames(names: SiteNames): void {
    const { asked, paths } = names;
    this.#names = names;
    this.#literals = asked.length === 0 ? null : new AskedLiterals(asked, paths, this.#scope);
  }

  useDigests(digests: ReadonlyMap<string, string>): void {
    this.#digests = digests;
  }

  write({ url, path, content, type, isRooted, needsDigest }: WriteRequest): WrittenPage {
    const bytes = readFileSync(this.#store.pathOf(content.sha256));
    // Find the references a second time, because storing the references of 20,000 pages would take gigabytes.
    const found = findReferences({ type, bytes, path: new URL(url).pathname });
    const { origin, prefix } = this.#scope;
    const base = baseOf(found, url, origin + prefix, /\.(?:x?html?|svg)$/i.test(path));
    const from = found.base === null ? path : this.#basePathOf(base, path);
    const file = { base, from, path, isRooted };
    const rewritten = rewriteFile(bytes, found, (reference) => {
      const text = this.#replacement(reference, file);
      return text === reference.url ? null : text;
    });
    const written = this.#withLiterals(rewritten.bytes, path);
    // A file in another charset was converted to UTF-8 with a byte order mark, so its original `integrity` no longer matches.
    const wasDecoded = markedCharset(bytes) !== null;
    const hasChanged = wasDecoded || rewritten.changed > 0 || written !== rewritten.bytes;
    const integrity =
      needsDigest && hasChanged ? `sha384-${createHash('sha384').update(written).digest('base64')}` : null;
    return { content: this.#store.putBlocking(written), integrity };
  }

  #withLiterals(bytes: Uint8Array, path: string): Uint8Array {
    if (this.#literals === null || !HAS_SCRIPTS.test(path)) return bytes;
    const edits = this.#literals.editsIn(unitsOf(bytes));
    return edits.length === 0 ? bytes : spliceBytes(bytes, edits);
  }

  #replacement(reference: FoundReference, file: Written): string | null {
    const { kind } = reference;
    if (STAYING.has(kind) || isMapped(reference, file.base)) return null;
    const target = this.#targets.targetOf(reference, file.base);
    if (target === null) return null;
    switch (kind) {
      case 'integrity':
        return this.#digests.get(target.canonical) ?? null;
      case 'hint':
        return target.isOwn ? null : '';
      case 'base':
        return this.#addressOf(file.from, { ...file, from: file.path });
      case 'prefix':
        return this.#addressOf(this.#folderOf(new URL(target.href)), file);
      default:
        return this.#fileReplacement(reference, target, file);
    }
  }

  #fileReplacement(reference: FoundReference, target: ReferenceTarget, file: Written): string | null {
    const { href, hash, canonical, isOwn } = target;
    const path = this.#names.paths.get(canonical);
    if (path !== undefined) {
      const suffix = hash === '' ? (this.#names.fragments.get(canonical) ?? '') : hash;
      return reference.kind === 'worker' ? `/${encodePath(path)}${suffix}` : this.#addressOf(path, file, suffix);
    }
    if (!isOwn) return href;
    if (reference.kind === 'lazy') return null;
    // A link to a page outside the export becomes a link to the published site. A reference to a missing file keeps its path, and
    // still fails.
    if (!namesPage(reference.kind)) return canonical.slice(this.#scope.origin.length) + hash;
    return /^https?:/i.test(reference.url) ? null : this.#scope.published(canonical) + hash;
  }

  #addressOf(path: string, { from, isRooted }: Written, suffix = ''): string {
    return isRooted ? `/${encodePath(path)}${suffix}` : relativeUrl(from, path, suffix);
  }

  #basePathOf({ baseUrl }: ReferenceBase, path: string): string {
    const url = new URL(baseUrl);
    return this.#scope.isOwn(url) ? this.#folderOf(url) : path.slice(0, path.lastIndexOf('/') + 1);
  }

  #folderOf(url: URL): string {
    const { origin } = this.#scope;
    const own = this.#scope.isOwn(url) ? new URL(url.pathname, origin) : url;
    return naturalName(new URL('./', own), '', origin).folder;
  }
}

function isNew(target: ReferenceTarget, isLink: boolean): boolean {
  if (isLink ? target.isNamedAsLink : target.isNamedAsFile) return false;
  if (isLink) target.isNamedAsLink = true;
  else target.isNamedAsFile = true;
  return true;
}

/** Returns the host of the page's canonical address if this address has the same path on another host, and null otherwise. */
export function publishedHost(url: string, bytes: Uint8Array): string | null {
  const { references } = findReferences({ type: 'html', bytes: utf8Bytes(bytes, 'html', null) });
  for (const { kind, url: written } of references) {
    if (kind !== 'canonical') continue;
    const [own, canonical] = [new URL(url), URL.parse(written, url)];
    if (canonical === null || !/^https?:$/.test(canonical.protocol) || canonical.host === own.host) return null;
    return plainPath(canonical) === plainPath(own) ? canonical.host : null;
  }
  return null;
}

const plainPath = ({ pathname }: URL): string => pathname.replace(/\.html?$/i, '').replace(/\/(?:index)?$/i, '');
