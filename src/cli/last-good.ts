import { lstat, readFile, realpath } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { type ConfigError, type LoadedConfig, type LoadOptions, loadConfig } from '../config/index.ts';
import { type DaemonMark, dataPaths, folderName, runningDaemons } from '../deploy/index.ts';
import { FOLDER_HEADER, LAST_GOOD_PATH } from '../http/admin/operations.ts';
import { askSocket } from '../net/daemon-request.ts';

/**
 * The config that a running daemon works by, for a command that cannot use the file which both of them name. The fault is
 * reported on standard error.
 *
 * @param storageDir as far as the file and the environment still name it
 * @returns null if no daemon on this host follows that file
 */
export async function lastGoodConfig(
  sources: LoadOptions,
  fault: ConfigError,
  storageDir: string | null,
): Promise<LoadedConfig | null> {
  const { file, env, cwd } = sources;
  const config = await placeOf(resolve(cwd, file ?? (env.DOCSHELF_CONFIG || 'config.yaml')));
  for (const dir of new Set([...(storageDir === null ? [] : [storageDir]), ...(await foldersWithSockets())])) {
    for (const mark of await runningDaemons(dataPaths(dir)).catch(() => [])) {
      const isOfFile = mark.config !== null && (await placeOf(mark.config)) === config;
      if (!isOfFile || mark.owner.host !== hostname()) continue;
      const loaded = await askFor(mark, dir, sources);
      if (loaded === null) continue;
      warn(fault.message);
      warn(`the command uses the last good config of the daemon ${mark.owner.pid} on "${dir}".`);
      return loaded;
    }
  }
  return null;
}

const ANSWER_MS_MAX = 3_000;

async function askFor({ socket, folder }: DaemonMark, dir: string, sources: LoadOptions): Promise<LoadedConfig | null> {
  if (socket === null) return null;
  const headers = folder === null ? {} : { [FOLDER_HEADER]: folderName(folder) };
  const response = await askSocket(socket, LAST_GOOD_PATH, headers, AbortSignal.timeout(ANSWER_MS_MAX));
  if (response?.ok !== true) return null;
  const { text } = (await response.json()) as { readonly text: string | null };
  if (text === null) return null;
  const loaded = await loadConfig({ ...sources, lastGood: text, flags: { 'storage.dir': dir } });
  return loaded.written.size === 0 ? null : loaded;
}

/** The folder's real path, and the file's own name: a ConfigMap's file is a link whose target changes. */
async function placeOf(file: string): Promise<string> {
  return join(await realpath(dirname(file)).catch(() => dirname(file)), basename(file));
}

/** A data folder of this user, of the length that its socket's path may have. */
const SOCKET = / (\/.*)\/daemons\/[0-9a-f]{16}\.sock$/gm;

/** Data folders of this user with a daemon, as Linux lists its sockets: what is left of the file may not name the folder. */
async function foldersWithSockets(): Promise<string[]> {
  const listed = await readFile('/proc/net/unix', 'utf8').catch(() => '');
  const folders: string[] = [];
  for (const [, dir = ''] of listed.matchAll(SOCKET)) {
    // Another user's folder may have marks that mislead.
    const owner = (await lstat(join(dir, 'daemons')).catch(() => null))?.uid;
    if (owner === process.getuid?.()) folders.push(dir);
  }
  return folders;
}

function warn(text: string): void {
  process.stderr.write(`docshelf: warning: ${text}\n`);
}
