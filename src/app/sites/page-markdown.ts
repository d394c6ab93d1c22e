import { type BodyCache, type PageMarkdownText, readMarkdown, type SiteServer } from '../../serve/index.ts';

/** Pages of a site as Markdown, as its readers get it. */
export interface PageMarkdown {
  /**
   * @param path of a page's file, percent-encoded. Null where there is no such page, and where nothing is served. @throws DocshelfError `cannot_read`, `release_damaged`, `worker_ended`
   */
  read(path: string): Promise<PageMarkdownText | null>;
}

export function pageMarkdown(server: SiteServer, bodies: BodyCache): PageMarkdown {
  return {
    read: async (path) => server.current && readMarkdown(server.current, bodies, path),
  };
}
