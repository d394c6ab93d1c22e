import type { SiteConfig } from '../../config/index.ts';
import { type DescribedSearch, OPEN_SEARCH_PATH, OPEN_SEARCH_TYPE, shortName } from '../../http/site/page-answer.ts';
import { siteOrigin } from '../../http/site/site-routes.ts';
import { NO_ADDITIONS, type PageAdditions, startTag } from '../../web/additions/page-additions.ts';
import type { PageLanguage } from '../../web/words/index.ts';

/** Null where nobody says under which address readers reach the site. */
export function describedSearch(site: SiteConfig, language: PageLanguage): DescribedSearch | null {
  const { config, hosts, basePath } = site;
  const { publicUrl } = config.server;
  if (publicUrl === null) return null;
  return { name: nameOf(site, publicUrl), address: siteOrigin(publicUrl, hosts) + basePath, language };
}

/** By which a browser finds the description. */
export function openSearchLink(site: SiteConfig): PageAdditions {
  const { publicUrl } = site.config.server;
  if (publicUrl === null) return NO_ADDITIONS;
  const href = site.basePath + OPEN_SEARCH_PATH.slice(1);
  const title = shortName(nameOf(site, publicUrl));
  return { head: [startTag('link', { rel: 'search', type: OPEN_SEARCH_TYPE, title, href })], body: [] };
}

function nameOf({ title, domain }: SiteConfig, publicUrl: string): string {
  return title ?? domain ?? new URL(publicUrl).host;
}
