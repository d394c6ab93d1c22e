import type { SiteSource } from '../../domain/job.ts';
import type { ArchiveLimits } from '../../domain/limits.ts';
import type { SourceSettings } from '../../domain/organization.ts';
import type { CollectCommand, SiteCrawler } from '../ports.ts';

export type FolderSettings = Extract<SourceSettings, { readonly path: string }>;

export async function openSource(order: CollectCommand, crawler: SiteCrawler): Promise<SiteSource> {
  const { source, workDir, limits } = order;
  if (source.kind !== 'crawl') return openFolder(source, workDir, limits);
  const { crawl, ...places } = order;
  return crawler.source({ ...places, ...crawl, settings: source });
}

/** Each kind loads on demand, because rendering Markdown needs many modules. */
export async function openFolder(
  { kind, path }: FolderSettings,
  workDir: string,
  limits: ArchiveLimits,
): Promise<SiteSource> {
  if (kind === 'folder') return new (await import('./folder-source.ts')).FolderSource({ path, workDir, limits });
  return new (await import('../markdown/index.ts')).MarkdownSource(path);
}
