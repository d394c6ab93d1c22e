export interface FileEntry {
  /** Path inside the site, `/` between segments, no leading slash: `guides/start.html`. */
  readonly path: string;
  readonly size: number;
  /** SHA-256 of the bytes, 64 lower-case hex digits. */
  readonly sha256: string;
  /** Served media type with charset: `text/html; charset=utf-8`. */
  readonly type: string;
}

export type TrailingSlash = 'always' | 'never';

export const BUNDLE_SOURCE_KINDS = ['url', 'preload', 'inbox', 'import', 'upload', 'export'] as const;
export type BundleSourceKind = (typeof BUNDLE_SOURCE_KINDS)[number];

export interface ReleaseInfo {
  readonly formatVersion: number;
  readonly digest: string;
  readonly archiveBytes: number;
  /** Null, or null members, if the bundle omits them. */
  readonly manifest: { readonly domain: string | null; readonly version: string | null } | null;
  /** RFC 3339, UTC: time of the manifest, else the label's date, else the time of the import. */
  readonly createdAt: string;
  readonly fetchedAt: string;
  readonly source: BundleSourceKind;
  readonly pages: number;
  readonly files: number;
  readonly bytes: number;
  readonly trailingSlash: TrailingSlash;
  /** Base path at build time, with its last slash. Older releases omit it for `/`. */
  readonly builtFor?: string;
  /** One sentence each: names that differ only by case, ignored launchers. */
  readonly notes: readonly string[];
}

/** `values` follows the order of the paths (UTF-16 code units). */
export interface FileTable {
  readonly size: number;
  has(path: string): boolean;
  get(path: string): FileEntry | undefined;
  values(): Iterable<FileEntry>;
  /** Names of up to a thousand files in a folder, which ends with its slash and is empty for the root. */
  namesIn(folder: string): string[];
}

export interface ReleaseView {
  readonly digest: string;
  readonly version: string;
  readonly createdAt: string;
  /** Contains `site/`, the file table and derived data. */
  readonly releaseDir: string;
  readonly siteDir: string;
  readonly pages: number;
  readonly bytes: number;
  readonly trailingSlash: TrailingSlash;
  readonly builtFor: string;
  readonly files: FileTable;
}

/** A release beside the active one, without data in memory. */
export interface KeptRelease extends Pick<ReleaseView, 'digest' | 'createdAt' | 'releaseDir' | 'siteDir' | 'builtFor'> {
  /** RFC 3339. Null for a release that was never active. */
  readonly servedAt: string | null;
  /** Null also if the release is gone. @throws DocshelfError `release_damaged`, `cannot_read` */
  find(path: string): Promise<FileEntry | null>;
  readTable(): Promise<FileTable>;
}

const PAGE = /\.(?:html|htm|xhtml)$/i;

export const isPage = (path: string): boolean => PAGE.test(path);

/** docshelf's data in an archive (manifest, search), never served. */
export const OWN_FOLDER = '_docshelf/';
export const MANIFEST_PATH = '_docshelf/manifest.json';

export const VERSION_ADDRESSES = `/${OWN_FOLDER}v/`;

export const versionRoot = (basePath: string, version: string): string =>
  `${basePath}${VERSION_ADDRESSES.slice(1)}${version}/`;
