import { badSource, type ExportRequest, type Finding, type SiteSink, type SiteSource } from '../../domain/job.ts';
import { escapeHtml } from '../../web/escape.ts';
import { layoutNotFound, layoutPage, layoutRedirect, type PageBody } from './layout.ts';
import { FullText, layoutLlms, layoutSitemap } from './listings.ts';
import { type Page, relativeReference } from './page.ts';
import { type PageText, readPage } from './read-page.ts';
import { plainTitle, readSite } from './read-site.ts';
import { createRenderer, type MarkdownRenderer } from './render-markdown.ts';
import { canonicalOf, readTheme, type View, viewOf } from './view.ts';

/** The same folder gives the same bytes. Progress counts pages. Fragments are not checked. */
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
    // The folder's own files come before generated ones with the same path.
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
        const { html, markdown } = await renderPage(viewOf(site, local, theme, page), page, renderer, find);
        await write(page.path, html);
        await write(page.markdownPath, markdown);
        if (!page.isNoindex && local === site.languages[0]) full.add(markdown);
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
    ? badSource(dir, 'it contains no page', 'Point the source at a folder of Markdown files whose names end in .md.')
    : badSource(dir, 'no requested path has a page', 'Use paths as readers see them, such as /guides/start.');
}

type Find = SiteSink['find'];

export async function renderPage(
  view: View,
  page: Page,
  renderer: MarkdownRenderer,
  find: Find,
): Promise<{ readonly html: string; readonly markdown: string }> {
  const { title, description } = page;
  const source = await readPage(page.source, () => {});
  const lead = description === null ? '' : `> ${description}\n\n`;
  return {
    html: layoutPage(view, page, renderText(view, page.source.path, title, source, renderer, find)),
    markdown: `# ${source.heading ?? title}\n\n${lead}${source.body.trim()}\n`,
  };
}

async function renderNotFound(view: View, renderer: MarkdownRenderer, find: Find): Promise<string> {
  const { notFound, language } = view.local;
  if (notFound === null) return layoutNotFound(view, null);
  const source = await readPage(notFound, find);
  const title = source.matter.title ?? plainTitle(source.heading) ?? language.words.notFound;
  return layoutNotFound(view, renderText(view, notFound.path, title, source, renderer, find));
}

function renderText(
  view: View,
  from: string,
  title: string,
  { heading, body }: PageText,
  renderer: MarkdownRenderer,
  find: Find,
): PageBody {
  const rewrite = (reference: string): string | null => {
    const target = view.site.targets.resolve(from, reference);
    if (target.kind === 'file') return view.to(target.path) + target.suffix;
    if (target.kind === 'excluded') return null;
    if (target.kind === 'missing') find({ kind: 'broken_link', page: from, detail: reference });
    return reference;
  };
  const context = { words: view.local.language.words, rewrite };
  return {
    heading: heading === null ? escapeHtml(title) : renderer.renderInline(heading, context),
    text: renderer.render(body, context),
  };
}
