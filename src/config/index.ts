import { dirname } from 'node:path';
import { buildConfig } from './build-config.ts';
import type { LoadedConfig } from './config.ts';
import { ConfigError, type ConfigFault } from './faults.ts';
import { readNamedFiles } from './named-files.ts';
import { findNotBuilt } from './not-built.ts';
import { readOrganizationsFile } from './organizations-file.ts';
import { readConfigFile } from './read-config-file.ts';
import { readEnvironment } from './read-environment.ts';
import { readFlags } from './read-flags.ts';
import { findRepeatedNames } from './repeated-names.ts';
import { findBrokenRules } from './rules.ts';
import { configSchema, listKeys } from './schema-node.ts';
import { Settings } from './setting.ts';
import { checkSourceSecrets } from './source-secrets.ts';
import { findUselessSources } from './useless-sources.ts';
import { validate } from './validate.ts';
import { loadValues, treeOf } from './values.ts';

export type {
  Config,
  FeatureConfig,
  HostedSearchConfig,
  LoadedConfig,
  S3StoreConfig,
  SearchModelConfig,
} from './config.ts';
export { ConfigError, type ConfigFault } from './faults.ts';
export { type PrintedConfig, type PrintedSetting, printConfig } from './print.ts';

export interface LoadOptions {
  /** `--config`; null: `DOCSHELF_CONFIG`, else `./config.yaml` if it is there, else no file. */
  readonly file: string | null;
  readonly env: NodeJS.ProcessEnv;
  /** Dotted key to value, of the highest precedence; undefined values are skipped. */
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly cwd: string;
}

/** The JSON Schema of the config file. */
export function jsonSchema(): object {
  return configSchema;
}

/**
 * Loads the config: file and environment and flags -> settings -> checked -> values -> one frozen Config.
 *
 * Relative paths, from wherever they come, begin at the config file's folder, or at `cwd` where there is no file.
 *
 * @throws ConfigError with all faults of all sources together
 */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const { env, cwd, flags = {} } = options;
  const named = options.file ?? (env.DOCSHELF_CONFIG || null);
  const file = await readConfigFile(named, cwd);
  const baseDir = file.path === null ? cwd : dirname(file.path);

  const environment = await readEnvironment(env, baseDir);
  const written = [...file.settings, ...environment.settings, ...(await readFlags(flags))];
  const organizations = await readOrganizationsFile(new Settings(written), baseDir);
  const all = new Settings([...organizations.settings, ...written]);
  const validation = validate(all);

  // What has a fault of its own is left out of all further checks, so that no fault is told twice.
  const sound = all.without(validation.faulty);
  const values = loadValues(sound, baseDir);
  const namedFiles = await readNamedFiles(sound, values);
  const sourceSecrets = await checkSourceSecrets(sound, values);

  const faults: ConfigFault[] = [
    ...file.faults,
    ...environment.faults,
    ...organizations.faults,
    ...validation.faults,
    ...findBrokenRules(sound, values, validation.faulty),
    ...findRepeatedNames(sound, values),
    ...findUselessSources(sound, values),
    ...findNotBuilt(sound, values, loadValues(new Settings([]), baseDir)),
    ...namedFiles.faults,
    ...sourceSecrets.faults,
  ];
  const watchedFiles = [
    ...new Set([
      ...(file.path === null ? [] : [file.path]),
      ...environment.files,
      ...organizations.files,
      ...namedFiles.files,
      ...sourceSecrets.files,
    ]),
  ];
  if (faults.length > 0) throw new ConfigError(file.path === null ? null : file.name, faults, watchedFiles);

  const origins = new Map(listKeys().map(({ path }) => [path.join('.'), all.get(path.join('.'))?.where ?? 'default']));
  const preloadIsDefault = origins.get('staticExport.preload') === 'default';
  const config = buildConfig(treeOf(values), { ...namedFiles, preloadIsDefault });
  return { config, file: file.path, origins, values, watchedFiles };
}
