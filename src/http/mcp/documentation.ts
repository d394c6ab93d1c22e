import type { Search } from '../../search/index.ts';

/** What assistants read of a site. */
export interface Documentation {
  readonly domain: string;
  /** With its last slash. */
  readonly basePath: string;
  /** `server.publicUrl`; null: addresses are paths. */
  readonly origin: string | null;
  /** Null where search is off. */
  readonly search: Search | null;
  /**
   * As it is now. Null where nothing is served, and where readers have no such version.
   *
   * @param version its label; null: the active one. @throws DocshelfError `cannot_read`, `release_damaged`
   */
  release(version: string | null): Promise<DocumentationRelease | null>;
  /** Labels of what readers may read, the newest first. */
  versions(): Promise<readonly string[]>;
}

/** One version of a site; it stays as it is while a request works on it. */
export interface DocumentationRelease {
  readonly version: string;
  /** Of the addresses of its pages, with its last slash. */
  readonly basePath: string;
  /** Of all pages, below the base path (`/guides/start`), in the order of UTF-16 code units. */
  pages(): Promise<readonly string[]>;
  /** Null: the page says none. @param pages of `pages` */
  titles(pages: readonly string[]): Promise<readonly (string | null)[]>;
  /**
   * Null: there is no such page.
   * @param target below the base path, raw
   * @throws DocshelfError `cannot_read`, `release_damaged`; the signal's reason
   */
  read(target: string, signal: AbortSignal): Promise<PageMarkup | null>;
}

export interface PageMarkup {
  /** Of the page, as `pages` has it. */
  readonly path: string;
  readonly title: string | null;
  readonly markdown: string;
}
