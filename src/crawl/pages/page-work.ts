import { createHash, hash } from 'node:crypto';
import type { StoredFile } from '../../files/file-store.ts';
import { markedCharset } from '../../web/index.ts';
import {
  encodePath,
  type FoundKind,
  type FoundReference,
  type FoundReferences,
  findReferences,
  referencesOf,
  relativeUrl,
  rewriteFile,
  type SourceType,
  spliceBytes,
} from '../../web/rewrite/index.ts';
import { type FetchedContent, type FoundPlace, namesPage } from '../entry.ts';
import type { FoundStore, PackFolders, PageContents } from '../kept/content-packs.ts';
import { naturalName } from '../names.ts';
import { saysNoFollow } from '../robots.ts';
import type { Scope } from '../scope.ts';
import { AskedLiterals } from './asked-literals.ts';
import {
  baseOf,
  type Folder,
  isMapped,
  type ReferenceBase,
  type ReferenceTarget,
  type ReferenceTargets,
} from './reference-target.ts';

const NO_FILE: ReadonlySet<FoundKind> = new Set([
  'prefix',
  'canonical',
  'base',
  'hint',
  'integrity',
  'scope',
  'pattern',
]);

export class PageReading {
  readonly #contents: PageContents;
  readonly #found: FoundStore;
  readonly #scope: Scope;
  readonly #targets: ReferenceTargets;

  constructor(contents: PageContents, found: FoundStore, scope: Scope, targets: ReferenceTargets) {
    this.#contents = contents;
    this.#found = found;
    this.#scope = scope;
    this.#targets = targets;
  }

  read({ url, type, charset, content }: ReadOrder): ReadPage {
    const bytes = content instanceof Uint8Array ? content : this.#contents.read(content);
    const kept =
      content instanceof Uint8Array
        ? { sha256: hash('sha256', bytes), size: bytes.length, packed: this.#contents.pack(bytes) }
        : content;
    const { origin, pathname } = new URL(url);
    // The header decides where both speak, and a byte order mark over both (HTML standard, "encoding sniffing").
    const found = findReferences({ type, bytes, charset: markedCharset(bytes) ?? charset, path: pathname });
    const isMarkup = type === 'html' || type === 'xml';
    const { urls, withDigest } = this.#newUrls(found, url, isMarkup);
    return {
      content: kept,
      place: this.#found.add(found),
      charset: found.charset,
      noFollow: found.robots.some(saysNoFollow),
      urls,
      withDigest,
      payloads: found.payloads.map((path) => origin + path),
    };
  }

  #newUrls(found: FoundReferences, fileUrl: string, isMarkup: boolean) {
    const base = baseOf(found, fileUrl, this.#scope.origin + this.#scope.prefix, isMarkup);
    const urls: FoundUrl[] = [];
    const withDigest: string[] = [];
    for (const reference of referencesOf(found)) {
      const { kind } = reference;
      if (NO_FILE.has(kind) && kind !== 'integrity') continue;
      const target = this.#targets.of(reference, base);
      if (target === null) continue;
      if (kind === 'integrity') withDigest.push(target.canonical);
      else if (isNew(target, namesPage(kind))) urls.push({ kind, url: target.canonical });
    }
    return { urls, withDigest };
  }
}

function isNew(target: ReferenceTarget, isLink: boolean): boolean {
  if (isLink ? target.isToldAsLink : target.isToldAsFile) return false;
  if (isLink) target.isToldAsLink = true;
  else target.isToldAsFile = true;
  return true;
}

/** Null unless the canonical address has the page's own path and another host. */
export function publishedHost(url: string, bytes: Uint8Array): string | null {
  const found = findReferences({ type: 'html', bytes, charset: null });
  for (const { kind, url: written } of referencesOf(found)) {
    if (kind !== 'canonical') continue;
    const [own, canonical] = [new URL(url), URL.parse(written, url)];
    if (canonical === null || !/^https?:$/.test(canonical.protocol) || canonical.host === own.host) return null;
    return plainPath(canonical) === plainPath(own) ? canonical.host : null;
  }
  return null;
}

function plainPath({ pathname }: URL): string {
  return pathname.replace(/\.html?$/i, '').replace(/\/(?:index)?$/i, '');
}

const STAYING: ReadonlySet<FoundKind> = new Set(['canonical', 'mention', 'scope', 'pattern']);
const HAS_SCRIPTS = /\.(?:[cm]?js|x?html?|svg)$/i;

interface Written {
  readonly base: ReferenceBase;
  /** Start of references: the path, or the folder of the page's `<base>`. */
  readonly from: string;
  readonly path: string;
  readonly isRooted: boolean;
  /** Folder of `from`, or the root. */
  readonly folder: Folder;
}

export class PageWriting {
  readonly #contents: PageContents;
  readonly #found: FoundStore;
  readonly #scope: Scope;
  readonly #targets: ReferenceTargets;
  #names: SiteNames = { paths: new Map(), fragments: new Map(), asked: [] };
  #literals: AskedLiterals | null = null;
  #digests: ReadonlyMap<string, string> = new Map();
  #folder: Folder = { path: '' };

  constructor(contents: PageContents, found: FoundStore, scope: Scope, targets: ReferenceTargets) {
    this.#contents = contents;
    this.#found = found;
    this.#scope = scope;
    this.#targets = targets;
  }

  useNames(names: SiteNames): void {
    const { asked, paths } = names;
    this.#names = names;
    this.#literals = asked.length === 0 ? null : new AskedLiterals(asked, paths, this.#scope);
    this.#folder = { path: '' };
  }

  useDigests(digests: ReadonlyMap<string, string>): void {
    this.#digests = digests;
  }

  write({ url, path, content, place, isRooted, needsDigest }: WriteOrder): WrittenPage {
    const bytes = this.#contents.read(content);
    if (place === null) return { content: this.#contents.store(bytes), integrity: null };
    const found = this.#found.read(place);
    const { origin, prefix } = this.#scope;
    const base = baseOf(found, url, origin + prefix, /\.(?:x?html?|svg)$/i.test(path));
    const from = found.base === null ? path : this.#basePathOf(base, path);
    const file = { base, from, path, isRooted, folder: this.#folderFrom(isRooted ? '/' : from) };
    const rewritten = rewriteFile(bytes, found, (reference) => {
      const text = this.#replacement(reference, file);
      return text === reference.url ? null : text;
    });
    const written = this.#withLiterals(rewritten.bytes, path, found.charset);
    const hasChanged = rewritten.changed > 0 || written !== rewritten.bytes;
    const integrity =
      needsDigest && hasChanged ? `sha384-${createHash('sha384').update(written).digest('base64')}` : null;
    return { content: this.#contents.store(written), integrity };
  }

  #withLiterals(bytes: Uint8Array, path: string, charset: string): Uint8Array {
    if (this.#literals === null || !HAS_SCRIPTS.test(path) || charset.startsWith('utf-16')) return bytes;
    const units = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    const edits = this.#literals.editsIn(units);
    return edits.length === 0 ? bytes : spliceBytes(bytes, edits, charset);
  }

  /** Null: unchanged. */
  #replacement(reference: FoundReference, file: Written): string | null {
    const { kind } = reference;
    if (STAYING.has(kind) || isMapped(reference, file.base)) return null;
    const target = this.#targets.of(reference, file.base);
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
    // From one folder a target has one address, and pages come by folder. A page's own fragments have none.
    if (target.seenFrom === file.folder && target.path !== file.from && reference.kind !== 'worker')
      return target.address;
    const { href, hash, canonical, isOwn } = target;
    const path = this.#names.paths.get(canonical);
    if (path !== undefined) {
      const suffix = hash === '' ? (this.#names.fragments.get(canonical) ?? '') : hash;
      if (reference.kind === 'worker') return `/${encodePath(path)}${suffix}`;
      const address = this.#addressOf(path, file, suffix);
      if (path !== file.from) {
        target.seenFrom = file.folder;
        target.path = path;
        target.address = address;
      }
      return address;
    }
    if (!isOwn) return href;
    // It may have been no address.
    if (reference.kind === 'lazy') return null;
    // For a page that is not in the export the published address; a file has no answer, as on the live site.
    if (!namesPage(reference.kind)) return canonical.slice(this.#scope.origin.length) + hash;
    return /^https?:/i.test(reference.url) ? null : this.#scope.published(canonical) + hash;
  }

  #folderFrom(from: string): Folder {
    const path = from.slice(0, from.lastIndexOf('/') + 1);
    if (path !== this.#folder.path) this.#folder = { path };
    return this.#folder;
  }

  #addressOf(path: string, { from, isRooted }: Written, suffix = ''): string {
    return isRooted ? `/${encodePath(path)}${suffix}` : relativeUrl(from, path, suffix);
  }

  /** Folder of the `<base>`, or of the page where the base is another site's. */
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

export interface PageThreadData {
  readonly filesDir: string;
  readonly foundDir: string;
  readonly packFolders: PackFolders;
  readonly attempt: string;
  readonly thread: number;
  /** Small pages are given back to be stored: the caller of a single thread has time for it. */
  readonly givesPages: boolean;
}

export interface ReadOrder {
  readonly url: string;
  readonly type: SourceType;
  readonly charset: string | null;
  /** Bytes are packed; content is kept already. */
  readonly content: Uint8Array | FetchedContent;
}

interface FoundUrl {
  readonly kind: FoundKind;
  readonly url: string;
}

export interface ReadPage {
  readonly content: FetchedContent;
  readonly place: FoundPlace;
  /** Name in the encoding standard. */
  readonly charset: string;
  /** By a robots meta. */
  readonly noFollow: boolean;
  /** Without those that this thread has given before. */
  readonly urls: readonly FoundUrl[];
  readonly withDigest: readonly string[];
  readonly payloads: readonly string[];
}

export interface SiteNames {
  /** By canonical address. */
  readonly paths: ReadonlyMap<string, string>;
  /** By canonical address: fragment that its redirect adds, with its `#`. */
  readonly fragments: ReadonlyMap<string, string>;
  readonly asked: readonly string[];
}

export interface WriteOrder {
  readonly url: string;
  readonly path: string;
  readonly content: FetchedContent;
  /** Null: stored as it is. */
  readonly place: FoundPlace | null;
  /** References are written from the root: the page is answered at other addresses than its own. */
  readonly isRooted: boolean;
  readonly needsDigest: boolean;
}

export interface WrittenPage {
  /** Bytes are still to be stored. */
  readonly content: StoredFile | Uint8Array;
  /** Of changed content, where asked for. */
  readonly integrity: string | null;
}

export interface PublishedOrder {
  readonly url: string;
  readonly content: Uint8Array | FetchedContent;
}
