import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hostName } from '../../../src/domain/deployment.ts';
import { type SiteAddress, SiteRoutes, shelfAddress } from '../../../src/http/site/site-routes.ts';

const site = (domain: string, basePath = '/', ...hosts: string[]): SiteAddress => ({ domain, basePath, hosts });

/** The domain, the location of a redirect, `shelf`, or `none`. */
function routed(routes: SiteRoutes<SiteAddress>, host: string | undefined, target: string): string {
  const found = routes.find(host, target);
  if (found.kind === 'site') return found.site.domain;
  return found.kind === 'redirect' ? `308 ${found.location}` : found.kind;
}

describe('SiteRoutes: hosts', () => {
  const routes = new SiteRoutes([
    site('acme', '/', 'docs.acme.dev'),
    site('six', '/', '[::1]', '2001:DB8::0:1'),
    site('four', '/', '127.0.0.1'),
    site('other', '/'),
  ]);

  it.each([
    ['docs.acme.dev', 'acme'],
    ['DOCS.Acme.DEV', 'acme'],
    ['docs.acme.dev:8443', 'acme'],
    ['docs.acme.dev.', 'acme'],
    ['docs.acme.dev.:80', 'acme'],
    ['[::1]', 'six'],
    ['[::1]:8080', 'six'],
    ['[0:0:0:0:0:0:0:1]:8080', 'six'],
    ['[2001:db8::1]', 'six'],
    ['127.0.0.1:8080', 'four'],
    ['sub.docs.acme.dev', 'other'],
    ['docs.acme.dev..', 'other'],
    ['acme', 'other'],
    ['', 'other'],
    ['[', 'other'],
    [':8080', 'other'],
    ['__proto__', 'other'],
    ['constructor', 'other'],
    [undefined, 'other'],
  ])('routes a request with Host header %s to the site %s', (host, domain) => {
    expect(routed(routes, host, '/guide/')).toBe(domain);
  });

  it('prefers a site with the host over a site for all hosts', () => {
    const sites = new SiteRoutes([site('acme', '/acme/', 'docs.acme.dev'), site('other', '/')]);
    expect(routed(sites, 'docs.acme.dev', '/')).toBe('shelf');
    expect(routed(sites, 'docs.acme.dev', '/guide')).toBe('none');
    expect(routed(sites, 'elsewhere', '/acme/')).toBe('other');
  });

  it.each(['*', '', 'docs.acme.dev:443', 'ftp://docs.acme.dev/', 'http://', 'http:///a', 'http://me@docs.acme.dev/'])(
    'finds no site for the invalid target %j',
    (target) => {
      expect(routed(routes, 'docs.acme.dev', target)).toBe('none');
    },
  );
});

describe('SiteRoutes: base paths', () => {
  const routes = new SiteRoutes([
    site('root', '/'),
    site('docs', '/docs/'),
    site('api', '/docs/api'),
    site('deep', '/a/b/c/'),
    site('alone', '/alone/', 'alone.dev'),
  ]);

  it.each([
    ['/', 'root'],
    ['/guide', 'root'],
    ['/docs/', 'docs'],
    ['/docs/?q=1', 'docs'],
    ['/docs/guide', 'docs'],
    ['/docs/apis', 'docs'],
    ['/docs/api/', 'api'],
    ['/docs/api/x', 'api'],
    ['/docs-old/', 'root'],
    ['/Docs/', 'root'],
    ['/a/b/', 'root'],
    ['/a/b/c/d/e', 'deep'],
    ['/docs', '308 /docs/'],
    ['/docs?q=a%20b&c', '308 /docs/?q=a%20b&c'],
    ['/docs#part', '308 /docs/'],
    ['/docs/api?q', '308 /docs/api/?q'],
    ['/a/b/c', '308 /a/b/c/'],
    // Other forms of the same address.
    ['/%64ocs/guide', 'docs'],
    ['/%64ocs', '308 /docs/'],
  ])('routes the path %s to the site, or responds with the redirect: %s', (target, domain) => {
    expect(routed(routes, 'any', target)).toBe(domain);
  });

  it.each([
    ['//evil', 'root'],
    ['//docs', 'root'],
    ['//docs/', 'root'],
    ['//evil/docs', 'root'],
    ['/docs//evil', 'docs'],
    ['/docs%2f..', 'root'],
    ['/docs%2f', 'root'],
    ['/docs%5c', 'root'],
    ['/docs\\', 'root'],
    ['/docs%00/', 'root'],
    ['/docs%', 'root'],
    ['/docs/%', 'docs'],
    ['/docs/../', 'docs'],
    ['/docs/%2e%2e/', 'docs'],
    ['/./docs/', 'root'],
    ['/%2564ocs/', 'root'],
    ['/docs;x/', 'root'],
    ['/docs?//evil', '308 /docs/?//evil'],
  ])('routes the path %s without decoding or normalizing it: %s', (target, domain) => {
    expect(routed(routes, 'any', target)).toBe(domain);
  });

  it('serves only / and paths in /_docshelf/ from the shelf (list of all sites), and only if no site matches', () => {
    const found = {
      '/': 'shelf',
      '/?q=x': 'shelf',
      '/_docshelf/search?q=x': 'shelf',
      '/_docshelf/': 'shelf',
      '/alone/': 'alone',
      '/alone': '308 /alone/',
      '/robots.txt': 'none',
      '/_docshelf': 'none',
    };
    for (const [target, expected] of Object.entries(found))
      expect(routed(routes, 'alone.dev', target), target).toBe(expected);
    const none = new SiteRoutes<SiteAddress>([]);
    expect([routed(none, 'any', '/'), routed(none, 'any', '/x'), routed(none, 'any', '//')]).toEqual([
      'shelf',
      'none',
      'none',
    ]);
  });

  it('redirects only to a path of the same host, for any input', () => {
    const piece = fc.constantFrom(
      '/docs',
      '/',
      '//',
      'docs',
      'api',
      'evil.dev',
      '%64',
      '%2f',
      '\\',
      '?',
      '#',
      'http://',
      '@',
      ':',
      '.',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const found = routes.find('any', pieces.join(''));
        if (found.kind !== 'redirect') return;
        expect(['/docs/', '/docs/api/', '/a/b/c/']).toContain(found.location.replace(/\?.*/s, ''));
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('SiteRoutes with many sites', () => {
  it('finds each of 1,000 sites by host and by path', () => {
    const names = Array.from({ length: 1_000 }, (_, at) => `site-${at}`);
    const byHost = new SiteRoutes(names.map((name) => site(name, '/', `${name}.acme.dev`)));
    const byPath = new SiteRoutes(names.map((name) => site(name, `/${name}/`)));
    expect(names.map((name) => routed(byHost, `${name}.acme.dev`, '/'))).toEqual(names);
    expect(names.map((name) => routed(byPath, 'any', `/${name}/guide`))).toEqual(names);
  });

  it('finds the site of a path with a million segments', () => {
    const routes = new SiteRoutes([site('docs', '/docs/')]);
    const long = `/docs/${'a/'.repeat(1_000_000)}`;
    expect(routed(routes, 'any', long)).toBe('docs');
  });
});

describe('hostName()', () => {
  it('returns the same host name as the URL parser for an IPv6 address with a port', () => {
    fc.assert(
      fc.property(fc.ipV6(), fc.nat(65_535), (address, port) => {
        expect(hostName(`[${address.toUpperCase()}]:${port}`)).toBe(new URL(`http://[${address}]`).hostname);
      }),
    );
  });
});

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
  it('returns a path if the same host serves the site', () => {
    expect(addresses('DOCS.acme.dev:8080')[0]).toBe('/docs/');
    expect(addresses('other.dev')[0]).toBe('/docs/');
    expect(addresses('elsewhere')[2]).toBe('/bare/');
    expect(addresses(undefined)[2]).toBe('/bare/');
  });

  it('returns a URL with the first host of the site if another host is requested', () => {
    expect(addresses('elsewhere:8080')).toEqual(['//docs.acme.dev:8080/docs/', '//[::1]:8080/', '/bare/']);
    expect(addresses('elsewhere')).toEqual(['//docs.acme.dev/docs/', '//[::1]/', '/bare/']);
    expect(addresses('elsewhere:18080')[0]).toBe('//docs.acme.dev/docs/');
  });

  it('uses the scheme and port of publicUrl', () => {
    expect(addresses('elsewhere:8080', 'https://shelf.acme.dev')).toEqual([
      'https://docs.acme.dev/docs/',
      'https://[::1]/',
      '/bare/',
    ]);
    expect(addresses('elsewhere', 'http://shelf.acme.dev:81/x')[0]).toBe('http://docs.acme.dev:81/docs/');
  });

  it('uses the host of publicUrl for a site without a host if another site owns the requested host', () => {
    expect(addresses('docs.acme.dev', 'https://shelf.acme.dev')[2]).toBe('https://shelf.acme.dev/bare/');
    expect(addresses('docs.acme.dev')[2]).toBe('/bare/');
  });

  it.each(['evil.dev', 'evil.dev:8080', '"><script>:8080', 'docs.acme.dev@evil.dev:8080'])(
    'returns addresses that contain no part of the Host header %s',
    (host) => {
      expect(addresses(host).join(' ')).not.toMatch(/evil|script/);
    },
  );
});
