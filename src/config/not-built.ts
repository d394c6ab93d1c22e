import { isDeepStrictEqual } from 'node:util';
import type { ConfigFault } from './faults.ts';
import type { Values } from './schema/index.ts';
import { dottedOf, pointerOf, type Settings } from './setting.ts';
import { type KeyValues, valueAt } from './values.ts';

interface NotBuilt {
  /** A key, or a section for all keys in it. */
  readonly key: string;
  /** Where only a part inside the value is not built; without this, every value that is not the default asks for it. */
  readonly part?: {
    readonly name: string;
    /** Where a value has it, as paths from the value. */
    readonly find: (value: unknown) => readonly (readonly (string | number)[])[];
  };
}

/** What the config knows and this version does not do yet. Building something deletes its row. */
const NOT_BUILT: readonly NotBuilt[] = [
  { key: 'server.basePath' },
  { key: 'server.workers' },
  { key: 'server.tls' },
  { key: 'staticExport.minVersion' },
  { key: 'features.enforce' },
  { key: 'features.search.origins' },
  { key: 'features.assistant.origins' },
  { key: 'features.analytics.origins' },
  { key: 'features.apiPlayground.origins' },
  { key: 'search.widget' },
  { key: 'search.mcp' },
  { key: 'exportApi.queue.url' },
  { key: 'exportApi.queue.kind' },
  {
    key: 'organizations',
    part: { name: 'render: chromium of a source', find: (value) => renderedIn(value as Values['organizations']) },
  },
];

const rowOf = (key: string): NotBuilt | undefined =>
  NOT_BUILT.find((row) => key === row.key || key.startsWith(`${row.key}.`));

/** What the reference says of a key that this version does not honour, or not all of; null of any other. */
export function notBuiltNote(key: string): string | null {
  const row = rowOf(key);
  if (row === undefined) return null;
  return row.part === undefined ? 'Not built yet in this version.' : `Not built yet in this version: ${row.part.name}.`;
}

/** Rendering comes later. */
function renderedIn(organizations: Values['organizations']): (string | number)[][] {
  return organizations.flatMap(({ domains }, index) =>
    Object.entries(domains)
      .filter(([, site]) => site.source?.render === 'chromium')
      .map(([domain]) => [index, 'domains', domain, 'source', 'render']),
  );
}

/** A fault for every setting that asks for what is not built yet: accepted and ignored would be a lie. */
export function findNotBuilt(settings: Settings, values: KeyValues, defaults: KeyValues): ConfigFault[] {
  const faults: ConfigFault[] = [];
  const tell = (key: string, where: string): void => {
    const message = `${key} is not built yet in this version of docshelf; remove it`;
    faults.push({ code: 'config_not_built', message, key, where });
  };
  for (const { path, where, places } of settings.all()) {
    const key = path.join('.');
    const row = rowOf(key);
    if (row === undefined) continue;
    const value = valueAt(values, key);
    if (row.part !== undefined) {
      const pointers = row.part.find(value).map((part) => pointerOf([...path, ...part]));
      for (const pointer of pointers) tell(dottedOf(pointer), places.get(pointer) ?? where);
    } else if (!isDeepStrictEqual(value, valueAt(defaults, key))) {
      tell(key, where);
    }
  }
  return faults;
}
