import type { FileEntry, ReleaseView, TrailingSlash } from '../domain/release.ts';
import { hashedName } from '../web/hashed-name.ts';
import { isAssetPath } from '../web/media-type.ts';
import { isHidden, resolvePath } from '../web/resolve.ts';
import { SiteFile } from './site-file.ts';

export type Found =
  | { readonly kind: 'file'; readonly file: SiteFile }
  | { readonly kind: 'redirect'; readonly location: string }
  /** `page`: the site's own 404 page, or null. `isAsset`: no page is wanted. */
  | { readonly kind: 'missing'; readonly page: SiteFile | null; readonly isAsset: boolean };

interface OlderAsset {
  readonly entry: FileEntry;
  readonly release: ReleaseView;
}

/** Immutable: the active release, and the hashed assets of older ones, which open tabs still ask for. */
export class SiteSnapshot {
  readonly version: string;
  readonly digest: string;
  readonly #active: ReleaseView;
  readonly #trailingSlash: TrailingSlash;
  readonly #olderAssets: ReadonlyMap<string, OlderAsset>;
  readonly #changing: ReadonlySet<string>;
  /** Requested files with their prepared headers; bounded by the releases' files. */
  readonly #files = new Map<string, SiteFile>();

  constructor(
    active: ReleaseView,
    trailingSlash: TrailingSlash,
    olderAssets: ReadonlyMap<string, OlderAsset>,
    changing: ReadonlySet<string>,
  ) {
    this.version = active.version;
    this.digest = active.digest;
    this.#active = active;
    this.#trailingSlash = trailingSlash;
    this.#olderAssets = olderAssets;
    this.#changing = changing;
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

  /** @param path of a file that the active release has, or an older one's asset. */
  #file(path: string): SiteFile {
    const known = this.#files.get(path);
    if (known !== undefined) return known;
    const entry = this.#active.files.get(path);
    const source = entry === undefined ? this.#olderAssets.get(path) : { entry, release: this.#active };
    if (source === undefined) throw new Error(`no file "${path}" in this snapshot`);
    const file = new SiteFile(source.entry, source.release, hashedName(path) && !this.#changing.has(path));
    this.#files.set(path, file);
    return file;
  }
}

/**
 * Of two older hashed assets under one name the newer answers; one with different bytes in any two releases is never immutable.
 * @param older kept releases, newest first
 */
export function buildSnapshot(
  active: ReleaseView,
  older: readonly ReleaseView[],
  settings: { readonly trailingSlash: 'auto' | TrailingSlash },
): SiteSnapshot {
  const olderAssets = new Map<string, OlderAsset>();
  const changing = new Set<string>();
  for (const release of older) {
    for (const [path, entry] of release.files) {
      if (!hashedName(path) || isHidden(path)) continue;
      const newer = active.files.get(path) ?? olderAssets.get(path)?.entry;
      if (newer === undefined) olderAssets.set(path, { entry, release });
      else if (newer.sha256 !== entry.sha256) changing.add(path);
    }
  }
  const trailingSlash = settings.trailingSlash === 'auto' ? active.trailingSlash : settings.trailingSlash;
  return new SiteSnapshot(active, trailingSlash, olderAssets, changing);
}
