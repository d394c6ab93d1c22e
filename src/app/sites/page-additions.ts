import type { SiteConfig } from '../../config/index.ts';
import type { SiteAssets } from '../../http/site/site-assets.ts';
import { joinAdditions, NO_ADDITIONS, type PageAdditions, startTag } from '../../web/additions/page-additions.ts';
import { openSearchLink } from './described-search.ts';

/** What the config adds to the pages of a site. @param version that its pages search; null: the active one */
export function pageAdditions(site: SiteConfig, assets: SiteAssets, version: string | null = null): PageAdditions {
  const { config, basePath } = site;
  const { enabled, widget } = config.search;
  if (!enabled || widget === false) return NO_ADDITIONS;
  const script = startTag('script', { type: 'module', src: basePath + assets.loader, 'data-version': version });
  return joinAdditions([{ head: [`${script}</script>`], body: [] }, openSearchLink(site)]);
}
