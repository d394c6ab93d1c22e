import { badSource, type ExportRequest, type Finding, type SiteSink, type SiteSource } from '../../domain/job.ts';
import { encodeSegments, escapeHtml } from '../../web/escape.ts';
import { layoutNotFound, layoutPage, layoutRedirect, type PageBody } from './layout.ts';
import { pagesBelow } from './navigation.ts';
import { type Page, relativeReference } from './page.ts';
import { type PageText, readPage } from './read-page.ts';
import { type LanguageSite, type MarkdownSite, readSite } from './read-site.ts';
import { createRenderer, type MarkdownRenderer } from './render-markdown.ts';
import { canonicalOf, readTheme, type View, viewOf } from './view.ts';

/** Maximum addresses of a sitemap (sitemaps.org, 0.9). The sitemap omits further pages. */
const URLS_MAX = 50_000;
const XML = '<?xml version="1.0" encoding="UTF-8"?>\n';
const NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';

export function layoutSitemap(site: MarkdownSite): string {
  const listed = site.pages.filter(({ isNoindex }) => !isNoindex).slice(0, URLS_MAX);
  const urls = listed.map((page) => `<url><loc>${escapeHtml(canonicalOf(site, page))}</loc></url>`);
  return `${XML}<urlset ${NAMESPACE}>\n${urls.join('\n')}\n</urlset>\n`;
}

function layoutLlms(site: MarkdownSite): string {
  const head = `# ${oneLine(site.name)}\n${site.description === null ? '' : `\n> ${oneLine(site.description)}\n`}`;
  return head + site.languages.map((local, index) => ofLanguage(local, index > 0)).join('');
}

function ofLanguage({ language, navigation, unlisted }: LanguageSite, namesLanguage: boolean): string {
  const prefix = namesLanguage ? `${language.name} / ` : '';
  const groups = navigation.flatMap((node) => (node.kind === 'group' ? [node] : []));
  const loose = navigation.filter(({ kind }) => kind !== 'group');
  return [
    section(`${prefix}Docs`, [...pagesBelow(loose)]),
    ...groups.map((group) => section(prefix + group.title, [...pagesBelow(group.children)])),
    section(
      `${prefix}${language.words.more}`,
      unlisted.filter(({ isHidden }) => !isHidden),
    ),
  ].join('');
}

function section(title: string, pages: readonly Page[]): string {
  const lines = pages
    .filter(({ isNoindex }) => !isNoindex)
    .map(({ title: name, markdownPath, description }) => {
      const about = description === null ? '' : `: ${oneLine(description)}`;
      return `- [${oneLine(name).replace(/[[\]\\]/g, '\\$&')}](${encodeSegments(markdownPath)})${about}`;
    });
  return lines.length === 0 ? '' : `\n## ${oneLine(title)}\n\n${lines.join('\n')}\n`;
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

/** Maximum bytes of `llms-full.txt`, about 250,000 tokens, because common language models read no more. */
const FULL_BYTES_MAX = 1024 ** 2;

/** Exports a folder of Markdown files. Equal folders produce equal bytes. Fragments of links are checked later, by the job. */
export async function collectMarkdown(dir: string, ...[request, sink, signal]: Parameters<SiteSource>): Promise<void> {
  const find = (finding: Finding) => sink.find(finding);
  const site = await readSite({ ...request, dir, signal, find });
  if (site.pages.length === 0) throw noPages(dir, request);
  const theme = await readTheme(site.name, site.tone);
  const renderer = createRenderer();
  let full = '';
  const written = new Set<string>();
  // If a file of the source folder has the same path as a generated file, export only the file of the source folder.
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
      const isInFull = !page.isNoindex && local === site.languages[0] && full.length < FULL_BYTES_MAX;
      if (isInFull) full += `${full === '' ? '' : '\n'}${markdown}`;
      sink.progress(++done, site.pages.length);
    }
  }
  for (const local of site.languages) {
    const html = await renderNotFound(viewOf(site, local, theme, null), renderer, find);
    await write(`${local.language.folder}404.html`, html);
    if (local === site.languages[0]) await write('404.html', html);
  }
  // If the default language has no page, redirect to the home page of the first language that has one.
  const home = site.languages.find((local) => local.home !== null)?.home ?? null;
  if (home !== null) {
    const target = relativeReference('index.html', home.path);
    await write('index.html', layoutRedirect(site.name, target, canonicalOf(site, home)));
  }
  await write('sitemap.xml', layoutSitemap(site));
  await write('robots.txt', `User-agent: *\nAllow: /\n\nSitemap: ${site.url}/sitemap.xml\n`);
  await write('llms.txt', layoutLlms(site));
  if (full !== '' && Buffer.byteLength(full) < FULL_BYTES_MAX) await write('llms-full.txt', full);
  for (const { path, text } of [theme.css, theme.js]) await write(path, text);
  if (site.favicon === null) await write(theme.icon.path, theme.icon.text);
}

function noPages(dir: string, { paths }: ExportRequest) {
  return paths === null
    ? badSource(dir, 'it contains no page', 'Point the source at a folder of Markdown files whose names end in .md.')
    : badSource(dir, 'no requested path has a page', 'Use paths as readers see them, such as /guides/start.');
}

type Find = SiteSink['find'];

async function renderPage(view: View, page: Page, renderer: MarkdownRenderer, find: Find) {
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
  const title = source.matter.title ?? language.words.notFound;
  return layoutNotFound(view, renderText(view, notFound.path, title, source, renderer, find));
}

function renderText(
  view: View,
  from: string,
  title: string,
  source: PageText,
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
  const text = renderer.render(source.text, context);
  return { heading: text.title?.html || escapeHtml(title), text };
}
