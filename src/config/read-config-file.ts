import { resolve } from 'node:path';
import { errnoOf } from '../domain/errors.ts';
import type { ConfigFault } from './faults.ts';
import { readText, stateOf } from './read-text.ts';
import type { Setting } from './setting.ts';

const DEFAULT_NAME = 'config.yaml';

/** A config is a page or two; organizations with thousands of domains fit as well. */
const CONFIG_BYTES_MAX = 1024 ** 2;

export interface ConfigFile {
  /** Absolute path, or null where there is no config file. */
  readonly path: string | null;
  /** The path as it was given: what faults and origins call it. */
  readonly name: string;
  readonly settings: readonly Setting[];
  readonly faults: readonly ConfigFault[];
}

/**
 * The settings of the config file. A file that somebody named must be there; without a name `./config.yaml` is taken
 * where it is there.
 */
export async function readConfigFile(named: string | null, cwd: string): Promise<ConfigFile> {
  const name = named ?? DEFAULT_NAME;
  const path = resolve(cwd, name);
  try {
    const text = await readText(path, CONFIG_BYTES_MAX);
    // Imported here: a daemon that is configured by its environment alone starts without the 28 ms of a YAML parser.
    const { readYaml } = await import('./read-yaml.ts');
    return { path, name, ...readYaml(text, name) };
  } catch (error) {
    if (named === null && errnoOf(error) === 'ENOENT') return { path: null, name, settings: [], faults: [] };
    const message = `Cannot read the config file "${name}": ${stateOf(error)}`;
    const next = 'Name the file with --config or DOCSHELF_CONFIG; "docshelf init" writes a new one.';
    return { path, name, settings: [], faults: [{ code: 'config_invalid', message, key: null, where: null, next }] };
  }
}
