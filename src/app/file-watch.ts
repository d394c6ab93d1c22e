import { hash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Watchers go blind on network volumes, and on a folder that is replaced. */
const POLL_MS = 2_000;
/** Editors and Kubernetes change several names for one change. */
const SETTLE_MS = 50;

/** Watches folders: Kubernetes swaps the `..data` link beside a mounted file. A touch or an equal copy is no change. */
export class FileWatch {
  readonly #onChange: () => void;
  #digests: ReadonlyMap<string, string> = new Map();
  #watchers: FSWatcher[] = [];
  #pollTimer: NodeJS.Timeout | undefined;
  #settleTimer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Takes what the files hold now as known: the next change tells. */
  async remember(): Promise<void> {
    this.#digests = await digestsOf([...this.#digests.keys()]);
  }

  /** Files watched before are compared with their last look: they may have changed between being read and this call. */
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
        // No folder yet, or no watches left: the poll sees the change.
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
