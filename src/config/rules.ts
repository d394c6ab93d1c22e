import type { ConfigFault } from './faults.ts';
import { pointerOf, type Settings } from './setting.ts';
import { type KeyValues, valueAt } from './values.ts';

interface Rule {
  /** The keys that it looks at; the fault is told at the first of them that somebody wrote. */
  readonly keys: readonly string[];
  /** The sentence, or null where the rule holds. */
  readonly broken: (values: KeyValues) => string | null;
}

const ANY_HOST: ReadonlySet<unknown> = new Set(['0.0.0.0', '::']);

const RULES: readonly Rule[] = [
  {
    keys: ['staticExport.bundleUrlFile', 'staticExport.bundleUrl'],
    broken: (values) =>
      valueAt(values, 'staticExport.bundleUrl') !== null && valueAt(values, 'staticExport.bundleUrlFile') !== null
        ? 'staticExport.bundleUrl and staticExport.bundleUrlFile are both set; keep one of them'
        : null,
  },
  {
    // The API's port joins when its listener is built: until then nothing of docshelf's is in the way there.
    keys: ['admin.port', 'server.port', 'admin.host', 'server.host'],
    broken: (values) => {
      const port = valueAt(values, 'admin.port');
      // Port 0 takes a free one each time.
      if (port !== valueAt(values, 'server.port') || port === 0) return null;
      const [adminHost, siteHost] = [valueAt(values, 'admin.host'), valueAt(values, 'server.host')];
      const overlap = adminHost === siteHost || ANY_HOST.has(adminHost) || ANY_HOST.has(siteHost);
      return overlap ? `admin.port and server.port are both ${port} on the same address; change one of them` : null;
    },
  },
];

/**
 * What no single key shows: faults between keys that are valid one by one.
 *
 * @param faulty pointers of the settings that have a fault of their own
 */
export function findBrokenRules(settings: Settings, values: KeyValues, faulty: ReadonlySet<string>): ConfigFault[] {
  const faults: ConfigFault[] = [];
  for (const { keys, broken } of RULES) {
    // A key that has a fault of its own stands here with its default, and says nothing.
    if (keys.some((key) => faulty.has(pointerOf(key.split('.'))))) continue;
    const message = broken(values);
    if (message === null) continue;
    const key = keys.find((candidate) => settings.get(candidate) !== undefined) ?? keys[0] ?? null;
    const where = key === null ? null : (settings.get(key)?.where ?? null);
    faults.push({ code: 'config_invalid', message, key, where });
  }
  return faults;
}
