import { randomBytes } from 'node:crypto';
import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlive, type Owner, parseOwner, readIfThere, replaceFile, thisProcess } from '../files/index.ts';
import type { DataPaths } from './releases/data-folder.ts';

/** What a running daemon says of itself in the data folder, for the command line and for daemons that share the folder. */
export interface DaemonMark {
  readonly owner: Owner;
  /** Where its admin listener is reached from this machine, `http://127.0.0.1:9090`; null before it listens. */
  readonly adminUrl: string | null;
  /** Digests that it serves: not to be removed by anybody. */
  readonly serves: readonly string[];
}

const BEAT_MS = 10_000;
/** A daemon on another host counts as gone after six missed beats. */
const SILENCE_MS_MAX = 60_000;

/** This daemon's own mark: written when it starts and whenever it serves something else, touched on a beat, gone when it stops. */
export class DaemonRegistration {
  readonly #paths: DataPaths;
  readonly #file: string;
  #mark: DaemonMark | null = null;
  #beat: NodeJS.Timeout | undefined;

  constructor(paths: DataPaths) {
    this.#paths = paths;
    this.#file = join(paths.daemons, `${randomBytes(8).toString('hex')}.json`);
  }

  /** Begins the mark. Before this call, and where it never comes (the command line), nothing is written. */
  async announce(adminUrl: string | null): Promise<void> {
    this.#mark = { owner: thisProcess(), adminUrl, serves: [] };
    await this.#write(this.#mark);
    this.#beat = setInterval(() => {
      const now = new Date();
      // A mark that is gone was taken for a dead daemon's (a machine that slept) and is written anew; any other failed
      // beat (volume away) is made good by the next one.
      utimes(this.#file, now, now)
        .catch(() => this.serves(this.#mark?.serves ?? []))
        .catch(() => undefined);
    }, BEAT_MS).unref();
  }

  async serves(digests: readonly string[]): Promise<void> {
    if (this.#mark === null) return;
    this.#mark = { ...this.#mark, serves: digests };
    await this.#write(this.#mark);
  }

  async withdraw(): Promise<void> {
    clearInterval(this.#beat);
    this.#mark = null;
    await rm(this.#file, { force: true });
  }

  /** The daemons that share this folder, without this one. */
  async others(): Promise<DaemonMark[]> {
    return runningDaemons(this.#paths, this.#file);
  }

  async #write(mark: DaemonMark): Promise<void> {
    await replaceFile(this.#file, `${JSON.stringify(mark)}\n`);
  }
}

/** The daemons that run on this data folder. Marks of killed ones are removed on the way. */
export async function runningDaemons(paths: DataPaths, except: string | null = null): Promise<DaemonMark[]> {
  const running: DaemonMark[] = [];
  for (const name of await readdir(paths.daemons)) {
    const file = join(paths.daemons, name);
    if (!name.endsWith('.json') || name.startsWith('.') || file === except) continue;
    const text = await readIfThere(file);
    if (text === null) continue;
    const mark = parseMark(text);
    const alive = mark === null ? false : (isAlive(mark.owner) ?? (await isFresh(file)));
    if (mark !== null && alive) running.push(mark);
    else await rm(file, { force: true });
  }
  return running;
}

function parseMark(text: string): DaemonMark | null {
  try {
    const value = JSON.parse(text) as Partial<DaemonMark>;
    const owner = parseOwner(JSON.stringify(value.owner ?? null));
    return owner && { owner, adminUrl: value.adminUrl ?? null, serves: value.serves ?? [] };
  } catch {
    return null;
  }
}

async function isFresh(file: string): Promise<boolean> {
  const info = await stat(file).catch(() => null);
  return info !== null && Date.now() - info.mtimeMs < SILENCE_MS_MAX;
}
