import type { CrawlSettings } from './crawl.ts';
import type { Secret } from './secret.ts';

export const KEY_TYPES = ['admin', 'assistant'] as const;
/** Type of a key. An assistant key is public and may search. An admin key is secret and may export. */
export type KeyType = (typeof KEY_TYPES)[number];

export const EXPORTING_PLAN = 'enterprise';

export interface OrganizationKey {
  readonly id: string;
  readonly type: KeyType;
  readonly sha256: string;
  /** Expiry of the key, RFC 3339. Null for a key that does not expire. */
  readonly expiresAt?: string | null;
}

export type FolderSettings = { readonly kind: 'folder' | 'markdown'; readonly path: string };

export interface CommandSettings {
  readonly kind: 'command';
  readonly workDir: string;
  /** Command to run: the program and its arguments. */
  readonly command: readonly string[];
  /** Folder that the command creates, relative to `workDir`. */
  readonly output: string;
  readonly environment: Readonly<Record<string, Secret>>;
  readonly timeoutMs: number;
}

export type SourceSettings = FolderSettings | CommandSettings | CrawlSettings;

export interface OrganizationSite {
  readonly domain: string;
  readonly hosts: readonly string[];
  readonly source: SourceSettings | null;
}

export interface Organization {
  readonly id: string;
  /** Name of the plan. Any name is valid, but only `enterprise` permits static exports. */
  readonly plan: string;
  readonly sites: readonly OrganizationSite[];
  readonly keys: readonly OrganizationKey[];
}

export const OWN_ORGANIZATION_ID = 'docshelf';

export type NamedSite = Pick<OrganizationSite, 'domain' | 'hosts'>;

/**
 * Adds each site's hosts to the organizations. If none is configured, returns an organization with all sites and `search.keys`.
 */
export function organizationsOf(
  configured: readonly Organization[],
  own: { readonly sites: readonly NamedSite[]; readonly keys: readonly Omit<OrganizationKey, 'type'>[] },
): readonly Organization[] {
  if (configured.length > 0) {
    const hostsOf = new Map(own.sites.map(({ domain, hosts }) => [domain, hosts]));
    return configured.map((organization) => ({
      ...organization,
      sites: organization.sites.map((site) => ({
        ...site,
        hosts: [...new Set([...site.hosts, ...(hostsOf.get(site.domain) ?? [])])],
      })),
    }));
  }
  const keys = own.keys.map((key) => ({ ...key, type: 'assistant' as const }));
  const sites = own.sites.map((site) => ({ ...site, source: null }));
  return [{ id: OWN_ORGANIZATION_ID, plan: 'none', sites, keys }];
}

/** Adds keys that were created at run time. Ignores keys of an unknown organization. */
export function withKeys(
  organizations: readonly Organization[],
  made: readonly (OrganizationKey & { readonly organization: string })[],
): readonly Organization[] {
  const createdKeys = Map.groupBy(made, ({ organization }) => organization);
  return organizations.map((each) => ({ ...each, keys: [...each.keys, ...(createdKeys.get(each.id) ?? [])] }));
}

export interface OwnedSite extends OrganizationSite {
  readonly organization: Organization;
}

/** Finds sites by domain or host name, ignoring case. Each name has one site, because the config check rejects duplicates. */
export class SiteDirectory {
  readonly #byName: ReadonlyMap<string, OwnedSite>;

  constructor(organizations: readonly Organization[]) {
    this.#byName = new Map(
      organizations.flatMap((organization) =>
        organization.sites.flatMap((site) =>
          [site.domain, ...site.hosts].map((name) => [name, { ...site, organization }] as const),
        ),
      ),
    );
  }

  find(name: string): OwnedSite | null {
    return this.#byName.get(name.toLowerCase()) ?? null;
  }
}
