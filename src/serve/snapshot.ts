import type { FileEntry, ReleaseView, TrailingSlash } from '../domain/release.ts';
import { hashedName } from '../web/hashed-name.ts';
import { isAssetPath } from '../web/media-type.ts';
import { isHidden, resolvePath } from '../web/resolve.ts';
import { MountedRelease } from './mounted-release.ts';
import { SiteFile } from './site-file.ts';
import { UnmountedFile } from './unmounted-file.ts';

export type SnapshotFile = SiteFile | UnmountedFile;

export type Found =
  | { readonly kind: 'file'; readonly file: SnapshotFile }
  | { readonly kind: 'redirect'; readonly location: string }
  /** `page`: the site's own 404 page, or null. `isAsset`: no page is wanted. */
  | { readonly kind: 'missing'; readonly page: SnapshotFile | null; readonly isAsset: boolean };

export interface SnapshotForm {
  /** `auto` asks each release; the others overrule it. */
  readonly trailingSlash: 'auto' | TrailingSlash;
  /** Where the site is mounted, with its last slash; by default `/`. A release that was built for another is rewritten. */
  readonly basePath?: string;
}

/** Immutable: the active release, and the hashed assets of older ones, which open tabs still ask for. */
export class SiteSnapshot {
  readonly version: string;
  readonly digest: string;
  readonly #active: ReleaseView;
  readonly #trailingSlash: TrailingSlash;
  readonly #basePath: string;
  /** Of two under one name the newer. */
  readonly #olderAssets = new Map<string, { readonly entry: FileEntry; readonly release: ReleaseView }>();
  /** Hashed names with different bytes in any two releases, which are never immutable. */
  readonly #changing = new Set<string>();
  /** Requested files with their prepared headers; bounded by the releases' files. */
  readonly #files = new Map<string, SnapshotFile>();

  /** @param older kept releases, newest first */
  constructor(active: ReleaseView, older: readonly ReleaseView[], { trailingSlash, basePath = '/' }: SnapshotForm) {
    this.version = active.version;
    this.digest = active.digest;
    this.#active = active;
    this.#basePath = basePath;
    this.#trailingSlash = trailingSlash === 'auto' ? active.trailingSlash : trailingSlash;
    for (const release of older) {
      for (const [path, entry] of release.files) {
        if (!hashedName(path) || isHidden(path)) continue;
        const newer = active.files.get(path) ?? this.#olderAssets.get(path)?.entry;
        if (newer === undefined) this.#olderAssets.set(path, { entry, release });
        else if (newer.sha256 !== entry.sha256) this.#changing.add(path);
      }
    }
  }

  /** @param path decoded, without a leading slash; null for what names nothing. */
  find(path: string | null): Found {
    // "." is hidden, so that what names nothing is missing, with the root's 404 page.
    const resolution = resolvePath(this.#active.files, path ?? '.', this.#trailingSlash);
    if (resolution.kind === 'redirect') return resolution;
    if (resolution.kind === 'file') return { kind: 'file', file: this.#file(resolution.path) };
    if (path !== null && this.#olderAssets.has(path)) return { kind: 'file', file: this.#file(path) };
    const { notFoundPage } = resolution;
    return {
      kind: 'missing',
      page: notFoundPage === null ? null : this.#file(notFoundPage),
      isAsset: path !== null && isAssetPath(path),
    };
  }

  #file(path: string): SnapshotFile {
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const entry = this.#active.files.get(path);
    const source = entry === undefined ? this.#olderAssets.get(path) : { entry, release: this.#active };
    if (source === undefined) throw new Error(`no file "${path}" in this snapshot`);
    const { entry: found, release } = source;
    const plain = new SiteFile(found, release, hashedName(path) && !this.#changing.has(path));
    const file = release.builtFor === this.#basePath ? plain : this.#unmounted(plain, found, release);
    this.#files.set(path, file);
    return file;
  }

  #unmounted(plain: SiteFile, entry: FileEntry, release: ReleaseView): UnmountedFile {
    return new UnmountedFile(entry.path, async () => {
      const made = await new MountedRelease(release, this.#basePath).mount(plain, entry);
      this.#files.set(entry.path, made.file);
      return made;
    });
  }
}
