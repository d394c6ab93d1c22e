import type { Organization } from '../../src/domain/organization.ts';

/** Domain of an organization. It can be exported if it has a source. */
export const ownedSite = (
  domain: string,
  isExported = true,
  hosts: readonly string[] = [],
): Organization['sites'][number] => ({
  domain,
  hosts,
  source: isExported ? { kind: 'folder', path: `/srv/${domain}` } : null,
});

export const organization = (id: string, changes: Partial<Organization> = {}): Organization => ({
  id,
  plan: 'enterprise',
  sites: [],
  keys: [],
  ...changes,
});
