import type { ArchiveLimits } from '../domain/limits.ts';
import type { SourceSettings } from '../domain/organization.ts';
import type { SiteSource } from './ports.ts';

/**
 * The source of a site by its settings. Each kind is loaded when it is asked for: rendering Markdown brings much along.
 *
 * @param workDir for what the source unpacks on its way; the caller's to remove
 */
export async function openSource(source: SourceSettings, workDir: string, limits: ArchiveLimits): Promise<SiteSource> {
  switch (source.kind) {
    case 'folder': {
      const { FolderSource } = await import('./sources/index.ts');
      return new FolderSource({ path: source.path, workDir, limits });
    }
    case 'markdown': {
      const { MarkdownSource } = await import('./markdown/index.ts');
      return new MarkdownSource(source.path);
    }
  }
}
