import type { ConfigFault } from './faults.ts';
import type { Values } from './schema/index.ts';
import { dottedOf, pointerOf, type Settings } from './setting.ts';
import { type KeyValues, valueAt } from './values.ts';

/** A name as it stands in the list of organizations. */
interface Named {
  /** In lower case: names are told apart without case. */
  readonly name: string;
  readonly path: readonly (string | number)[];
}

/**
 * What must be one of its kind over all organizations and is there twice: their ids (each has a file of its own in the data
 * folder), the domains and hosts of their sites, which are one set of names, and their keys, each of which belongs to one
 * organization (contract, section 7). The fault stands at the second place and names both.
 */
export function findRepeatedNames(settings: Settings, values: KeyValues): ConfigFault[] {
  const organizations = valueAt(values, 'organizations') as Values['organizations'];
  const ids: Named[] = [];
  const sites: Named[] = [];
  const keys: Named[] = [];
  for (const [index, organization] of organizations.entries()) {
    ids.push({ name: organization.id.toLowerCase(), path: [index, 'id'] });
    for (const [domain, { hosts }] of Object.entries(organization.domains)) {
      sites.push({ name: domain, path: [index, 'domains', domain] });
      for (const [at, host] of hosts.entries())
        sites.push({ name: host.toLowerCase(), path: [index, 'domains', domain, 'hosts', at] });
    }
    for (const [at, key] of organization.keys.entries())
      keys.push({ name: key.sha256.toLowerCase(), path: [index, 'keys', at, 'sha256'] });
  }
  const setting = settings.get('organizations');
  return [...repeatsOf(ids), ...repeatsOf(sites), ...repeatsOf(keys)].map(([first, second]) => {
    const [firstPointer, pointer] = [first, second].map(({ path }) => pointerOf(['organizations', ...path])) as [
      string,
      string,
    ];
    const [firstKey, key] = [dottedOf(firstPointer), dottedOf(pointer)];
    const firstPlace = setting?.places.get(firstPointer);
    const told = firstPlace === undefined ? firstKey : `${firstKey} (${firstPlace})`;
    const message = `${key} says the same as ${told}; it must be there once`;
    return { code: 'config_invalid', message, key, where: setting?.places.get(pointer) ?? setting?.where ?? null };
  });
}

/** Each name that was there before, with its first place. */
function repeatsOf(all: readonly Named[]): (readonly [first: Named, second: Named])[] {
  const firstByName = new Map<string, Named>();
  const repeats: (readonly [Named, Named])[] = [];
  for (const named of all) {
    const first = firstByName.get(named.name);
    if (first === undefined) firstByName.set(named.name, named);
    else repeats.push([first, named]);
  }
  return repeats;
}
