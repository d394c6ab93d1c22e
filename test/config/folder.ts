import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  ConfigError,
  type ConfigFault,
  type LoadedConfig,
  type LoadOptions,
  loadConfig,
} from '../../src/config/index.ts';
import { writeFiles } from '../helpers/write-files.ts';

/** Creates a folder with the files. The end of the test removes the folder. */
export async function folderWith(files: Record<string, string | Uint8Array> = {}): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'docshelf-config-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return writeFiles(folder, files);
}

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
