import { dirname } from 'node:path';
import { normalBasePath } from '../domain/deployment.ts';
import { isSameData, linkWithoutSecrets, Secret } from '../domain/secret.ts';
import { decode, deepFreeze, valueAt } from './decode.ts';
import { findOrganizationFaults, type SiteConfig } from './entry-rules.ts';
import { NamedFile, NamedFolder, readConfigFile, readNamedFiles, readOrganizationsFile } from './read-config-file.ts';
import { readEnvironment } from './read-environment.ts';
import { findBrokenRules, findTlsFaults } from './rules.ts';
import type { Config } from './schema/index.ts';
import { CONFIG_KEYS, childOf, mapOf, nameOf, RESTART_KEYS, type SchemaNode } from './schema-node.ts';
import { ConfigError, type ConfigFault, type Setting, Settings, settingsOf } from './setting.ts';
import { decodeSites, type LoadedConfig } from './sites.ts';
import { validate } from './validate.ts';

export { valueAt } from './decode.ts';
export type { SiteConfig } from './entry-rules.ts';
export type { Config } from './schema/index.ts';
export { configSchema } from './schema-node.ts';
export { ConfigError, type ConfigFault, emptyConfigError } from './setting.ts';
export type { LoadedConfig } from './sites.ts';

export interface LoadOptions {
  /** Value of `--config`. Null uses `DOCSHELF_CONFIG`, else `./config.yaml` if it exists, else no file. */
  readonly file: string | null;
  readonly env: NodeJS.ProcessEnv;
  /** Values that the calling command sets, by dotted key. They override the config file and the environment. */
  readonly flags?: Readonly<Record<string, unknown>>;
  readonly cwd: string;
  /** Last valid text of the config file. If set, `loadConfig` uses this text instead of the file, and ignores all errors. */
  readonly lastGood?: string;
}

/** Resolves relative paths from the config file's folder, or from `cwd` without a file. @throws ConfigError with all errors */
export async function loadConfig(options: LoadOptions): Promise<LoadedConfig> {
  const { env, cwd, flags = {}, lastGood } = options;
  const named = options.file ?? (env.DOCSHELF_CONFIG || null);
  const file = await readConfigFile(named, cwd, lastGood);
  const baseDir = file.path === null ? cwd : dirname(file.path);

  const environment = await readEnvironment(env, baseDir);
  const written = [...file.settings, ...environment.settings, ...settingsOfFlags(flags)];
  const organizations = await readOrganizationsFile(new Settings(written), baseDir);
  const all = new Settings([...organizations.settings, ...written]);
  // Skip settings with an error in further checks, so that each error is reported only once.
  const { sound, ...validation } = validate(all);
  const { config, named: files } = decode(sound, baseDir);
  const list = config.sites.length > 0 ? decodeSites(sound, config, baseDir) : null;
  const ofDaemon = files.filter(({ pointer }) => !pointer.startsWith('/sites/'));
  const namedFiles = await readNamedFiles([...ofDaemon, ...(list?.named ?? [])]);

  const faults: ConfigFault[] = [
    ...file.faults,
    ...environment.faults,
    ...organizations.faults,
    ...validation.faults,
    ...findBrokenRules(sound, config, validation.faulty),
    ...(config.organizations.length > 0 ? findOrganizationFaults(sound, config) : []),
    ...findTlsFaults(sound, config),
    ...(list?.findFaults() ?? []),
    ...namedFiles.faults,
  ];
  const watchedFiles = [
    ...new Set([
      ...(file.path === null ? [] : [file.path]),
      ...environment.files,
      ...organizations.files,
      ...namedFiles.files,
    ]),
  ];
  if (faults.length > 0 && lastGood === undefined)
    throw new ConfigError(file.path === null ? null : file.name, faults, watchedFiles, config.storage.dir);

  return {
    config: deepFreeze(config),
    sites: deepFreeze(list?.sites ?? [singleSite(config)]),
    file: file.path,
    text: file.text === null ? null : new Secret(file.text),
    written: new Set([...file.written, ...organizations.written]),
    origins: new Map(all.all().map(({ path, where }) => [path.join('.'), where])),
    watchedFiles,
  };
}

function singleSite(config: Config): SiteConfig {
  const basePath = normalBasePath(config.server.basePath);
  return { domain: config.deployment.domain, title: null, hosts: [], basePath, config };
}

function settingsOfFlags(flags: Readonly<Record<string, unknown>>): Setting[] {
  const source = { where: 'flag', places: new Map<string, string>() };
  return Object.entries(flags).flatMap(([key, value]) => settingsOf(value, source, key.split('.')));
}

export function isReduced(before: LoadedConfig, after: LoadedConfig): boolean {
  return !before.written.isSubsetOf(after.written) || !servedSites(before).isSubsetOf(servedSites(after));
}

function servedSites({ config: { sites: listed }, sites }: LoadedConfig): ReadonlySet<string | null> {
  const served = new Set<string | null>();
  for (const { config, domain } of sites)
    if (config.staticExport.enabled) served.add(listed.length === 0 ? null : domain);
  return served;
}

export function pendingRestart(running: Config, wanted: Config): string[] {
  return RESTART_KEYS.filter(({ path, schema }) => {
    const [before, after] = [valueAt(running, path), valueAt(wanted, path)];
    if (schema['x-restart'] === 'presence') return (before === null) !== (after === null);
    return !isSameData(before, after);
  }).map(({ path }) => path.join('.'));
}

export function printConfig({ config, file, origins }: LoadedConfig) {
  const settings = CONFIG_KEYS.map(({ path, schema }) => {
    const key = path.join('.');
    const value = publicValue(valueAt(config, path), schema);
    return [key, { value, origin: origins.get(key) ?? 'default' }] as const;
  });
  return { file, settings: Object.fromEntries(settings) };
}

function publicValue(value: unknown, schema: SchemaNode): unknown {
  // Print only the host and path of a link, because its user, password and query can be secret.
  if (value instanceof Secret) return schema['x-shown'] === 'link' ? linkWithoutSecrets(value.reveal()) : `${value}`;
  if (Array.isArray(value)) return value.map((item) => publicValue(item, schema.items ?? {}));
  if (value instanceof NamedFile || value instanceof NamedFolder) return value.toJSON();
  if (typeof value !== 'object' || value === null) return value;
  const { properties } = mapOf(schema);
  const keys = properties === undefined ? Object.keys(value) : Object.keys(properties);
  const shown = keys.flatMap((key) => {
    const child = childOf(schema, key) ?? {};
    const inner = (value as Record<string, unknown>)[nameOf(key, child)];
    return inner === null ? [] : [[key, publicValue(inner, child)]];
  });
  return Object.fromEntries(shown);
}
