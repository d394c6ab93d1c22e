import { lstat, readFile, realpath } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import {
  type Config,
  ConfigError,
  emptyConfigError,
  type LoadedConfig,
  type LoadOptions,
  loadConfig,
  type SiteConfig,
} from '../config/index.ts';
import { type DaemonMark, runningDaemons } from '../deploy/daemons.ts';
import { dataPaths, expectedDomain, folderName } from '../deploy/releases/data-folder.ts';
import { chooseSite, DEFAULT_DOMAIN } from '../domain/deployment.ts';
import { FOLDER_HEADER, LAST_GOOD_PATH } from '../http/admin/operations.ts';
import { askSocket } from '../net/daemon-request.ts';
import type { CommonOptions, SiteChoice } from './command.ts';
import { note } from './output.ts';

export interface ChosenSite {
  /** Config that a daemon with only this site would have. */
  readonly config: Config;
  readonly domain: string | null;
}

/**
 * Loads the config, without a fallback to the config of a running daemon.
 * @throws ConfigError with every error of the file and the environment
 */
export const loadStrictly = (options: CommonOptions): Promise<LoadedConfig> => loadConfig(sourcesOf(options));

/**
 * Loads the config. If its file is invalid, empty or missing, uses the config of a running daemon that was started with this
 * file.
 * @throws ConfigError
 */
export async function loadOrLastGood(options: CommonOptions): Promise<LoadedConfig> {
  const sources = sourcesOf(options);
  try {
    const loaded = await loadConfig(sources);
    if (loaded.written.size > 0) return loaded;
    const { file, watchedFiles, config } = loaded;
    return (await lastGoodConfig(sources, emptyConfigError(file, watchedFiles), config.storage.dir)) ?? loaded;
  } catch (error) {
    const lastGood = error instanceof ConfigError ? await lastGoodConfig(sources, error, error.storageDir) : null;
    if (lastGood === null) throw error;
    return lastGood;
  }
}

export function sourcesOf({ config }: CommonOptions): LoadOptions {
  return { file: config ?? null, env: process.env, cwd: process.cwd() };
}

export const loadSite = async (options: SiteChoice): Promise<ChosenSite> =>
  chosenSite(await loadOrLastGood(options), options);

export async function chosenSite(loaded: LoadedConfig, options: SiteChoice): Promise<ChosenSite> {
  const { config, sites } = loaded;
  const { site = null, adminUrl } = options;
  if (adminUrl !== undefined) {
    // Accept a site that this config does not contain, because a daemon on another machine has its own config.
    return { config: sites.find(({ domain }) => domain === site)?.config ?? config, domain: site };
  }
  const { config: chosen, domain } = chooseSite(await namedSites(loaded), site, 'the config');
  return { config: chosen, domain: config.sites.length > 0 ? domain : site };
}

export async function namedSites({ config, sites }: LoadedConfig): Promise<(SiteConfig & { domain: string })[]> {
  const { dir } = config.storage;
  const named = sites.map(async (site) => {
    const domain = site.domain ?? (await expectedDomain(dataPaths(dir), null)) ?? DEFAULT_DOMAIN;
    return { ...site, domain };
  });
  return Promise.all(named);
}

/**
 * If the config file is invalid, prints its error, and returns the config of a running daemon on this host that uses the file.
 * Null if no such daemon runs.
 */
async function lastGoodConfig(sources: LoadOptions, fault: ConfigError, storageDir: string | null) {
  const { file, env, cwd } = sources;
  const config = await canonicalPath(resolve(cwd, file ?? (env.DOCSHELF_CONFIG || 'config.yaml')));
  for (const dir of new Set([...(storageDir === null ? [] : [storageDir]), ...(await foldersWithSockets())])) {
    for (const mark of await runningDaemons(dataPaths(dir)).catch(() => [])) {
      const followsFile = mark.config !== null && (await canonicalPath(mark.config)) === config;
      if (!followsFile || mark.owner.host !== hostname()) continue;
      const loaded = await requestConfig(mark, dir, sources);
      if (loaded === null) continue;
      note(`docshelf: warning: ${fault.message}`);
      note(`docshelf: warning: the command uses the last good config of the daemon ${mark.owner.pid} on "${dir}".`);
      return loaded;
    }
  }
  return null;
}

const RESPONSE_MS_MAX = 3_000;

async function requestConfig({ socket, folder }: DaemonMark, dir: string, sources: LoadOptions) {
  if (socket === null) return null;
  const headers = folder === null ? {} : { [FOLDER_HEADER]: folderName(folder) };
  const response = await askSocket(socket, LAST_GOOD_PATH, headers, AbortSignal.timeout(RESPONSE_MS_MAX));
  if (response?.ok !== true) return null;
  const { text } = (await response.json()) as { readonly text: string | null };
  if (text === null) return null;
  const loaded = await loadConfig({ ...sources, lastGood: text, flags: { 'storage.dir': dir } });
  return loaded.written.size === 0 ? null : loaded;
}

/**
 * Resolves links in the path of the config's folder. Keeps the file name, because in a ConfigMap the file is a link whose target
 * changes.
 */
const canonicalPath = async (file: string): Promise<string> =>
  join(await realpath(dirname(file)).catch(() => dirname(file)), basename(file));

const SOCKET = / (\/.*)\/daemons\/[0-9a-f]{16}\.sock$/gm;

/** Data folders with a running daemon of this user. Uses Linux's list of sockets, because an invalid file may not name its folder. */
async function foldersWithSockets(): Promise<string[]> {
  const listed = await readFile('/proc/net/unix', 'utf8').catch(() => '');
  const folders: string[] = [];
  for (const [, dir = ''] of listed.matchAll(SOCKET)) {
    // Ignore data folders of other users, because their daemon could return any config.
    const owner = (await lstat(join(dir, 'daemons')).catch(() => null))?.uid;
    if (owner === process.getuid?.()) folders.push(dir);
  }
  return folders;
}
