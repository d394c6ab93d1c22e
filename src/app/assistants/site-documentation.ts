import { type FileEntry, isPage, type ReleaseView } from '../../domain/release.ts';
import type { Documentation, DocumentationRelease } from '../../http/mcp/documentation.ts';
import type { Search } from '../../search/index.ts';
import { canonicalise } from '../../serve/request-target.ts';
import { encodeSegments } from '../../web/percent-encode.ts';
import { resolvePath } from '../../web/resolve.ts';
import type { SitePages } from './site-pages.ts';

/** The Markdown of a page; null where it has no content. @param path of its file, percent-encoded */
export type ReadMarkdown = (
  release: ReleaseView,
  path: string,
  signal: AbortSignal,
) => Promise<{ readonly title: string | null; readonly markdown: string } | null>;

export interface DocumentedSite {
  readonly domain: string;
  readonly basePath: string;
  readonly origin: string | null;
  readonly search: Search | null;
  /** Null where nothing is served. */
  readonly release: ReleaseView | null | Promise<ReleaseView | null>;
}

interface DocumentationParts {
  readonly pages: SitePages;
  readonly readMarkdown: ReadMarkdown;
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
    release: async () => {
      const release = await site.release;
      return release && documentationOf(release, parts);
    },
  };
}

function documentationOf(release: ReleaseView, { pages, readMarkdown }: DocumentationParts): DocumentationRelease {
  return {
    version: release.version,
    pages: () => pages.list(release),
    titles: (addresses) => pages.titles(release, addresses),
    read: async (target, signal) => {
      const entry = pageAt(release, target);
      const read = entry && (await readMarkdown(release, encodeSegments(entry.path), signal));
      return entry && read && { ...read, path: await pages.addressOf(release, entry.path) };
    },
  };
}

/** By the rules that readers' addresses have; a name that ends in `.md` is that of the page's Markdown. */
function pageAt(release: ReleaseView, target: string): FileEntry | null {
  const asked = canonicalise(target);
  if (asked.kind !== 'path') return null;
  const names = [
    asked.path,
    ...(asked.path.endsWith('.md') ? [asked.path.replace(/(?:(?:^|\/)index)?\.md$/, '')] : []),
  ];
  for (const name of names) {
    const path = fileAt(release, name);
    if (path !== null && isPage(path)) return release.files.get(path) ?? null;
  }
  return null;
}

function fileAt({ files }: ReleaseView, path: string): string | null {
  const found = resolvePath(files, path, 'never');
  if (found.kind === 'file') return found.path;
  // `/a/` where there is `a.html` alone.
  const bare = found.kind === 'redirect' ? resolvePath(files, path.slice(0, -1), 'never') : found;
  return bare.kind === 'file' ? bare.path : null;
}
