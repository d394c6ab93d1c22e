import { PageReports } from '../../../src/http/site/page-reports.ts';
import { createSiteApp } from '../../../src/http/site/site.ts';
import { SiteAssets } from '../../../src/http/site/site-assets.ts';
import { BodyCache, SiteServer } from '../../../src/site/index.ts';
import { featuresOf } from '../../helpers/features.ts';

/** App of a site, without a version unless `server` has one. */
export const siteApp = (changes: Partial<Parameters<typeof createSiteApp>[0]> = {}) =>
  createSiteApp({
    server: new SiteServer(new BodyCache(0), { current: null }),
    basePath: '/',
    state: () => 'ready',
    hasFailed: () => false,
    features: () => featuresOf(),
    describedSearch: async () => null,
    reports: new PageReports(
      () => undefined,
      () => ({ policy: 'off', basePath: '/', hosts: [] }),
    ),
    versions: { list: async () => [], open: async () => null, samePage: async () => null },
    assets: new SiteAssets(),
    mcp: () => null,
    refreshFromDisk: async () => false,
    onError: () => undefined,
    ...changes,
  });
