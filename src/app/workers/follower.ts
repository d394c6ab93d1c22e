import type { KeptFacts, ReleaseFacts } from '../../deploy/releases/release-tables.ts';
import type { KeptRelease, ReleaseView } from '../../domain/release.ts';
import type { SwapFollower } from '../sites/site-switch.ts';
import type { SiteEntry } from '../sites/sites.ts';
import type { ServedPlaces, SiteOrder } from './orders.ts';
import type { Workers } from './workers.ts';

/** What becomes active is served by the other processes, too. */
export function followerOf(workers: Workers, key: string): SwapFollower {
  return {
    prepare: ({ active, older }, form) => workers.prepare(key, orderOf(active, older, form)),
    follow: (served, form) => workers.follow(key, served && orderOf(served.active, served.older, form)),
  };
}

function orderOf(active: ReleaseView, older: readonly KeptRelease[], form: SiteOrder['form']): SiteOrder {
  const { files: _, ...release }: ReleaseView = active;
  return { release: release satisfies ReleaseFacts, older: older.map(factsOf), form };
}

function factsOf({ digest, createdAt, servedAt, builtFor, siteDir }: KeptRelease): KeptFacts {
  return { digest, createdAt, servedAt, builtFor, siteDir };
}

export function placesOf(entries: readonly SiteEntry[], isList: boolean): Omit<ServedPlaces, 'stamp'> {
  const places = entries.map(({ domain, hosts, basePath, site }) => {
    return { domain, hosts, basePath, isGuarded: site.signInKey !== null, hasMcp: site.hasMcp };
  });
  // The daemon's own word, in the config of each of its sites.
  return { isList, places, isLogged: entries.every(({ site }) => site.config.config.log.access) };
}
