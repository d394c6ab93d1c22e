import type { Finding } from '../../domain/job.ts';
import { escapeHtml } from '../../web/escape-html.ts';
import type { FoundFile } from '../sources/walk-folder.ts';
import { layoutNotFound, layoutPage, type PageBody } from './layout/page.ts';
import type { View } from './layout/view.ts';
import type { MarkdownRenderer } from './render/render-markdown.ts';
import { plainTitle } from './site/make-pages.ts';
import type { Page } from './site/page.ts';
import { type PageText, readPage } from './source/read-page.ts';

export interface PageFiles {
  readonly html: string;
  /** The page's Markdown, its title and description in the text and no front matter. */
  readonly twin: string;
}

/** Renders one page of the site, from its file. @throws DocshelfError `bad_source` */
export async function renderPage(
  view: View,
  page: Page,
  renderer: MarkdownRenderer,
  find: (finding: Finding) => void,
): Promise<PageFiles> {
  // Findings about the file itself were made when its front matter was read.
  const source = await readPage(page.source, () => {});
  const content = renderText(view, page.source, page.title, source, renderer, find);
  return { html: layoutPage(view, page, content), twin: twinOf(page, source) };
}

/** Renders a language's 404 page. @throws DocshelfError `bad_source` */
export async function renderNotFound(
  view: View,
  renderer: MarkdownRenderer,
  find: (finding: Finding) => void,
): Promise<string> {
  const { notFound, language } = view.local;
  if (notFound === null) return layoutNotFound(view, null);
  const source = await readPage(notFound, find);
  const title = source.matter.title ?? plainTitle(source.heading) ?? language.words.notFound;
  return layoutNotFound(view, renderText(view, notFound, title, source, renderer, find));
}

function renderText(
  view: View,
  { path: from }: FoundFile,
  title: string,
  { heading, body }: PageText,
  renderer: MarkdownRenderer,
  find: (finding: Finding) => void,
): PageBody {
  const rewrite = (reference: string): string | null => {
    const target = view.site.targets.resolve(from, reference);
    switch (target.kind) {
      case 'page':
        return view.to(target.page.path) + target.suffix;
      case 'file':
        return view.to(target.path) + target.suffix;
      case 'excluded':
        return null;
      case 'missing':
        find({ kind: 'broken_link', page: from, detail: reference });
        return reference;
      case 'elsewhere':
        return reference;
    }
  };
  const context = { words: view.local.language.words, rewrite };
  return {
    heading: heading === null ? escapeHtml(title) : renderer.renderInline(heading, context),
    text: renderer.render(body, context),
  };
}

function twinOf({ title, description }: Page, { heading, body }: PageText): string {
  const lead = description === null ? '' : `> ${description}\n\n`;
  return `# ${heading ?? title}\n\n${lead}${body.trim()}\n`;
}
