import { badSource, type ExportRequest, type Finding, type SiteSink, type SiteSource } from '../../domain/job.ts';
import { FullText, layoutLlms, layoutSitemap } from './layout/listings.ts';
import { layoutRedirect } from './layout/page.ts';
import { canonicalOf, readTheme, viewOf } from './layout/view.ts';
import { createRenderer } from './render/render-markdown.ts';
import { renderNotFound, renderPage } from './render-page.ts';
import { relativeReference } from './site/address.ts';
import { readSite } from './site/read-site.ts';

/** A site out of Markdown: the same folder gives the same bytes. Progress is in pages. Fragments are not checked. */
export class MarkdownSource implements SiteSource {
  readonly #dir: string;

  constructor(dir: string) {
    this.#dir = dir;
  }

  async collect(request: ExportRequest, sink: SiteSink, signal: AbortSignal): Promise<void> {
    const find = (finding: Finding) => sink.find(finding);
    const site = await readSite({ ...request, dir: this.#dir, signal, find });
    if (site.pages.length === 0) throw noPages(this.#dir, request);
    const theme = await readTheme(site.name, site.tone);
    const renderer = createRenderer();
    const full = new FullText();
    const written = new Set<string>();
    // Of several files of one path the first is written: the folder's own go before generated ones.
    const write = async (path: string, content: string | { readonly file: string }) => {
      signal.throwIfAborted();
      if (written.has(path)) return;
      written.add(path);
      await sink.add(path, typeof content === 'string' ? new TextEncoder().encode(content) : content);
    };

    for (const { path, file } of site.assets) await write(path, { file });
    let done = 0;
    for (const local of site.languages) {
      for (const page of [...local.listed, ...local.unlisted]) {
        const { html, twin } = await renderPage(viewOf(site, local, theme, page), page, renderer, find);
        await write(page.path, html);
        await write(page.twin, twin);
        if (!page.isNoindex && local === site.languages[0]) full.add(twin);
        sink.progress(++done, site.pages.length);
      }
    }
    for (const local of site.languages) {
      const html = await renderNotFound(viewOf(site, local, theme, null), renderer, find);
      await write(`${local.language.folder}404.html`, html);
      if (local === site.languages[0]) await write('404.html', html);
    }
    const home = site.languages[0]?.home ?? null;
    if (home !== null) {
      const target = relativeReference('index.html', home.path);
      await write('index.html', layoutRedirect(site.name, target, canonicalOf(site, home)));
    }
    for (const { path, text } of layoutSitemap(site, site.pages)) await write(path, text);
    await write('llms.txt', layoutLlms(site));
    const fullText = full.text();
    if (fullText !== null) await write('llms-full.txt', fullText);
    for (const { path, text } of [theme.css, theme.js]) await write(path, text);
    if (site.favicon === null) await write(theme.icon.path, theme.icon.text);
  }
}

function noPages(dir: string, { paths }: ExportRequest) {
  return paths === null
    ? badSource(dir, 'it holds no page', 'Point the source at a folder of Markdown files whose names end in .md.')
    : badSource(
        dir,
        'none of the paths asked for leads to a page',
        'Ask for paths as readers see them: /guides/start.',
      );
}
