import { resolve } from 'node:path';
import type { ConfigFault } from './faults.ts';
import { readText, stateOf } from './read-text.ts';
import type { Setting, Settings } from './setting.ts';

/** Ten thousand domains with their keys. */
const FILE_BYTES_MAX = 4 * 1024 ** 2;
const KEY = 'organizations';

export interface OrganizationsFile {
  readonly settings: readonly Setting[];
  readonly faults: readonly ConfigFault[];
  /** The file, there or not: a watcher sees the missing one arrive. */
  readonly files: readonly string[];
}

const NOTHING: OrganizationsFile = { settings: [], faults: [], files: [] };

/**
 * The organizations out of a file of their own: YAML with the one key `organizations`, as it would stand in the config. Who
 * hands out keys need not be who may change the rest.
 *
 * @param written what the other sources set
 */
export async function readOrganizationsFile(written: Settings, baseDir: string): Promise<OrganizationsFile> {
  const setting = written.get('organizationsFile');
  // Another value than text is told of where the key is checked.
  if (typeof setting?.value !== 'string') return NOTHING;
  const name = setting.value;
  const tell = (message: string): ConfigFault => {
    return { code: 'config_invalid', message, key: 'organizationsFile', where: setting.where };
  };
  if (written.get(KEY) !== undefined) {
    return { ...NOTHING, faults: [tell('organizations and organizationsFile are both set; keep one of them')] };
  }
  const file = resolve(baseDir, name);
  try {
    const text = await readText(file, FILE_BYTES_MAX);
    const { readYaml } = await import('./read-yaml.ts');
    const { settings, faults } = readYaml(text, name);
    const others = settings.filter(({ path }) => path[0] !== KEY);
    const misplaced = others.map(
      ({ path, where }): ConfigFault => ({
        code: 'config_invalid',
        message: `${path.join('.')} has no place in organizationsFile, which holds the key ${KEY} alone; move it to the config`,
        key: path.join('.'),
        where,
      }),
    );
    return {
      settings: settings.filter(({ path }) => path[0] === KEY),
      faults: [...faults, ...misplaced],
      files: [file],
    };
  } catch (error) {
    const fault = tell(`Cannot use "${name}" as organizationsFile: ${stateOf(error)}`);
    return { settings: [], faults: [fault], files: [file] };
  }
}
