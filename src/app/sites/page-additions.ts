import type { SiteConfig } from '../../config/index.ts';
import type { SiteAssets } from '../../http/site/site-assets.ts';
import { NO_ADDITIONS, type PageAdditions, startTag } from '../../web/additions/page-additions.ts';
import { failing, type OwnSearch } from '../../web/own-search.ts';
import { ENGLISH, PAGE_LANGUAGES } from '../../web/words/index.ts';

/** What the config says of the search box; plain data. */
export interface SearchBoxForm {
  /** Addresses of its scripts, as pages name them. */
  readonly scripts: Readonly<Pick<SiteAssets['searchBox'], 'loader' | 'replacing'>>;
  /** It stands where the site's own does that finds nothing here. */
  readonly replaces: boolean;
  /** All sites are offered, too. */
  readonly isOfShelf: boolean;
}

/** Null where the config wants none. */
export function searchBoxForm({ config, basePath }: SiteConfig, assets: SiteAssets): SearchBoxForm | null {
  const { enabled, widget } = config.search;
  if (!enabled || widget === false) return null;
  const { loader, replacing } = assets.searchBox;
  return {
    scripts: { loader: basePath + loader, replacing: basePath + replacing },
    replaces: widget === 'replace',
    isOfShelf: config.sites.length > 1 && config.server.shelf,
  };
}

/** @param version that the pages search; null: the active one */
export function searchBoxAdditions(
  form: SearchBoxForm | null,
  own: readonly OwnSearch[],
  version: string | null = null,
): PageAdditions {
  if (form === null) return NO_ADDITIONS;
  const replaced = form.replaces ? failing(own) : [];
  const attributes = {
    type: 'module',
    src: form.scripts[replaced.length > 0 ? 'replacing' : 'loader'],
    'data-replace': replaced.map(({ boxes }) => boxes).join() || null,
    'data-version': version,
    'data-shelf': form.isOfShelf,
  };
  const scripts = PAGE_LANGUAGES.map((language) => {
    const label = language === ENGLISH ? null : language.words.searchBox.open;
    return [language.tag, `${startTag('script', { ...attributes, 'data-label': label })}</script>`] as const;
  });
  return { head: [...replaced.map(({ head }) => head), Object.fromEntries(scripts)], body: [] };
}

/** For operators: boxes of a version's pages that find nothing here. */
export function ownSearchNotices(version: string, own: readonly OwnSearch[], form: SearchBoxForm | null): string[] {
  return failing(own).map(({ kind, state, needs }) => {
    const lack = state === 'hosted' ? `asks a service elsewhere, ${needs}` : `lacks its index, ${needs}`;
    const then = form?.replaces
      ? "docshelf's stands in its place"
      : `"search.widget: replace" puts docshelf's in its place`;
    return `The search box of version "${version}" (${kind}) ${lack}: ${then}.`;
  });
}
