import type { SiteSink } from '../../domain/job.ts';
import { escapeHtml } from '../../web/escape-html.ts';
import { layoutNotFound, layoutPage, type PageBody } from './layout/page.ts';
import type { View } from './layout/view.ts';
import type { MarkdownRenderer } from './render/render-markdown.ts';
import { plainTitle } from './site/make-pages.ts';
import type { Page } from './site/page.ts';
import { type PageText, readPage } from './source/read-page.ts';

type Find = SiteSink['find'];

/** With its twin: the Markdown without front matter, under title and description. @throws DocshelfError `bad_source` */
export async function renderPage(
  view: View,
  page: Page,
  renderer: MarkdownRenderer,
  find: Find,
): Promise<{ readonly html: string; readonly twin: string }> {
  const { title, description } = page;
  // Findings about the file itself were made when its front matter was read.
  const source = await readPage(page.source, () => {});
  const lead = description === null ? '' : `> ${description}\n\n`;
  return {
    html: layoutPage(view, page, renderText(view, page.source.path, title, source, renderer, find)),
    twin: `# ${source.heading ?? title}\n\n${lead}${source.body.trim()}\n`,
  };
}

/** Renders a language's 404 page. @throws DocshelfError `bad_source` */
export async function renderNotFound(view: View, renderer: MarkdownRenderer, find: Find): Promise<string> {
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
