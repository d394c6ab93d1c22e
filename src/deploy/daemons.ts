import { randomBytes } from 'node:crypto';
import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { membersOf } from '../domain/shape.ts';
import { isAlive, type Owner, parseOwner, readIfThere, replaceFile, thisProcess } from '../files/index.ts';
import { type DaemonSocket, removeDaemonSocket } from './daemon-socket.ts';
import type { DataPaths } from './releases/data-folder.ts';

export interface DaemonMark {
  readonly owner: Owner;
  /** `http://127.0.0.1:9090`; null before it listens. */
  readonly adminUrl: string | null;
  readonly socket: string | null;
  /** Digests that nobody may remove. */
  readonly serves: readonly string[];
}

const BEAT_MS = 10_000;
/** A daemon on another host counts as gone after six missed beats. */
const SILENCE_MS_MAX = 60_000;

/** This daemon's own mark: written at start and swap, touched on a beat, gone at stop. */
export class DaemonRegistration {
  readonly #paths: DataPaths;
  #file: string | null = null;
  #mark: DaemonMark | null = null;
  #beat: NodeJS.Timeout | undefined;

  constructor(paths: DataPaths) {
    this.#paths = paths;
  }

  async announce(adminUrl: string | null, socket: DaemonSocket | null = null): Promise<void> {
    const file = join(this.#paths.daemons, `${socket?.id ?? randomBytes(8).toString('hex')}.json`);
    this.#file = file;
    this.#mark = { owner: thisProcess(), adminUrl, socket: socket?.path ?? null, serves: [] };
    await this.#write();
    this.#beat = setInterval(() => {
      const now = new Date();
      // A mark that is gone was taken for a dead daemon's (a machine that slept): it is written anew. Other failures
      // wait for the next beat.
      utimes(file, now, now)
        .catch(() => this.#write())
        .catch(() => undefined);
    }, BEAT_MS).unref();
  }

  async serves(digests: readonly string[]): Promise<void> {
    if (this.#mark === null) return;
    this.#mark = { ...this.#mark, serves: digests };
    await this.#write();
  }

  async withdraw(): Promise<void> {
    clearInterval(this.#beat);
    this.#mark = null;
    if (this.#file !== null) await rm(this.#file, { force: true });
  }

  async others(): Promise<DaemonMark[]> {
    return runningDaemons(this.#paths, this.#file);
  }

  async #write(): Promise<void> {
    if (this.#file !== null && this.#mark !== null) await replaceFile(this.#file, `${JSON.stringify(this.#mark)}\n`);
  }
}

/** The daemons on this data folder. Marks and sockets of killed ones are removed on the way. */
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
    else {
      const path = mark?.socket ?? join(paths.daemons, name.replace(/json$/, 'sock'));
      await removeDaemonSocket({ id: name.slice(0, -'.json'.length), path });
      await rm(file, { force: true });
    }
  }
  return running;
}

function parseMark(text: string): DaemonMark | null {
  const { owner: written, adminUrl = null, socket = null, serves = [] } = membersOf(text) as Partial<DaemonMark>;
  const owner = parseOwner(JSON.stringify(written ?? null));
  return owner && { owner, adminUrl, socket, serves };
}

async function isFresh(file: string): Promise<boolean> {
  const info = await stat(file).catch(() => null);
  return info !== null && Date.now() - info.mtimeMs < SILENCE_MS_MAX;
}
