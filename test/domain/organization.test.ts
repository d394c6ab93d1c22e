import { describe, expect, it } from 'vitest';
import {
  type Organization,
  OWN_ORGANIZATION_ID,
  organizationsOf,
  SiteDirectory,
} from '../../src/domain/organization.ts';

const acme: Organization = {
  id: 'acme-inc',
  plan: 'enterprise',
  sites: [{ domain: 'acme', hosts: ['docs.acme.dev'], source: null }],
  keys: [],
};
const other: Organization = {
  id: 'other',
  plan: 'none',
  sites: [{ domain: 'beta', hosts: [], source: null }],
  keys: [],
};

describe('SiteDirectory (sites of all organizations)', () => {
  const sites = new SiteDirectory([acme, other]);

  it.each(['acme', 'ACME', 'docs.acme.dev', 'Docs.Acme.DEV'])(
    'finds a site by its domain or host, in upper or lower case: %s',
    (name) => {
      expect(sites.find(name)).toEqual({ organization: acme, ...acme.sites[0], domain: 'acme' });
    },
  );

  it.each(['', 'acm', 'acme.dev', 'constructor', '__proto__'])('finds no site by the unknown name %j', (name) => {
    expect(sites.find(name)).toBeNull();
  });

  it('returns the organization of a site', () => {
    expect(sites.find('beta')?.organization.id).toBe('other');
  });
});

describe('organizationsOf() (configured organizations with the hosts of their sites)', () => {
  const own = { sites: [{ domain: 'docs', hosts: [] }], keys: [{ id: 'k', sha256: 'a'.repeat(64) }] };

  it('creates one organization from the assistant keys in search.keys if no organization is configured', () => {
    expect(organizationsOf([], own)).toEqual([
      {
        id: OWN_ORGANIZATION_ID,
        plan: 'none',
        sites: [{ domain: 'docs', hosts: [], source: null }],
        keys: [{ id: 'k', type: 'assistant', sha256: 'a'.repeat(64) }],
      },
    ]);
  });

  it('returns only the configured organizations if there are any', () => {
    expect(organizationsOf([acme], own)).toEqual([acme]);
  });

  it('adds the hosts of each site of the daemon to the organization with the domain of that site', () => {
    const [domain] = acme.sites;
    const site = { domain: domain?.domain ?? '', hosts: ['shelf.test'] };
    const [joined] = organizationsOf([acme], { sites: [site], keys: [] });
    expect(joined?.sites[0]?.hosts).toEqual([...(domain?.hosts ?? []), 'shelf.test']);
  });
});
