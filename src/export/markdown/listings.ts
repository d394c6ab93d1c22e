import { encodeSegments, escapeHtml } from '../../web/escape.ts';
import { pagesBelow } from './navigation.ts';
import type { Page } from './page.ts';
import type { LanguageSite, MarkdownSite } from './read-site.ts';
import { canonicalOf, type TextFile } from './view.ts';

/** The limit of one sitemap (sitemaps.org, 0.9). */
const URLS_MAX = 50_000;
const XML = '<?xml version="1.0" encoding="UTF-8"?>\n';
const NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';

export function layoutSitemap(site: MarkdownSite, pages: readonly Page[], urlsMax = URLS_MAX): readonly TextFile[] {
  const robots = { path: 'robots.txt', text: `User-agent: *\nAllow: /\n\nSitemap: ${site.url}/sitemap.xml\n` };
  const listed = pages.filter(({ isNoindex }) => !isNoindex);
  if (listed.length <= urlsMax) return [{ path: 'sitemap.xml', text: urlSet(site, listed) }, robots];
  const parts = Array.from({ length: Math.ceil(listed.length / urlsMax) }, (_, index): TextFile => {
    const text = urlSet(site, listed.slice(index * urlsMax, (index + 1) * urlsMax));
    return { path: `sitemap-${index + 1}.xml`, text };
  });
  const entries = parts.map(({ path }) => `<sitemap><loc>${escapeHtml(`${site.url}/${path}`)}</loc></sitemap>`);
  const index = `${XML}<sitemapindex ${NAMESPACE}>\n${entries.join('\n')}\n</sitemapindex>\n`;
  return [{ path: 'sitemap.xml', text: index }, ...parts, robots];
}

function urlSet(site: MarkdownSite, pages: readonly Page[]): string {
  const urls = pages.map((page) => `<url><loc>${escapeHtml(canonicalOf(site, page))}</loc></url>`);
  return `${XML}<urlset ${NAMESPACE}>\n${urls.join('\n')}\n</urlset>\n`;
}

export function layoutLlms(site: MarkdownSite): string {
  const head = `# ${oneLine(site.name)}\n${site.description === null ? '' : `\n> ${oneLine(site.description)}\n`}`;
  return head + site.languages.map((local, index) => ofLanguage(local, index > 0)).join('');
}

function ofLanguage({ language, navigation, unlisted }: LanguageSite, namesLanguage: boolean): string {
  const prefix = namesLanguage ? `${language.name} / ` : '';
  const groups = navigation.flatMap((node) => (node.kind === 'group' ? [node] : []));
  const loose = navigation.filter(({ kind }) => kind !== 'group');
  return [
    section(`${prefix}Docs`, pagesBelow(loose)),
    ...groups.map((group) => section(prefix + group.title, pagesBelow(group.children))),
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

const FULL_BYTES_MAX = 1024 ** 2;

/** Discards the text when it exceeds 1 MiB, about a quarter of a million tokens, which is as much as models read. */
export class FullText {
  #parts: string[] | null = [];
  #bytes = 0;

  add(markdown: string): void {
    this.#bytes += Buffer.byteLength(markdown) + 1;
    if (this.#bytes > FULL_BYTES_MAX) this.#parts = null;
    this.#parts?.push(markdown);
  }

  text(): string | null {
    return this.#parts?.join('\n') || null;
  }
}
