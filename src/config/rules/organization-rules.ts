import type { ConfigFault } from '../faults.ts';
import type { Config } from '../schema/index.ts';
import { dottedOf, faultInside, type Path, pointerOf, type Settings } from '../setting.ts';
import { forbiddenHost, forbiddenPair, userInLink } from './egress-rules.ts';

interface Named {
  readonly name: string;
  readonly path: Path;
}

/** A crawl signs in by files. */
const SECRETS = 'cookieFile or bearerFile of the source';

const NEEDS = { folder: 'path', markdown: 'path', crawl: 'url' } as const;

/** Ids, keys, domains and hosts that come twice (contract, section 7), and sources without what their kind reads. */
export function findOrganizationFaults(settings: Settings, config: Config): ConfigFault[] {
  const { organizations, exportApi } = config;
  const ids: Named[] = [];
  const sites: Named[] = [];
  const keys: Named[] = [];
  const faults: ConfigFault[] = [];
  const setting = settings.get('organizations');
  const pointerTo = (path: Path): string => pointerOf(['organizations', ...path]);
  const tell = (path: Path, sentence: (key: string) => string): void => {
    faults.push(faultInside(setting, ['organizations', ...path], sentence));
  };
  for (const [index, organization] of organizations.entries()) {
    ids.push({ name: organization.id.toLowerCase(), path: [index, 'id'] });
    for (const [domain, { hosts, source }] of Object.entries(organization.domains)) {
      const at = [index, 'domains', domain];
      sites.push({ name: domain, path: at });
      for (const [nth, name] of hosts.entries()) sites.push({ name, path: [...at, 'hosts', nth] });
      if (source === null) continue;
      const { kind, url } = source;
      const told =
        kind !== 'crawl' ? [] : [exportApi.enabled ? forbiddenHost(config, url) : null, userInLink(url, SECRETS)];
      for (const sentence of told) if (sentence !== null) tell([...at, 'source', 'url'], (key) => `${key} ${sentence}`);
      for (const [nth, pair] of source.allowAddresses.entries()) {
        const sentence = kind === 'crawl' && exportApi.enabled ? forbiddenPair(config, pair) : null;
        if (sentence !== null) tell([...at, 'source', 'allowAddresses', nth], (key) => `${key} ${sentence}`);
      }
      // A kind that is not built needs nothing yet.
      const need = (NEEDS as Partial<Record<string, 'path' | 'url'>>)[source.kind];
      if (need === undefined || source[need] !== null) continue;
      tell([...at, 'source'], (key) => `${key} is of kind ${source.kind}, which needs ${need}; set it`);
    }
    for (const [nth, { sha256 }] of organization.keys.entries()) {
      keys.push({ name: sha256, path: [index, 'keys', nth, 'sha256'] });
    }
  }
  for (const [first, second] of [ids, sites, keys].flatMap(repeatsOf)) {
    const firstPointer = pointerTo(first.path);
    const place = setting?.places.get(firstPointer);
    const told = `${dottedOf(firstPointer)}${place === undefined ? '' : ` (${place})`}`;
    tell(second.path, (key) => `${key} says the same as ${told}; it must be there once`);
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
