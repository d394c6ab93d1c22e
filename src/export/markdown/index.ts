/** The source of sites that are a folder of Markdown. */
import type { ExportRequest } from '../../domain/job.ts';
import type { SiteSink, SiteSource } from '../../domain/site-source.ts';
import { renderMarkdownSite } from './render-site.ts';

export { type MarkdownSiteOptions, renderMarkdownSite } from './render-site.ts';

/** Renders a folder of Markdown for an export. Progress is in pages. */
export class MarkdownSource implements SiteSource {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  async collect(request: ExportRequest, sink: SiteSink, signal: AbortSignal): Promise<void> {
    await renderMarkdownSite({
      ...request,
      dir: this.#dir,
      signal,
      add: (path, content) => sink.add(path, content),
      find: (finding) => sink.find(finding),
      onProgress: (done, total) => sink.progress(done, total),
    });
  }
}
