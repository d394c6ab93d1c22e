import { hash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Looking at the contents as well: a watcher goes blind on network volumes, and on a folder that is replaced. */
const POLL_MS = 2_000;
/** Editors and Kubernetes change several names for one change; one look follows them all. */
const SETTLE_MS = 50;

/**
 * Says when the content of any of some files has changed. The folders are watched and not the files: Kubernetes swaps the
 * `..data` link beside a mounted file, after which a watch on the file is dead. What counts is the content, so a touch
 * or an equal copy is no change.
 */
export class FileWatch {
  readonly #onChange: () => void;
  /** File -> digest of its content when it was last looked at. */
  #digests: ReadonlyMap<string, string> = new Map();
  #watchers: FSWatcher[] = [];
  #pollTimer: NodeJS.Timeout | undefined;
  #settleTimer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Looks at the files without saying so: who reads them next hears of every change that comes after this. */
  async remember(): Promise<void> {
    this.#digests = await digestsOf([...this.#digests.keys()]);
  }

  /**
   * Watches these files from now on, in place of others. One that was watched already is compared with the last look at
   * it, since it may have changed between being read and this call; a new one with what it holds at this moment.
   */
  async start(files: readonly string[]): Promise<void> {
    this.#closeWatchers();
    const found = await digestsOf(files);
    this.#digests = new Map([...found].map(([file, digest]) => [file, this.#digests.get(file) ?? digest]));
    if (this.#isStopped) return;
    for (const folder of new Set(files.map((file) => dirname(file)))) {
      try {
        const watcher = watch(folder, { persistent: false }, () => this.#lookSoon());
        watcher.on('error', () => watcher.close());
        this.#watchers.push(watcher);
      } catch {
        // The folder is not there (yet), or the machine has no watches left: the poll sees the change.
      }
    }
    this.#pollTimer ??= setInterval(() => void this.#look(), POLL_MS).unref();
    this.#lookSoon();
  }

  stop(): void {
    this.#isStopped = true;
    this.#closeWatchers();
    clearInterval(this.#pollTimer);
    clearTimeout(this.#settleTimer);
  }

  #lookSoon(): void {
    clearTimeout(this.#settleTimer);
    this.#settleTimer = setTimeout(() => void this.#look(), SETTLE_MS).unref();
  }

  async #look(): Promise<void> {
    const former = this.#digests;
    const found = await digestsOf([...former.keys()]);
    // Whoever looked in between has seen what this look would tell.
    if (this.#isStopped || this.#digests !== former) return;
    this.#digests = found;
    if ([...found].some(([file, digest]) => former.get(file) !== digest)) this.#onChange();
  }

  #closeWatchers(): void {
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers = [];
  }
}

async function digestsOf(files: readonly string[]): Promise<Map<string, string>> {
  const digests = new Map<string, string>();
  for (const file of files) {
    const content = await readFile(file).catch((error: NodeJS.ErrnoException) => `unreadable: ${error.code}`);
    digests.set(file, hash('sha256', content));
  }
  return digests;
}
