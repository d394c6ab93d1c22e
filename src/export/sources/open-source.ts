import type { SiteSource } from '../../domain/job.ts';
import type { CollectCommand, SiteCrawler } from '../ports.ts';

/** Each kind loads on demand, because rendering Markdown needs many modules. */
export async function openSource(order: CollectCommand, crawler: SiteCrawler): Promise<SiteSource> {
  const { source, workDir, limits } = order;
  switch (source.kind) {
    case 'folder': {
      const { FolderSource } = await import('./folder-source.ts');
      return new FolderSource({ path: source.path, workDir, limits });
    }
    case 'markdown': {
      const { MarkdownSource } = await import('../markdown/index.ts');
      return new MarkdownSource(source.path);
    }
    case 'crawl': {
      const { crawl, ...places } = order;
      return crawler.source({ ...places, ...crawl, settings: source });
    }
  }
}
