import {
  ConfigError,
  type ConfigFault,
  type LoadedConfig,
  type LoadOptions,
  loadConfig,
} from '../../src/config/index.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { writeFiles } from '../helpers/write-files.ts';

/** Creates a folder with the files. */
export const folderWith = (files: Record<string, string | Uint8Array> = {}): Promise<string> =>
  writeFiles(newFolder(), files);

interface Rest extends Partial<Pick<LoadOptions, 'env' | 'flags' | 'lastGood'>> {
  /** Files next to the config. */
  readonly files?: Record<string, string | Uint8Array>;
}

/** Writes the text to `config.yaml` in a new folder, and loads this config. */
export async function load(yaml: string, { files, ...rest }: Rest = {}): Promise<LoadedConfig & { cwd: string }> {
  const cwd = await folderWith({ 'config.yaml': yaml, ...files });
  return { ...(await loadConfig({ file: null, env: {}, cwd, ...rest })), cwd };
}

export async function errorOf(loading: Promise<LoadedConfig>): Promise<ConfigError> {
  const error = await loading.then(
    () => new Error('it loaded'),
    (thrown: unknown) => thrown,
  );
  if (error instanceof ConfigError) return error;
  throw error;
}

export async function faultsOf(yaml: string, rest: Rest = {}): Promise<readonly ConfigFault[]> {
  return (await errorOf(load(yaml, rest))).faults;
}

/** Loads an invalid config. @returns its errors in order, each as `code key place` */
export async function briefsOf(yaml: string, rest: Rest = {}): Promise<string[]> {
  return (await faultsOf(yaml, rest)).map(({ code, key, where }) => `${code} ${key} ${where}`);
}
