export interface FileEntry {
  /** Path in the site, with `/` between segments and without a leading slash: `guides/start.html`. */
  readonly path: string;
  readonly size: number;
  /** SHA-256 of the bytes, 64 lower-case hex digits. */
  readonly sha256: string;
  /** Media type with charset, as docshelf serves it: `text/html; charset=utf-8`. */
  readonly type: string;
}

export type TrailingSlash = 'always' | 'never';

export const BUNDLE_SOURCE_KINDS = ['url', 'preload', 'inbox', 'import', 'upload', 'export'] as const;
export type BundleSourceKind = (typeof BUNDLE_SOURCE_KINDS)[number];

export interface ReleaseInfo {
  readonly formatVersion: number;
  readonly digest: string;
  readonly archiveBytes: number;
  /** Domain and version in the bundle's manifest. Null if the bundle omits the manifest or the member. */
  readonly manifest: { readonly domain: string | null; readonly version: string | null } | null;
  /** Date of the release, RFC 3339 in UTC: from the manifest, else from the version label, else the time of the import. */
  readonly createdAt: string;
  readonly fetchedAt: string;
  readonly source: BundleSourceKind;
  readonly pages: number;
  readonly files: number;
  readonly bytes: number;
  readonly trailingSlash: TrailingSlash;
  /** Base path for which the site was built, with a trailing slash. Older records omit the base path if it is `/`. */
  readonly builtFor?: string;
  /** Sentences for the operator about file names that differ only by case, and about ignored launchers. */
  readonly notes: readonly string[];
}

/** Files of a release. `values` returns the files in path order (UTF-16 code units). */
export interface FileTable {
  readonly size: number;
  has(path: string): boolean;
  get(path: string): FileEntry | undefined;
  values(): Iterable<FileEntry>;
  /** Names of up to a thousand files in a folder. `folder` ends with a slash, and is empty for the root. */
  namesIn(folder: string): string[];
}

export interface ReleaseView {
  readonly digest: string;
  readonly version: string;
  readonly createdAt: string;
  /** Folder of the release, with `site/`, the file table and derived data. */
  readonly releaseDir: string;
  readonly siteDir: string;
  readonly pages: number;
  readonly bytes: number;
  readonly trailingSlash: TrailingSlash;
  readonly builtFor: string;
  readonly files: FileTable;
}

/** Stored release that is not the active release. Keeps no data in memory. */
export interface KeptRelease extends Pick<ReleaseView, 'digest' | 'createdAt' | 'releaseDir' | 'siteDir' | 'builtFor'> {
  /** Time of the last activation, RFC 3339. Null for a release that was never active. */
  readonly servedAt: string | null;
  /**
   * Finds a file of the release. Null if the file is missing or the release was removed.
   * @throws DocshelfError `release_damaged`, `cannot_read`
   */
  find(path: string): Promise<FileEntry | null>;
  readTable(): Promise<FileTable>;
}

const PAGE = /\.(?:html|htm|xhtml)$/i;

export const isPage = (path: string): boolean => PAGE.test(path);

/** Folder in an archive with docshelf's data (manifest, search), which docshelf never serves. */
export const OWN_FOLDER = '_docshelf/';
export const MANIFEST_PATH = '_docshelf/manifest.json';

export const VERSION_ADDRESSES = `/${OWN_FOLDER}v/`;

export const versionRoot = (basePath: string, version: string): string =>
  `${basePath}${VERSION_ADDRESSES.slice(1)}${version}/`;
