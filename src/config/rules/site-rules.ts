import { hostName, normalBasePath } from '../../domain/deployment.ts';
import { type ConfigFault, faultOf } from '../faults.ts';
import type { Config } from '../schema/index.ts';
import { faultInside, type Path, type Settings } from '../setting.ts';

/** What only the single form has: with `sites`, each entry has its own. */
const SINGLE_FORM: readonly string[] = ['staticExport', 'deployment.domain', 'server.basePath'];

/**
 * Contract, section 2.1: the two forms side by side, domains and places that two sites claim, and names that lead to
 * one domain here and to another in `organizations`.
 */
export function findSiteFaults(settings: Settings, { sites, organizations }: Config): ConfigFault[] {
  if (sites.length === 0) return [];
  const faults: ConfigFault[] = [];
  const setting = settings.get('sites');
  const tell = (path: Path, sentence: (key: string) => string): void => {
    faults.push(faultInside(setting, ['sites', ...path], sentence));
  };

  for (const { path, value, where } of settings.all()) {
    const key = path.join('.');
    if (!SINGLE_FORM.some((name) => key === name || key.startsWith(`${name}.`))) continue;
    if (key === 'server.basePath' && value === '/') continue;
    faults.push(
      faultOf(`${key} stands beside sites, where each entry has its own; move it into the entry`, key, where),
    );
  }

  const domains = new Map<string, number>();
  const claims = new Map<string, number>();
  const domainOf = (index: number): string => sites[index]?.domain ?? '';
  for (const [index, { domain, hosts, basePath }] of sites.entries()) {
    const first = domains.get(domain);
    if (first === undefined) domains.set(domain, index);
    else tell([index, 'domain'], (key) => `${key} is "${domain}", as sites[${first}].domain is; a domain is one site`);
    const path = normalBasePath(basePath);
    for (const [nth, host] of (hosts.length === 0 ? [null] : hosts).entries()) {
      const place = host === null ? `every other host under ${path}` : `${hostName(host)}${path}`;
      const other = claims.get(place);
      if (other === undefined) claims.set(place, index);
      else {
        const at = host === null ? [index, 'basePath'] : [index, 'hosts', nth];
        const told = `site "${domain}" claims ${place}, as site "${domainOf(other)}" (sites[${other}]) does`;
        tell(at, (key) => `${key}: ${told}; give one of them another host or base path`);
      }
    }
  }
  for (const [index, { domain }] of sites.entries()) {
    if (organizations.length === 0 || organizations.some((each) => Object.hasOwn(each.domains, domain))) continue;
    tell([index, 'domain'], (key) => `${key} "${domain}" belongs to no organization; name it in one's domains`);
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
      tell([index, 'hosts', nth], (key) => `${key} "${host}" leads to domain "${other}" as well; a name leads to one`);
    }
  }
  return faults;
}
