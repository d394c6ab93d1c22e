import type { ExportRequest, Finding } from '../../domain/job.ts';
import { isPage } from '../../domain/release.ts';
import { badSource, type SiteSink, type SiteSource } from '../../domain/site-source.ts';
import { FullText, layoutLlms, layoutSitemap } from './layout/listings.ts';
import { layoutRedirect } from './layout/page.ts';
import { canonicalOf, readTheme, type Theme, viewOf } from './layout/view.ts';
import { createRenderer, type MarkdownRenderer } from './render/render-markdown.ts';
import { renderNotFound, renderPage } from './render-page.ts';
import { relativeReference } from './site/address.ts';
import { readSite, type Site } from './site/read-site.ts';

/**
 * A folder of Markdown becomes a whole static site, in these steps: read the folder and what its pages say of themselves;
 * pass on the files that are no pages; render page after page; write what is about all of them. Everything is given away as
 * soon as it is made, so that memory does not grow with the site. The same folder gives the same bytes.
 */

export interface MarkdownSiteOptions extends ExportRequest {
  /** The folder of Markdown. */
  readonly dir: string;
  readonly signal: AbortSignal;
  /** Takes one file; the next is not made before it resolves. No path comes twice. */
  readonly add: SiteSink['add'];
  find(finding: Finding): void;
  onProgress?(donePages: number, totalPages: number): void;
}

/**
 * Renders a folder of Markdown as a site for any static host; see the manual's page "A site from Markdown".
 *
 * Findings: `broken_link`, `missing_page`, `missing_file`, `unlisted_page`, `path_not_found`, `duplicate_path`, `left_out`,
 * `not_utf8`, `no_url`, `unknown_setting`. Fragments are not checked.
 *
 * @returns pages: HTML files that were given, 404 pages among them
 * @throws DocshelfError `bad_source`; the signal's reason when it is aborted
 */
export async function renderMarkdownSite(options: MarkdownSiteOptions): Promise<{ pages: number }> {
  const site = await readSite(options);
  if (site.pages.length === 0) throw noPages(options);
  const theme = await readTheme(site.name, site.tone);
  const output = new Output(options.add);
  for (const { path, file } of site.assets) {
    options.signal.throwIfAborted();
    await output.write(path, { file });
  }
  const renderer = createRenderer();
  const full = await writePages(site, theme, renderer, output, options);
  await writeNotFound(site, theme, renderer, output, options);
  await writeSiteFiles(site, theme, full, output);
  return { pages: output.pages };
}

function noPages({ dir, paths }: MarkdownSiteOptions) {
  return paths === null
    ? badSource(dir, 'it holds no page', 'Point the source at a folder of Markdown files whose names end in .md.')
    : badSource(
        dir,
        'none of the paths asked for leads to a page',
        'Ask for paths as readers see them: /guides/start.',
      );
}

/** Hands out files, each path once: the folder's own go before generated ones. */
class Output {
  pages = 0;
  readonly #add: SiteSink['add'];
  readonly #paths = new Set<string>();

  constructor(add: SiteSink['add']) {
    this.#add = add;
  }

  has(path: string): boolean {
    return this.#paths.has(path);
  }

  async write(path: string, content: string | { readonly file: string }): Promise<void> {
    if (this.#paths.has(path)) return;
    this.#paths.add(path);
    if (isPage(path)) this.pages++;
    await this.#add(path, typeof content === 'string' ? new TextEncoder().encode(content) : content);
  }
}

async function writePages(
  site: Site,
  theme: Theme,
  renderer: MarkdownRenderer,
  output: Output,
  { signal, find, onProgress }: MarkdownSiteOptions,
): Promise<FullText> {
  const full = new FullText();
  let done = 0;
  for (const local of site.languages) {
    for (const page of [...local.listed, ...local.unlisted]) {
      signal.throwIfAborted();
      const { html, twin } = await renderPage(viewOf(site, local, theme, page), page, renderer, find);
      await output.write(page.path, html);
      await output.write(page.twin, twin);
      if (!page.isNoindex && local === site.languages[0]) full.add(twin);
      onProgress?.(++done, site.pages.length);
    }
  }
  return full;
}

/** A 404 page at the root and in the folder of each language. */
async function writeNotFound(
  site: Site,
  theme: Theme,
  renderer: MarkdownRenderer,
  output: Output,
  { find }: MarkdownSiteOptions,
): Promise<void> {
  for (const [index, local] of site.languages.entries()) {
    const html = await renderNotFound(viewOf(site, local, theme, null), renderer, find);
    await output.write(`${local.language.folder}404.html`, html);
    if (index === 0) await output.write('404.html', html);
  }
}

async function writeSiteFiles(site: Site, theme: Theme, full: FullText, output: Output): Promise<void> {
  const home = site.languages[0]?.home ?? null;
  if (home !== null && !output.has('index.html')) {
    const target = relativeReference('index.html', home.path);
    await output.write('index.html', layoutRedirect(site.name, target, canonicalOf(site, home)));
  }
  for (const { path, text } of layoutSitemap(site, site.pages)) await output.write(path, text);
  await output.write('llms.txt', layoutLlms(site));
  const fullText = full.text();
  if (fullText !== null) await output.write('llms-full.txt', fullText);
  for (const { path, text } of [theme.css, theme.js]) await output.write(path, text);
  if (site.favicon === null) await output.write(theme.icon.path, theme.icon.text);
}

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
