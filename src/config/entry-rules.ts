import { hostName, normalBasePath } from '../domain/deployment.ts';
import { forbiddenHost, forbiddenPair, userInLink } from './rules.ts';
import type { Config } from './schema/index.ts';
import { type ConfigFault, dottedOf, faultInside, faultOf, type Path, pointerOf, type Settings } from './setting.ts';

export interface SiteConfig {
  readonly domain: string | null;
  readonly title: string | null;
  /** Hosts in lower case. An empty list means every host that no other site names. */
  readonly hosts: readonly string[];
  readonly basePath: string;
  readonly config: Config;
}

const SINGLE_FORM: readonly string[] = ['staticExport', 'deployment.domain', 'server.basePath'];

export function findSiteFaults(settings: Settings, { sites, organizations }: Config): ConfigFault[] {
  const faults: ConfigFault[] = [];
  const setting = settings.get('sites');
  const report = (path: Path, rest: string): void => {
    faults.push(faultInside(setting, ['sites', ...path], rest));
  };

  for (const { path, value, where } of settings.all()) {
    const key = path.join('.');
    if (!SINGLE_FORM.some((name) => key === name || key.startsWith(`${name}.`))) continue;
    if (key === 'server.basePath' && value === '/') continue;
    faults.push(faultOf(`${key} and sites are both set; move ${key} into the entries of sites`, key, where));
  }

  const domains = new Map<string, number>();
  const claims = new Map<string, number>();
  for (const [index, { domain, hosts, basePath }] of sites.entries()) {
    const first = domains.get(domain);
    if (first === undefined) domains.set(domain, index);
    else report([index, 'domain'], ` repeats "${domain}" of sites[${first}].domain; give each site its own domain`);
    const path = normalBasePath(basePath);
    for (const [nth, host] of (hosts.length === 0 ? [null] : hosts).entries()) {
      const place = host === null ? `every other host under ${path}` : `${hostName(host)}${path}`;
      const other = claims.get(place);
      if (other === undefined) claims.set(place, index);
      else {
        const at = host === null ? [index, 'basePath'] : [index, 'hosts', nth];
        const sentence = `site "${domain}" and site "${sites[other]?.domain}" (sites[${other}]) both serve ${place}`;
        report(at, `: ${sentence}; change the host or base path of one of them`);
      }
    }
  }
  for (const [index, { domain }] of sites.entries()) {
    if (organizations.length === 0 || organizations.some((each) => Object.hasOwn(each.domains, domain))) continue;
    const state = 'belongs to no organization; add this domain to the domains of an organization';
    report([index, 'domain'], ` "${domain}" ${state}`);
  }
  const owned = new Map(
    organizations.flatMap(({ domains: theirs }) =>
      Object.entries(theirs).flatMap(([domain, { hosts }]) =>
        [domain, ...hosts].map((name) => [name, domain] as const),
      ),
    ),
  );
  for (const [index, { domain, hosts }] of sites.entries()) {
    for (const [nth, host] of hosts.entries()) {
      const other = owned.get(host) ?? (domains.has(host) ? host : domain);
      if (other === domain) continue;
      const state = `also belongs to domain "${other}"; remove the host from one of the two domains`;
      report([index, 'hosts', nth], ` "${host}" ${state}`);
    }
  }
  return faults;
}

export function findMixedSignIns(settings: Settings, { server }: Config, sites: readonly SiteConfig[]): ConfigFault[] {
  const setting = settings.get('sites');
  const first = new Map<string, number>();
  const fault = (index: number, sentence: string): ConfigFault =>
    faultInside(setting, ['sites', index, 'auth'], `: ${sentence}`);
  // A shelf page without sign-in lists only public sites, so it can share a host with any site.
  const hasGuardedShelf = server.shelf && server.auth.kind !== 'none';
  const withRoot = new Set(sites.filter(({ basePath }) => basePath === '/').flatMap(hostsOf));
  return sites.flatMap((site, index) => {
    const { config, domain } = site;
    for (const host of hostsOf(site)) {
      const other = first.get(host);
      if (other === undefined) first.set(host, index);
      else if (signInOf(config) !== signInOf(sites[other]?.config ?? config)) {
        const sentence = `site "${domain}" and site "${sites[other]?.domain}" have different auth on ${host}, where scripts of one site can read the other site; give one of them a separate host`;
        return [fault(index, sentence)];
      }
    }
    const host = hasGuardedShelf ? hostsOf(site).find((each) => !withRoot.has(each)) : undefined;
    if (host === undefined || signInOf(config) === signInOf({ server })) return [];
    const sentence = `site "${domain}" and the shelf page have different auth on ${host}, where scripts of the site can read the shelf page; give the site a separate host and base path "/", or set server.shelf to false`;
    return [fault(index, sentence)];
  });
}

const hostsOf = ({ hosts }: SiteConfig): readonly string[] =>
  hosts.length === 0 ? ['every other host'] : hosts.map(hostName);

const signInOf = ({ server }: Pick<Config, 'server'>): string => JSON.stringify(server.auth);

type Named = { readonly name: string; readonly path: Path };

const SECRETS = 'cookieFile, bearerFile or headersFile of the source';

const NEEDS = {
  folder: ['path'],
  markdown: ['path'],
  crawl: ['url'],
  command: ['workDir', 'command', 'output'],
} as const;

export function findOrganizationFaults(settings: Settings, config: Config): ConfigFault[] {
  const { organizations, exportApi } = config;
  const ids: Named[] = [];
  const sites: Named[] = [];
  const keys: Named[] = [];
  const faults: ConfigFault[] = [];
  const setting = settings.get('organizations');
  const report = (path: Path, rest: string): void => {
    faults.push(faultInside(setting, ['organizations', ...path], rest));
  };
  for (const [index, organization] of organizations.entries()) {
    ids.push({ name: organization.id.toLowerCase(), path: [index, 'id'] });
    for (const [domain, { hosts, source }] of Object.entries(organization.domains)) {
      const at = [index, 'domains', domain];
      sites.push({ name: domain, path: at });
      for (const [nth, name] of hosts.entries()) sites.push({ name, path: [...at, 'hosts', nth] });
      if (source === null) continue;
      const { kind, url } = source;
      const sentences =
        kind !== 'crawl' ? [] : [exportApi.enabled ? forbiddenHost(config, url) : null, userInLink(url, SECRETS)];
      for (const sentence of sentences) if (sentence !== null) report([...at, 'source', 'url'], ` ${sentence}`);
      for (const [nth, pair] of source.allowAddresses.entries()) {
        const sentence = kind === 'crawl' && exportApi.enabled ? forbiddenPair(config, pair) : null;
        if (sentence !== null) report([...at, 'source', 'allowAddresses', nth], ` ${sentence}`);
      }
      for (const need of NEEDS[kind]) {
        if (source[need] === null || source[need].length === 0)
          report([...at, 'source'], ` has kind ${kind}, which needs ${need}; set ${need}`);
      }
    }
    for (const [nth, { sha256 }] of organization.keys.entries())
      keys.push({ name: sha256, path: [index, 'keys', nth, 'sha256'] });
  }
  for (const [first, second] of [ids, sites, keys].flatMap(repeatsOf)) {
    const firstPointer = pointerOf(['organizations', ...first.path]);
    const place = setting?.places.get(firstPointer);
    const firstKey = `${dottedOf(firstPointer)}${place === undefined ? '' : ` (${place})`}`;
    report(second.path, ` repeats ${firstKey}; remove one of the two`);
  }
  return faults;
}

function repeatsOf(all: readonly Named[]): (readonly [first: Named, second: Named])[] {
  const firstByName = new Map<string, Named>();
  return all.flatMap((named) => {
    const first = firstByName.get(named.name);
    if (first !== undefined) return [[first, named] as const];
    firstByName.set(named.name, named);
    return [];
  });
}
