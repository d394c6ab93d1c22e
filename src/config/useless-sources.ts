import type { ConfigFault } from './faults.ts';
import type { Values } from './schema/index.ts';
import { dottedOf, pointerOf, type Settings } from './setting.ts';
import { type KeyValues, valueAt } from './values.ts';

/** What each kind of source cannot do without. */
const NEEDS = { folder: 'path', markdown: 'path', crawl: 'url' } as const;

/** Sources of sites that lack what their kind reads. */
export function findUselessSources(settings: Settings, values: KeyValues): ConfigFault[] {
  const setting = settings.get('organizations');
  const faults: ConfigFault[] = [];
  for (const [index, { domains }] of (valueAt(values, 'organizations') as Values['organizations']).entries()) {
    for (const [domain, { source }] of Object.entries(domains)) {
      if (source === undefined || source[NEEDS[source.kind]] !== undefined) continue;
      const pointer = pointerOf(['organizations', index, 'domains', domain, 'source']);
      const key = dottedOf(pointer);
      const message = `${key} is of kind ${source.kind}, which needs ${NEEDS[source.kind]}; set it`;
      faults.push({
        code: 'config_invalid',
        message,
        key,
        where: setting?.places.get(pointer) ?? setting?.where ?? null,
      });
    }
  }
  return faults;
}
