import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Phases of a daemon between the version that it serves and a new bundle, in order. */
export const PHASES = ['idle', 'fetching', 'inspecting', 'unpacking', 'sealing', 'activating', 'done'] as const;
export type Phase = (typeof PHASES)[number];

/** Phase according to the data folder, also after the daemon has ended. */
export async function phaseOnDisk(dataDir: string, digest: string): Promise<Phase> {
  if (await isThere(join(dataDir, 'releases', digest))) {
    const active = await readFile(join(dataDir, 'sites/docs/active'), 'utf8').catch(() => '');
    return active.includes(digest) ? 'done' : 'activating';
  }
  const staged = await namesIn(join(dataDir, 'staging'));
  const isStaged = async (path: string): Promise<boolean> => {
    for (const name of staged) if (await isThere(join(dataDir, 'staging', name, path))) return true;
    return false;
  };
  if (await isStaged('release/release.json')) return 'sealing';
  if (await isStaged('release/site')) return 'unpacking';
  if (await isStaged('bundle')) return 'inspecting';
  const spool = await namesIn(join(dataDir, 'spool'));
  return spool.some((name) => name.endsWith('.part')) ? 'fetching' : 'idle';
}

async function isThere(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null)) !== null;
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}
