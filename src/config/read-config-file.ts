import { resolve } from 'node:path';
import { errnoOf, stateOf } from '../domain/errors.ts';
import { faultOf } from './faults.ts';
import { readText } from './read-text.ts';
import type { FileReading, Reading, Settings } from './setting.ts';

const DEFAULT_NAME = 'config.yaml';

/** Organizations with thousands of domains fit as well. */
const CONFIG_BYTES_MAX = 1024 ** 2;

export interface ConfigFile extends Reading {
  readonly path: string | null;
  /** As it was given: what faults and origins call it. */
  readonly name: string;
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
    return { path, name, settings: [], faults: [{ ...faultOf(message, null, null), next }] };
  }
}

/** Ten thousand domains with their keys. */
const ORGANIZATIONS_BYTES_MAX = 4 * 1024 ** 2;
const ORGANIZATIONS = 'organizations';

/** YAML with the one key `organizations`: who hands out keys need not be who may change the rest. */
export async function readOrganizationsFile(written: Settings, baseDir: string): Promise<FileReading> {
  const setting = written.get('organizationsFile');
  // Another value than text is a fault of the key's own check.
  if (typeof setting?.value !== 'string') return { settings: [], faults: [], files: [] };
  const name = setting.value;
  const refused = (message: string, files: readonly string[]): FileReading => {
    return { settings: [], faults: [faultOf(message, 'organizationsFile', setting.where)], files };
  };
  if (written.get(ORGANIZATIONS) !== undefined) {
    return refused('organizations and organizationsFile are both set; keep one of them', []);
  }
  const file = resolve(baseDir, name);
  try {
    const text = await readText(file, ORGANIZATIONS_BYTES_MAX);
    const { readYaml } = await import('./read-yaml.ts');
    const { settings, faults } = readYaml(text, name);
    const { own = [], others = [] } = Object.groupBy(settings, ({ path }) =>
      path[0] === ORGANIZATIONS ? 'own' : 'others',
    );
    const misplaced = others.map(({ path, where }) => {
      const key = path.join('.');
      const state = `has no place in organizationsFile, which holds the key ${ORGANIZATIONS} alone; move it to the config`;
      return faultOf(`${key} ${state}`, key, where);
    });
    return { settings: own, faults: [...faults, ...misplaced], files: [file] };
  } catch (error) {
    return refused(`Cannot use "${name}" as organizationsFile: ${stateOf(error)}`, [file]);
  }
}
