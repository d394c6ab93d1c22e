import type { Documentation, DocumentationRelease } from '../../http/mcp/documentation.ts';
import type { Search } from '../../search/index.ts';
import { type BodyCache, readMarkdown, type SiteSnapshot } from '../../serve/index.ts';
import type { SitePages } from './site-pages.ts';

/** Versions of a site that its readers may read. */
export interface DocumentedVersions {
  /** As `Documentation.release`. */
  at(version: string | null): Promise<SiteSnapshot | null>;
  labels(): Promise<readonly string[]>;
}

export interface DocumentedSite {
  readonly domain: string;
  readonly basePath: string;
  readonly origin: string | null;
  readonly search: Search | null;
  readonly versions: DocumentedVersions;
}

interface DocumentationParts {
  readonly pages: SitePages;
  readonly bodies: BodyCache;
}

/** A site as assistants read it. @param site as it is now: what it has is read with each question */
export function siteDocumentation(site: DocumentedSite, parts: DocumentationParts): Documentation {
  return {
    get domain() {
      return site.domain;
    },
    get basePath() {
      return site.basePath;
    },
    get origin() {
      return site.origin;
    },
    get search() {
      return site.search;
    },
    release: async (version) => {
      const snapshot = await site.versions.at(version);
      return snapshot && documentationOf(snapshot, parts);
    },
    versions: () => site.versions.labels(),
  };
}

function documentationOf(snapshot: SiteSnapshot, { pages, bodies }: DocumentationParts): DocumentationRelease {
  return {
    version: snapshot.version,
    basePath: snapshot.basePath,
    pages: () => pages.list(snapshot),
    titles: (addresses) => pages.titles(snapshot, addresses),
    read: async (target, signal) => {
      const read = await readMarkdown(snapshot, bodies, target, signal);
      signal.throwIfAborted();
      const path = read && (await pages.addressOf(snapshot, read.page));
      return read && path !== null ? { ...read, path } : null;
    },
  };
}
