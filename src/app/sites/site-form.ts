import type { HttpBindings } from '@hono/node-server';
import type { Config, SiteConfig } from '../../config/index.ts';
import type { privateAnswers } from '../../http/sign-in/guarded-site.ts';
import type { SignIn } from '../../http/sign-in/sign-in.ts';
import { type DescribedSearch, OPEN_SEARCH_PATH, OPEN_SEARCH_TYPE, shortName } from '../../http/site/page-answer.ts';
import type { SiteAssets } from '../../http/site/site-assets.ts';
import { siteOrigin } from '../../http/site/site-routes.ts';
import type { SearchBoxForm, SiteForm, SnapshotOptions, SwitcherFiles } from '../../site/index.ts';
import { NO_ADDITIONS, type PageAdditions, startTag } from '../../web/additions/page-additions.ts';
import type { PageLanguage } from '../../web/words/index.ts';
import { policyHeaders } from '../slices.ts';

export interface ServedSettings {
  readonly config: SiteConfig;
  /** Like `config`, but with `search.enabled` from the start of the daemon, because a change of this key needs a restart. */
  readonly held: SiteConfig;
  readonly form: SiteForm;
  readonly access: SiteAccess;
}

/** Sign-in and request handlers of a site. A reload creates them again only if it changes the sign-in or the address of the site. */
export interface SiteAccess {
  /** Config when the sign-in or the address of the site last changed. */
  readonly site: SiteConfig;
  readonly signIn: SignIn | null;
  readonly privately: ReturnType<typeof privateAnswers> | null;
  /** Request handler. Null until the first request creates it, because a daemon can have a thousand sites. */
  app: ((request: Request, env: HttpBindings) => Response | Promise<Response>) | null;
}

export function siteForm(site: SiteConfig, assets: SiteAssets): SiteForm {
  const areKept = site.config.staticExport.serveVersions === 'kept';
  const switcher = areKept ? switcherFilesOf(site, assets) : null;
  return { ...snapshotForm(site), searchBox: searchBoxForm(site, assets), switcher };
}

export function snapshotForm(site: SiteConfig): SnapshotOptions {
  const { config, domain, title, basePath } = site;
  const { trailingSlash, spaFallback, headers, markdown } = config.server;
  return {
    site: domain ?? '',
    trailingSlash,
    basePath,
    title,
    spaFallback,
    markdown,
    headers: { ...(headers satisfies ConfiguredHeaders), policy: policyHeaders(config, domain ?? '', basePath) },
    additions: config.search.enabled && config.search.widget !== false ? openSearchLink(site) : NO_ADDITIONS,
    search: config.search.enabled ? { address: `${basePath}_docshelf/search`, version: null } : null,
  };
}

/** Makes the type checker report a config key of `server.headers` that the type `SnapshotOptions` lacks. */
type ConfiguredHeaders = Pick<NonNullable<SnapshotOptions['headers']>, keyof Config['server']['headers']>;

function searchBoxForm({ config, basePath }: SiteConfig, assets: SiteAssets): SearchBoxForm | null {
  const { enabled, widget } = config.search;
  if (!enabled || widget === false) return null;
  const { loader, replacing } = assets.searchBox;
  return {
    scripts: { loader: basePath + loader, replacing: basePath + replacing },
    page: `${basePath}_docshelf/search`,
    replaces: widget === 'replace',
    isOfShelf: config.sites.length > 1 && config.server.shelf,
  };
}

export function switcherFilesOf({ config, basePath }: SiteConfig, assets: SiteAssets): SwitcherFiles | null {
  if (!config.server.versionSwitcher) return null;
  const { script, style } = assets.switcher;
  return { script: basePath + script, style: basePath + style };
}

export function describedSearch(site: SiteConfig, language: PageLanguage): DescribedSearch | null {
  const { config, hosts, basePath } = site;
  const { publicUrl } = config.server;
  if (publicUrl === null) return null;
  return { name: nameOf(site, publicUrl), address: siteOrigin(publicUrl, hosts) + basePath, language };
}

function openSearchLink(site: SiteConfig): PageAdditions {
  const { publicUrl } = site.config.server;
  if (publicUrl === null) return NO_ADDITIONS;
  const href = site.basePath + OPEN_SEARCH_PATH.slice(1);
  const title = shortName(nameOf(site, publicUrl));
  return { head: [startTag('link', { rel: 'search', type: OPEN_SEARCH_TYPE, title, href })], body: [] };
}

const nameOf = ({ title, domain }: SiteConfig, publicUrl: string): string => title ?? domain ?? new URL(publicUrl).host;
