import { resolve } from 'node:path';
import { errnoOf, stateOf } from '../domain/errors.ts';
import type { ConfigFault } from './faults.ts';
import { readText } from './read-text.ts';
import type { Setting, Settings } from './setting.ts';

const DEFAULT_NAME = 'config.yaml';

/** Organizations with thousands of domains fit as well. */
const CONFIG_BYTES_MAX = 1024 ** 2;

export interface ConfigFile {
  /** Absolute; null where there is none. */
  readonly path: string | null;
  /** As it was given: what faults and origins call it. */
  readonly name: string;
  readonly settings: readonly Setting[];
  readonly faults: readonly ConfigFault[];
}

/** A named file must be there; without a name `./config.yaml` is taken where it is. */
export async function readConfigFile(named: string | null, cwd: string): Promise<ConfigFile> {
  const name = named ?? DEFAULT_NAME;
  const path = resolve(cwd, name);
  try {
    const text = await readText(path, CONFIG_BYTES_MAX);
    // A YAML parser costs 28 ms, which a daemon without a file is spared.
    const { readYaml } = await import('./read-yaml.ts');
    return { path, name, ...readYaml(text, name) };
  } catch (error) {
    if (named === null && errnoOf(error) === 'ENOENT') return { path: null, name, settings: [], faults: [] };
    const message = `Cannot read the config file "${name}": ${stateOf(error)}`;
    const next = 'Name the file with --config or DOCSHELF_CONFIG; "docshelf init" writes a new one.';
    return { path, name, settings: [], faults: [{ code: 'config_invalid', message, key: null, where: null, next }] };
  }
}

/** Ten thousand domains with their keys. */
const ORGANIZATIONS_BYTES_MAX = 4 * 1024 ** 2;
const ORGANIZATIONS = 'organizations';

export interface OrganizationsFile {
  readonly settings: readonly Setting[];
  readonly faults: readonly ConfigFault[];
  /** There or not: a watcher sees the missing one arrive. */
  readonly files: readonly string[];
}

const NOTHING: OrganizationsFile = { settings: [], faults: [], files: [] };

/**
 * YAML with the one key `organizations`: who hands out keys need not be who may change the rest.
 *
 * @param written settings of the other sources
 */
export async function readOrganizationsFile(written: Settings, baseDir: string): Promise<OrganizationsFile> {
  const setting = written.get('organizationsFile');
  // Another value than text is a fault of the key's own check.
  if (typeof setting?.value !== 'string') return NOTHING;
  const name = setting.value;
  const tell = (message: string): ConfigFault => {
    return { code: 'config_invalid', message, key: 'organizationsFile', where: setting.where };
  };
  if (written.get(ORGANIZATIONS) !== undefined) {
    return { ...NOTHING, faults: [tell('organizations and organizationsFile are both set; keep one of them')] };
  }
  const file = resolve(baseDir, name);
  try {
    const text = await readText(file, ORGANIZATIONS_BYTES_MAX);
    const { readYaml } = await import('./read-yaml.ts');
    const { settings, faults } = readYaml(text, name);
    const others = settings.filter(({ path }) => path[0] !== ORGANIZATIONS);
    const misplaced = others.map(
      ({ path, where }): ConfigFault => ({
        code: 'config_invalid',
        message: `${path.join('.')} has no place in organizationsFile, which holds the key ${ORGANIZATIONS} alone; move it to the config`,
        key: path.join('.'),
        where,
      }),
    );
    return {
      settings: settings.filter(({ path }) => path[0] === ORGANIZATIONS),
      faults: [...faults, ...misplaced],
      files: [file],
    };
  } catch (error) {
    const fault = tell(`Cannot use "${name}" as organizationsFile: ${stateOf(error)}`);
    return { settings: [], faults: [fault], files: [file] };
  }
}
