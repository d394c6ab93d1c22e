import { LRUCache } from 'lru-cache';
import { DocshelfError } from '../domain/errors.ts';
import type { FileEntry, KeptRelease, ReleaseView, TrailingSlash } from '../domain/release.ts';
import { ImmutableNames } from '../web/immutable-names.ts';
import { isAssetPath, isPagePart } from '../web/media-type.ts';
import { isHidden, resolvePath } from '../web/resolve.ts';
import { type MountableRelease, MountedRelease } from './mounted-release.ts';
import { SiteFile } from './site-file.ts';
import { UnmountedFile } from './unmounted-file.ts';

export type SnapshotFile = SiteFile | UnmountedFile;

export type Found =
  /** `isOlder`: of another release than the active one. */
  | { readonly kind: 'file'; readonly file: SnapshotFile; readonly isOlder?: boolean }
  | { readonly kind: 'redirect'; readonly location: string }
  /** `page`: the site's own 404 page, or null. `isAsset`: no page is wanted. */
  | { readonly kind: 'missing'; readonly page: SnapshotFile | null; readonly isAsset: boolean };

export interface SnapshotForm {
  /** `auto` asks each release; the others overrule it. */
  readonly trailingSlash: 'auto' | TrailingSlash;
  /** Where the site is mounted, with its last slash; by default `/`. A release that was built for another is rewritten. */
  readonly basePath?: string;
}

/**
 * Requested files that are kept with their prepared headers: about 1 KiB each. As a size, since with `max` the cache takes 178 KiB a
 * site before the first is asked (lru-cache 11.5, measured).
 */
const FILES_MAX = 8192;

/** Immutable: the active release, and the assets of those before it, which open tabs still ask for. */
export class SiteSnapshot {
  readonly version: string;
  readonly digest: string;
  readonly #active: ReleaseView;
  readonly #older: readonly KeptRelease[];
  readonly #trailingSlash: TrailingSlash;
  readonly #basePath: string;
  /** The active release's: what its folders teach holds of the older ones', too. */
  readonly #immutable: ImmutableNames;
  /** By path; those of older releases by digest and path, since a release may go. */
  readonly #files = new LRUCache<string, SnapshotFile>({ maxSize: FILES_MAX, sizeCalculation: () => 1 });

  /** @param older the site's other releases, the one active last first; looked up on disk */
  constructor(active: ReleaseView, older: readonly KeptRelease[], { trailingSlash, basePath = '/' }: SnapshotForm) {
    this.version = active.version;
    this.digest = active.digest;
    this.#active = active;
    this.#immutable = new ImmutableNames(active.files);
    this.#older = older;
    this.#basePath = basePath;
    this.#trailingSlash = trailingSlash === 'auto' ? active.trailingSlash : trailingSlash;
  }

  /**
   * A promise where other releases have to be asked: for an asset that the active one lacks, and the first time for a name
   * that carries a hash.
   *
   * @param path decoded, without a leading slash; null for what names nothing.
   * @throws DocshelfError `cannot_read`
   */
  find(path: string | null): Found | Promise<Found> {
    // "." is hidden, so that what names nothing is missing, with the root's 404 page.
    const resolution = resolvePath(this.#active.files, path ?? '.', this.#trailingSlash);
    if (resolution.kind === 'redirect') return resolution;
    if (resolution.kind === 'file') return this.#find(resolution.path);
    const { notFoundPage } = resolution;
    const missing: Found = {
      kind: 'missing',
      page: notFoundPage === null ? null : this.#file(this.#entryOf(notFoundPage), this.#active, false),
      isAsset: path !== null && isAssetPath(path),
    };
    if (path === null || this.#older.length === 0 || isHidden(path) || !isPagePart(path)) return missing;
    return this.#findOlder(path).then((file) => (file === null ? missing : { kind: 'file', file, isOlder: true }));
  }

  /** True where `find` asks no other release about the path. */
  isAlone(path: string): boolean {
    return this.#older.length === 0 || !isPagePart(path);
  }

  #find(path: string): Found | Promise<Found> {
    const known = this.#files.get(path);
    if (known !== undefined) return { kind: 'file', file: known };
    const entry = this.#entryOf(path);
    const found = (isImmutable: boolean): Found => ({
      kind: 'file',
      file: this.#file(entry, this.#active, isImmutable),
    });
    const isImmutable = this.#immutable.has(path);
    if (!isImmutable || this.#older.length === 0) return found(isImmutable);
    return this.#hasOneContent(entry).then(found);
  }

  /** The asset of the release that was active last and has it; null where none has. */
  async #findOlder(path: string): Promise<SnapshotFile | null> {
    for (const release of this.#older) {
      if (release.servedAt === null) continue;
      const entry = await release.find(path).catch(nullIfDamaged);
      if (entry === null) continue;
      const known = this.#files.get(keyOf(path, release));
      return known ?? this.#file(entry, release, this.#immutable.has(path) && (await this.#hasOneContent(entry)));
    }
    return null;
  }

  /** True where no stored release has other bytes under that name, as far as they can be read. */
  async #hasOneContent({ path, sha256 }: FileEntry): Promise<boolean> {
    const others = await Promise.allSettled(this.#older.map((release) => release.find(path)));
    return others.every((other) => other.status === 'fulfilled' && (other.value?.sha256 ?? sha256) === sha256);
  }

  #entryOf(path: string): FileEntry {
    const entry = this.#active.files.get(path);
    if (entry === undefined) throw new Error(`no file "${path}" in this snapshot`);
    return entry;
  }

  #file(entry: FileEntry, release: ReleaseView | KeptRelease, isImmutable: boolean): SnapshotFile {
    const key = release === this.#active ? entry.path : keyOf(entry.path, release);
    const known = this.#files.get(key);
    if (known !== undefined) return known;
    const plain = new SiteFile(entry, release, isImmutable);
    const file =
      release.builtFor === this.#basePath
        ? plain
        : new UnmountedFile(entry.path, async () => {
            const made = await new MountedRelease(mountable(release), this.#basePath).mount(plain, entry);
            this.#files.set(key, made.file);
            return made;
          });
    this.#files.set(key, file);
    return file;
  }
}

function keyOf(path: string, { digest }: Pick<KeptRelease, 'digest'>): string {
  return `${digest}/${path}`;
}

function nullIfDamaged(error: unknown): null {
  if (error instanceof DocshelfError && error.code === 'release_damaged') return null;
  throw error;
}

function mountable(release: ReleaseView | KeptRelease): MountableRelease {
  return 'files' in release ? { ...release, readTable: async () => release.files } : release;
}
