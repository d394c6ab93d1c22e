import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { encodePath, type FoundReference, relativeUrl, rewriteFile } from '../../web/rewrite/index.ts';
import type { FileStore } from '../file-store.ts';
import type { FoundStore } from './found-store.ts';
import { naturalName } from './names/file-name.ts';
import type { SiteNames, WriteOrder, WrittenPage } from './page-work.ts';
import { baseOf, isMapped, type ReferenceBase, targetOf } from './reference-target.ts';
import type { Scope } from './scope.ts';

/** A file that is being written: what its references become depends on where it stands. */
interface Written {
  readonly base: ReferenceBase;
  /** The path that its references are written from: its own, or the folder of its `<base>`. */
  readonly from: string;
  readonly path: string;
  readonly isRooted: boolean;
}

/** Writes files with their references led to where the others are now. */
export class PageWriting {
  readonly #store: FileStore;
  readonly #found: FoundStore;
  readonly #scope: Scope;
  #names: SiteNames = { paths: new Map(), fragments: new Map() };
  #digests: ReadonlyMap<string, string> = new Map();

  constructor(store: FileStore, found: FoundStore, scope: Scope) {
    this.#store = store;
    this.#found = found;
    this.#scope = scope;
  }

  useNames(names: SiteNames): void {
    this.#names = names;
  }

  useDigests(digests: ReadonlyMap<string, string>): void {
    this.#digests = digests;
  }

  async write({ url, path, sha256, place, isRooted, needsDigest }: WriteOrder): Promise<WrittenPage> {
    const bytes = await readFile(this.#store.pathOf(sha256));
    const found = this.#found.read(place);
    const { origin, prefix } = this.#scope;
    const base = baseOf(found, url, origin + prefix, /\.(?:x?html?|svg)$/i.test(path));
    const file = { base, from: found.base === null ? path : this.#basePathOf(base, path), path, isRooted };
    const rewritten = rewriteFile(bytes, found, (reference) => {
      const text = this.#replacement(reference, file);
      return text === reference.url ? null : text;
    });
    if (rewritten.changed === 0) return { sha256, size: bytes.length, integrity: null };
    const integrity = needsDigest ? `sha384-${createHash('sha384').update(rewritten.bytes).digest('base64')}` : null;
    return { ...(await this.#store.put(rewritten.bytes)), integrity };
  }

  /** Null: it stays as it is. */
  #replacement(reference: FoundReference, file: Written): string | null {
    const { kind } = reference;
    if (kind === 'canonical' || kind === 'mention' || isMapped(reference, file.base)) return null;
    const target = targetOf(reference, file.base);
    const canonical = target === null ? null : this.#scope.canonical(target);
    if (target === null || canonical === null) return null;
    switch (kind) {
      case 'integrity':
        return this.#digests.get(canonical) ?? null;
      case 'hint':
        return this.#scope.isOwn(target) ? null : '';
      case 'base':
        return this.#addressOf(file.from, { ...file, from: file.path });
      case 'prefix':
        return this.#addressOf(this.#folderOf(target), file);
      default:
        return this.#fileReplacement(reference, target, canonical, file);
    }
  }

  #fileReplacement(reference: FoundReference, target: URL, canonical: string, file: Written): string | null {
    const { paths, fragments } = this.#names;
    const path = paths.get(canonical);
    if (path !== undefined) {
      const suffix = target.hash === '' ? (fragments.get(canonical) ?? '') : target.hash;
      if (reference.kind === 'worker') return `/${encodePath(path)}${suffix}`;
      return this.#addressOf(path, file, suffix);
    }
    if (!this.#scope.isOwn(target)) return target.href;
    // A page that is not in the export: where readers find it. A file: the answer is none, as it is on the live site.
    const isLink = reference.kind === 'link' || reference.kind === 'frame';
    const isAbsolute = /^https?:/i.test(reference.url);
    if (isLink) return isAbsolute ? null : this.#scope.published(canonical) + target.hash;
    return `${target.pathname}${target.search}${target.hash}`;
  }

  #addressOf(path: string, { from, isRooted }: Written, suffix = ''): string {
    return isRooted ? `/${encodePath(path)}${suffix}` : relativeUrl(from, path, suffix);
  }

  /** The folder that a page's references start from: that of its `<base>`, where it is one of the site. */
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
