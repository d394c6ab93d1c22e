import { createHash } from 'node:crypto';
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
  #files: readonly string[] = [];
  #watchers: FSWatcher[] = [];
  #digest = '';
  #pollTimer: NodeJS.Timeout | undefined;
  #settleTimer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Watches these files from now on, in place of others; what they hold at this moment is the base. */
  async start(files: readonly string[]): Promise<void> {
    this.#closeWatchers();
    this.#files = files;
    this.#digest = await digestOfAll(files);
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
    const digest = await digestOfAll(this.#files);
    if (digest === this.#digest || this.#isStopped) return;
    this.#digest = digest;
    this.#onChange();
  }

  #closeWatchers(): void {
    for (const watcher of this.#watchers) watcher.close();
    this.#watchers = [];
  }
}

async function digestOfAll(files: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files) {
    const content = await readFile(file).catch((error: NodeJS.ErrnoException) => `unreadable: ${error.code}`);
    hash.update(`${file}\0${content.length}\0`).update(content);
  }
  return hash.digest('hex');
}
