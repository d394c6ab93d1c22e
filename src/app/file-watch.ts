import { hash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { errnoState } from '../domain/errors.ts';
import { openNamed } from '../files/index.ts';

/** Interval to poll files, because file watchers miss changes on network volumes and in a folder that is replaced. */
const POLL_MS = 2_000;
/** Delay from the event of a file watcher to the read. Editors and Kubernetes cause several events when they replace one file. */
const SETTLE_MS = 50;
/** Time without a change after which docshelf treats files as complete, because a program can write a file in several steps. */
const QUIET_MS = 1_000;

const DIGEST = /^[0-9a-f]{64}$/;
/** SHA-256 digest of each file, or the reason why the file cannot be read. */
type Looks = ReadonlyMap<string, string>;

interface Contents {
  readonly known: Looks;
  /** Contents that differ from `known`. docshelf reports them if they stay the same for `QUIET_MS`. */
  readonly changed: { readonly looks: Looks; readonly sinceMs: number } | null;
}

/**
 * Reports changed contents of files. Watches their folders, because Kubernetes replaces the link `..data` next to a mounted file.
 */
export class FileWatch {
  readonly #onChange: () => void;
  #contents: Contents = { known: new Map(), changed: null };
  /** Watchers of the folders of the files. Null after the watch was stopped. */
  #watchers: readonly FSWatcher[] | null = [];
  readonly #pollTimer = setInterval(() => void this.#look(), POLL_MS).unref();
  #settleTimer: NodeJS.Timeout | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** Reads the state of the watched files, for later comparisons. @returns text that is equal for equal contents */
  async remember(): Promise<string> {
    const known = await looksAt(this.#contents.known.keys());
    this.#contents = { known, changed: null };
    return textOf(known);
  }

  /**
   * Watches `files`. For a file that was watched before, keeps the last known state, so that a change since then is reported.
   * @param read file with the text that docshelf has read from it. Another content of the file is reported as a change
   */
  async start(files: readonly string[], read?: { readonly file: string; readonly text: string }): Promise<void> {
    const looks = await looksAt(files, this.#contents.known);
    if (read && DIGEST.test(looks.get(read.file) ?? '')) looks.set(read.file, hash('sha256', read.text));
    this.#contents = { known: looks, changed: null };
    const former = this.#watchers;
    if (former === null) return;
    const watchers: FSWatcher[] = [];
    const names = new Set(files.map((file) => basename(file)));
    for (const folder of new Set(files.map(dirname))) {
      try {
        const watcher = watch(folder, { persistent: false }, (kind, name) => {
          if (kind === 'rename' || name === null || names.has(name)) this.#lookAfter(SETTLE_MS);
        });
        watcher.on('error', () => watcher.close());
        watchers.push(watcher);
      } catch {
        // A watcher fails if the folder is missing, or if the system allows no more watchers. Polling then finds the change.
      }
    }
    this.#watchers = watchers;
    // Close the old watchers only after the new watchers are open, so that no change is missed.
    for (const watcher of former) watcher.close();
    this.#lookAfter(SETTLE_MS);
  }

  stop(): void {
    for (const watcher of this.#watchers ?? []) watcher.close();
    this.#watchers = null;
    clearInterval(this.#pollTimer);
    clearTimeout(this.#settleTimer);
  }

  #lookAfter(ms: number): void {
    clearTimeout(this.#settleTimer);
    this.#settleTimer = setTimeout(() => void this.#look(), ms).unref();
  }

  async #look(): Promise<void> {
    const { known } = this.#contents;
    const looks = await looksAt(known.keys());
    if (this.#watchers === null || this.#contents.known !== known) return;
    const former = this.#contents.changed;
    const nowMs = performance.now();
    const sinceMs = former !== null && isEqual(looks, former.looks) ? former.sinceMs : nowMs;
    const leftMs = sinceMs + QUIET_MS - nowMs;
    if (isEqual(looks, known)) this.#contents = { known, changed: null };
    else if (leftMs > 0) {
      this.#contents = { known, changed: { looks, sinceMs } };
      this.#lookAfter(leftMs);
    } else {
      this.#contents = { known: looks, changed: null };
      this.#onChange();
    }
  }
}

const textOf = (looks: Looks): string => JSON.stringify([...looks]);

const isEqual = (one: Looks, other: Looks): boolean => textOf(one) === textOf(other);

async function looksAt(files: Iterable<string>, known: Looks = new Map()) {
  const looks = new Map<string, string>();
  for (const file of files) looks.set(file, known.get(file) ?? (await lookAt(file)));
  return looks;
}

async function lookAt(file: string): Promise<string> {
  try {
    await using handle = await openNamed(file);
    // Do not read a pipe, because its content can be read only once, and docshelf needs this content as its config.
    if ((await handle.stat()).isFIFO()) return 'named pipe';
    return hash('sha256', await handle.readFile());
  } catch (error) {
    return `unreadable: ${errnoState(error)}`;
  }
}
