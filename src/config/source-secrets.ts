import type { ConfigFault } from './faults.ts';
import { readText, stateOf } from './read-text.ts';
import type { Values } from './schema/index.ts';
import { dottedOf, pointerOf, type Settings } from './setting.ts';
import { type KeyValues, valueAt } from './values.ts';

const SECRET_KEYS = ['cookieFile', 'bearerFile'] as const;
/** What a header may be with most servers. */
const SECRET_BYTES_MAX = 16 * 1024;
const VISIBLE = /^[\x20-\x7e]+$/;

export interface SourceSecrets {
  readonly faults: readonly ConfigFault[];
  /** Absolute paths of the files, whether they are there or not: a watcher sees the missing one arrive. */
  readonly files: readonly string[];
}

/** Looks at the files with secrets that sources of sites name. A crawl reads them when it begins. */
export async function checkSourceSecrets(settings: Settings, values: KeyValues): Promise<SourceSecrets> {
  const setting = settings.get('organizations');
  const faults: ConfigFault[] = [];
  const files: string[] = [];
  for (const [index, { domains }] of (valueAt(values, 'organizations') as Values['organizations']).entries()) {
    for (const [domain, { source }] of Object.entries(domains)) {
      for (const name of SECRET_KEYS) {
        const file = source?.[name];
        if (file === undefined) continue;
        files.push(file);
        const state = await stateOfSecret(file);
        if (state === null) continue;
        const pointer = pointerOf(['organizations', index, 'domains', domain, 'source', name]);
        const key = dottedOf(pointer);
        const where = setting?.places.get(pointer) ?? setting?.where ?? null;
        faults.push({ code: 'config_invalid', message: `Cannot use "${file}" as ${key}: ${state}`, key, where });
      }
    }
  }
  return { faults, files };
}

/** What is wrong with a file, or null. */
async function stateOfSecret(file: string): Promise<string | null> {
  try {
    const text = (await readText(file, SECRET_BYTES_MAX)).trim();
    if (text === '') return 'it is empty';
    return VISIBLE.test(text) ? null : 'it does not hold one line of visible ASCII characters';
  } catch (error) {
    return stateOf(error);
  }
}
