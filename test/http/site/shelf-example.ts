import {
  createShelfApp,
  type ListedSite,
  type ShelfAppOptions,
  type ShelfState,
} from '../../../src/http/site/shelf.ts';
import { SiteAssets } from '../../../src/http/site/site-assets.ts';

export function listed(domain: string, changes: Partial<ListedSite> = {}): ListedSite {
  return {
    domain,
    title: null,
    description: null,
    version: 'v1.0.0',
    language: 'en',
    date: '2024-06-01T09:30:00.000Z',
    address: `/${domain}/`,
    state: 'ready',
    ...changes,
  };
}

export const SITES: readonly ListedSite[] = [
  listed('acme', { title: 'Acme Docs', description: 'All about rockets & "anvils"', version: '2024-06-01' }),
  listed('cafe', { title: 'Café Handbuch', language: 'de-DE', address: 'https://docs.cafe.internal/' }),
  listed('soon', { title: 'Coming', version: null, language: null, date: null, state: 'waiting' }),
];

/** Markup in each text of a site. */
export const HOSTILE = '"><script>document.title="owned"</script><img src=x onerror=alert(1)>\'&amp;</title></li>';

export function shelfWith(
  sites: readonly ListedSite[] = SITES,
  state: Partial<ShelfState> = {},
  options: Partial<ShelfAppOptions> = {},
) {
  return createShelfApp({
    sites: () => sites,
    assets: new SiteAssets(),
    current: () => ({ isOn: true, search: null, hasMore: false, ...state }),
    ...options,
  });
}
