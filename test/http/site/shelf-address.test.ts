import { describe, expect, it } from 'vitest';
import { type SiteAddress, SiteRoutes, shelfAddress } from '../../../src/http/site/site-routes.ts';

const SITES: readonly SiteAddress[] = [
  { domain: 'named', hosts: ['docs.acme.dev', 'other.dev'], basePath: '/docs' },
  { domain: 'six', hosts: ['::1'], basePath: '/' },
  { domain: 'bare', hosts: [], basePath: '/bare/' },
];
const routes = new SiteRoutes(SITES);

function addresses(host: string | undefined, publicUrl: string | null = null) {
  return SITES.map((site) => shelfAddress(site, routes, { host, port: 8080, publicUrl }));
}

describe('shelfAddress()', () => {
  it('is a path where the same host answers the site', () => {
    expect(addresses('DOCS.acme.dev:8080')[0]).toBe('/docs/');
    expect(addresses('other.dev')[0]).toBe('/docs/');
    expect(addresses('elsewhere')[2]).toBe('/bare/');
    expect(addresses(undefined)[2]).toBe('/bare/');
  });

  it('is the first host name elsewhere, with the port that readers see without a proxy', () => {
    expect(addresses('elsewhere:8080')).toEqual(['//docs.acme.dev:8080/docs/', '//[::1]:8080/', '/bare/']);
    expect(addresses('elsewhere')).toEqual(['//docs.acme.dev/docs/', '//[::1]/', '/bare/']);
    expect(addresses('elsewhere:18080')[0]).toBe('//docs.acme.dev/docs/');
  });

  it('has the scheme and port of publicUrl', () => {
    expect(addresses('elsewhere:8080', 'https://shelf.acme.dev')).toEqual([
      'https://docs.acme.dev/docs/',
      'https://[::1]/',
      '/bare/',
    ]);
    expect(addresses('elsewhere', 'http://shelf.acme.dev:81/x')[0]).toBe('http://docs.acme.dev:81/docs/');
  });

  it('names the public host for a site without one, where another site has the host that is asked', () => {
    expect(addresses('docs.acme.dev', 'https://shelf.acme.dev')[2]).toBe('https://shelf.acme.dev/bare/');
    expect(addresses('docs.acme.dev')[2]).toBe('/bare/');
  });

  it.each(['evil.dev', 'evil.dev:8080', '"><script>:8080', 'docs.acme.dev@evil.dev:8080'])(
    'repeats nothing of the Host header %s',
    (host) => {
      expect(addresses(host).join(' ')).not.toMatch(/evil|script/);
    },
  );
});
