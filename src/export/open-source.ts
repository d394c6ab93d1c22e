import type { CrawlAdapters } from '../crawl/crawl-adapters.ts';
import { FileStore } from '../files/file-store.ts';
import type { CollectOrder } from './orders.ts';
import type { SiteSource } from './ports.ts';

/**
 * The source of a site by its settings. Each kind is loaded when it is asked for: rendering Markdown brings much along.
 *
 * @throws what opening the fetcher of a crawl throws
 */
export async function openSource(order: CollectOrder, adapters: CrawlAdapters): Promise<SiteSource> {
  const { source, workDir, limits } = order;
  switch (source.kind) {
    case 'folder': {
      const { FolderSource } = await import('./sources/index.ts');
      return new FolderSource({ path: source.path, workDir, limits });
    }
    case 'markdown': {
      const { MarkdownSource } = await import('./markdown/index.ts');
      return new MarkdownSource(source.path);
    }
    case 'crawl': {
      const { CrawlSource } = await import('../crawl/index.ts');
      const { hosts, filesDir, crawl } = order;
      return new CrawlSource({
        ...crawl,
        settings: source,
        hosts,
        archiveLimits: limits,
        ...adapters,
        store: new FileStore(filesDir),
        filesDir,
        workDir,
      });
    }
  }
}
