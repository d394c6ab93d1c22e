import { isDeepStrictEqual } from 'node:util';
import type { ConfigFault } from './faults.ts';
import type { Settings } from './setting.ts';
import { type KeyValues, valueAt } from './values.ts';

interface NotBuilt {
  /** A key, or a section for all keys in it. */
  readonly key: string;
  /** Whether a value asks for it; without this, every value that is not the default does. */
  readonly asks?: (value: unknown) => boolean;
}

/** What the config knows and this version does not do yet. Building something deletes its row. */
const NOT_BUILT: readonly NotBuilt[] = [
  { key: 'server.basePath' },
  { key: 'server.workers' },
  { key: 'server.tls' },
  { key: 'staticExport.signature' },
  { key: 'staticExport.minVersion' },
  { key: 'staticExport.renew' },
  { key: 'network.allowPrivate' },
  { key: 'features.enforce' },
  { key: 'features.search.origins' },
  { key: 'features.search.discoveryUrl' },
  { key: 'features.search.keyFile' },
  { key: 'features.assistant.origins' },
  { key: 'features.analytics.origins' },
  { key: 'features.apiPlayground.origins' },
  // On by default, and the engine comes later: only who asks for it by name must hear that it is not there.
  { key: 'search.enabled', asks: (value) => value === true },
  { key: 'search.widget' },
  { key: 'search.mcp' },
  { key: 'search.model' },
  { key: 'search.keys' },
  { key: 'exportApi' },
  { key: 'organizations' },
];

/** Keys and sections that this version does not honour, for the reference. */
export const NOT_BUILT_KEYS: readonly string[] = NOT_BUILT.map(({ key }) => key);

/** A fault for every setting that asks for what is not built yet: accepted and ignored would be a lie. */
export function findNotBuilt(settings: Settings, values: KeyValues, defaults: KeyValues): ConfigFault[] {
  const faults: ConfigFault[] = [];
  for (const { path, where } of settings.all()) {
    const key = path.join('.');
    const row = NOT_BUILT.find((candidate) => key === candidate.key || key.startsWith(`${candidate.key}.`));
    if (row === undefined) continue;
    const value = valueAt(values, key);
    const asked = row.asks?.(value) ?? !isDeepStrictEqual(value, valueAt(defaults, key));
    if (!asked) continue;
    const message = `${key} is not built yet in this version of docshelf; remove it`;
    faults.push({ code: 'config_not_built', message, key, where });
  }
  return faults;
}
