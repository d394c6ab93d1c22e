export interface FileEntry {
  /** Path inside the site, `/` between segments, no leading slash: `guides/start.html`. */
  readonly path: string;
  readonly size: number;
  /** SHA-256 of the bytes, 64 lower-case hex digits. */
  readonly sha256: string;
  /** Media type with charset, as it is answered: `text/html; charset=utf-8`. */
  readonly type: string;
}

export type TrailingSlash = 'always' | 'never';

export const BUNDLE_SOURCE_KINDS = ['url', 'preload', 'inbox', 'import', 'upload', 'export'] as const;
export type BundleSourceKind = (typeof BUNDLE_SOURCE_KINDS)[number];

/** Content of `release.json`. A newer `formatVersion` than ours is refused, not guessed at. */
export interface ReleaseInfo {
  readonly formatVersion: number;
  readonly digest: string;
  readonly archiveBytes: number;
  /** Null, or null members, where the bundle leaves them out. */
  readonly manifest: { readonly domain: string | null; readonly version: string | null } | null;
  /** RFC 3339, UTC: the manifest's, else the label's date, else the time of taking in. */
  readonly createdAt: string;
  readonly fetchedAt: string;
  readonly source: BundleSourceKind;
  readonly pages: number;
  readonly files: number;
  readonly bytes: number;
  readonly trailingSlash: TrailingSlash;
  /** Base path that its pages were built for, with its last slash; absent in releases of before: `/`. */
  readonly builtFor?: string;
  /** One sentence each: names that differ only by case, ignored launchers. */
  readonly notes: readonly string[];
}

/** Entries by path; `values` is in the order of the paths (UTF-16 code units). */
export interface FileTable {
  readonly size: number;
  has(path: string): boolean;
  get(path: string): FileEntry | undefined;
  values(): Iterable<FileEntry>;
  /** Names of the files right in a folder, which ends with its slash and is empty for the root; the first thousand. */
  namesIn(folder: string): string[];
}

/** With its file table in memory. */
export interface ReleaseView {
  readonly digest: string;
  readonly version: string;
  readonly createdAt: string;
  readonly siteDir: string;
  readonly pages: number;
  readonly bytes: number;
  readonly trailingSlash: TrailingSlash;
  /** Base path that its pages were built for, with its last slash. */
  readonly builtFor: string;
  readonly files: FileTable;
}

/** A release beside the active one: nothing of it is in memory. */
export interface KeptRelease extends Pick<ReleaseView, 'digest' | 'createdAt' | 'siteDir' | 'builtFor'> {
  /** Null: never active, as with --no-activate. RFC 3339. */
  readonly servedAt: string | null;
  /** Null also where the release is gone. @throws DocshelfError `release_damaged`, `cannot_read` */
  find(path: string): Promise<FileEntry | null>;
  /** @throws as `find` */
  readTable(): Promise<FileTable>;
}

const PAGE = /\.(?:html|htm|xhtml)$/i;

/** Contract section 3. */
export function isPage(path: string): boolean {
  return PAGE.test(path);
}

/** Docshelf's own data in an archive (manifest, search); never served. */
export const OWN_FOLDER = '_docshelf/';
export const MANIFEST_PATH = '_docshelf/manifest.json';

/** Of versions beside the active one, below the base path of their site. */
export const VERSION_ADDRESSES = `/${OWN_FOLDER}v/`;

/** Base path of a version beside the active one. @param basePath of the site, with its last slash */
export const versionRoot = (basePath: string, version: string): string =>
  `${basePath}${VERSION_ADDRESSES.slice(1)}${version}/`;
