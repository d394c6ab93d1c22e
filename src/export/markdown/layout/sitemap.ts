import { escapeHtml } from '../../../web/escape-html.ts';
import type { Page } from '../site/page.ts';
import type { Site } from '../site/read-site.ts';
import { canonicalOf } from './view.ts';

export interface TextFile {
  readonly path: string;
  readonly text: string;
}

/** What one sitemap may hold (sitemaps.org, 0.9). */
const URLS_MAX = 50_000;
const XML = '<?xml version="1.0" encoding="UTF-8"?>\n';
const NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';

/** `sitemap.xml` with the canonical addresses, or an index of several where one is too small; and the `robots.txt` that names it. */
export function layoutSitemap(site: Site, pages: readonly Page[], urlsMax = URLS_MAX): readonly TextFile[] {
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

function urlSet(site: Site, pages: readonly Page[]): string {
  const urls = pages.map((page) => `<url><loc>${escapeHtml(canonicalOf(site, page))}</loc></url>`);
  return `${XML}<urlset ${NAMESPACE}>\n${urls.join('\n')}\n</urlset>\n`;
}
