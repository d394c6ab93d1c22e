import { isDeepStrictEqual } from 'node:util';
import type { ConfigFault } from './faults.ts';
import type { Settings } from './setting.ts';
import { type KeyValues, valueAt } from './values.ts';

/** What the config knows and this version does not do yet: keys, or sections for all keys in them. Building something deletes its row. */
const NOT_BUILT: readonly string[] = [
  'server.basePath',
  'server.workers',
  'server.tls',
  'staticExport.minVersion',
  'features.enforce',
  'features.search.origins',
  'features.assistant.origins',
  'features.analytics.origins',
  'features.apiPlayground.origins',
  'search.widget',
  'search.mcp',
  'exportApi.queue.url',
  'exportApi.queue.kind',
];

/** Whether this version does not honour a key. */
export function isNotBuilt(key: string): boolean {
  return NOT_BUILT.some((row) => key === row || key.startsWith(`${row}.`));
}

/** A fault for every setting that asks for what is not built yet: accepted and ignored would be a lie. */
export function findNotBuilt(settings: Settings, values: KeyValues, defaults: KeyValues): ConfigFault[] {
  const faults: ConfigFault[] = [];
  for (const { path, where } of settings.all()) {
    const key = path.join('.');
    if (!isNotBuilt(key) || isDeepStrictEqual(valueAt(values, key), valueAt(defaults, key))) continue;
    const message = `${key} is not built yet in this version of docshelf; remove it`;
    faults.push({ code: 'config_not_built', message, key, where });
  }
  return faults;
}
