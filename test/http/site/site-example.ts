import { createSiteApp } from '../../../src/http/site/site.ts';
import { BodyCache, SiteServer } from '../../../src/site/index.ts';
import { featuresOf } from '../../helpers/features.ts';

/** App of a site, without a version unless `server` has one. */
export const siteApp = (changes: Partial<Parameters<typeof createSiteApp>[0]> = {}) =>
  createSiteApp({
    server: new SiteServer(new BodyCache(0), { current: null }),
    state: () => 'ready',
    features: () => featuresOf(),
    ...changes,
  });
