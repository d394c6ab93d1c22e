import { createHash } from 'node:crypto';
import { markedCharset } from '../../web/index.ts';
import {
  encodePath,
  type FoundKind,
  type FoundReference,
  relativeUrl,
  rewriteFile,
  spliceBytes,
} from '../../web/rewrite/index.ts';
import { namesPage } from '../ask/answer-type.ts';
import { naturalName } from '../names.ts';
import type { Scope } from '../scope.ts';
import { AskedLiterals } from './asked-literals.ts';
import type { FoundStore, PageContents } from './page-content.ts';
import type { SiteNames, WriteOrder, WrittenPage } from './page-work.ts';
import {
  baseOf,
  type Folder,
  isMapped,
  type ReferenceBase,
  type ReferenceTarget,
  type ReferenceTargets,
} from './reference-target.ts';

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
    const written = this.#withLiterals(rewritten.bytes, path);
    // A file in another charset was decoded when it was read, and has this mark.
    const wasDecoded = markedCharset(bytes) !== null;
    const hasChanged = wasDecoded || rewritten.changed > 0 || written !== rewritten.bytes;
    const integrity =
      needsDigest && hasChanged ? `sha384-${createHash('sha384').update(written).digest('base64')}` : null;
    return { content: this.#contents.store(written), integrity };
  }

  #withLiterals(bytes: Uint8Array, path: string): Uint8Array {
    if (this.#literals === null || !HAS_SCRIPTS.test(path)) return bytes;
    const units = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
    const edits = this.#literals.editsIn(units);
    return edits.length === 0 ? bytes : spliceBytes(bytes, edits);
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
