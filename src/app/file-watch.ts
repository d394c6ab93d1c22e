import { hash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';
import { errnoState } from '../domain/errors.ts';
import { openNamed } from '../files/index.ts';

/** Interval to poll files, because file watchers miss changes on network volumes and in a folder that is replaced. */
const POLL_MS = 2_000;
/** Delay from the event of a file watcher to the read. Editors and Kubernetes cause several events when they replace one file. */
const SETTLE_MS = 50;
/** If a program writes a file in place, time without a change after which docshelf treats the file as complete. */
const QUIET_MS = 1_000;

type Look = Awaited<ReturnType<typeof lookAt>>;
type Looks = ReadonlyMap<string, Look>;

/**
 * Reports changed contents of files. Watches their folders, because Kubernetes replaces the link `..data` next to a mounted file.
 */
export class FileWatch {
  readonly #onChange: (isWhole: boolean) => void;
  #known: Looks = new Map();
  #pending: { readonly looks: Looks; readonly sinceMs: number } | null = null;
  /** True if a watcher has reported an event since docshelf read the files into `#known`. */
  #isNotified = false;
  /** Names of files that a program has written in place since docshelf read the files into `#known`. */
  readonly #written = new Set<string>();
  #watchers: FSWatcher[] = [];
  #pollTimer: NodeJS.Timeout | undefined;
  #settleTimer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(onChange: (isWhole: boolean) => void) {
    this.#onChange = onChange;
  }

  /** Reads the state of the watched files, for later comparisons. @returns true if the state differs from the previous one */
  async remember(): Promise<boolean> {
    const former = this.#known;
    this.#know(await looksAt(former.keys()));
    return !isEqual(this.#known, former);
  }

  /**
   * True if no file has changed since the last read. Also compares change times, because a program can change a file and then
   * restore its content.
   */
  async isUntouched(): Promise<boolean> {
    for (const [file, { digest, place, changedNs }] of await looksAt(this.#known.keys())) {
      const known = this.#known.get(file);
      if (digest !== known?.digest || place !== known.place || changedNs !== known.changedNs) return false;
    }
    return true;
  }

  /** Watches `files`. For a file that was watched before, keeps the last known state, so that a change since then is reported. */
  async start(files: readonly string[]): Promise<void> {
    this.#known = await looksAt(files, this.#known);
    this.#pending = null;
    if (this.#isStopped) return;
    // Close the old watchers only after the new watchers are open, so that no change is missed.
    const former = this.#watchers;
    this.#watchers = [];
    const names = new Set(files.map((file) => basename(file)));
    for (const folder of new Set(files.map(dirname))) {
      try {
        const watcher = watch(folder, { persistent: false }, (kind, name) => {
          if (kind === 'change' && name !== null) {
            if (!names.has(name)) return;
            this.#written.add(name);
          }
          this.#isNotified = true;
          this.#lookAfter(SETTLE_MS);
        });
        watcher.on('error', () => watcher.close());
        this.#watchers.push(watcher);
      } catch {
        // A watcher fails if the folder is missing, or if the system allows no more watchers. Polling then finds the change.
      }
    }
    for (const watcher of former) watcher.close();
    this.#pollTimer ??= setInterval(() => void this.#look(), POLL_MS).unref();
    this.#lookAfter(SETTLE_MS);
  }

  stop(): void {
    this.#isStopped = true;
    for (const watcher of this.#watchers.splice(0)) watcher.close();
    clearInterval(this.#pollTimer);
    clearTimeout(this.#settleTimer);
  }

  #lookAfter(ms: number): void {
    clearTimeout(this.#settleTimer);
    this.#settleTimer = setTimeout(() => void this.#look(), ms).unref();
  }

  async #look(): Promise<void> {
    const former = this.#known;
    const looks = await looksAt(former.keys());
    if (this.#isStopped || this.#known !== former) return;
    if (isEqual(looks, former)) {
      this.#know(former);
      return;
    }
    const nowMs = performance.now();
    if (this.#pending === null || !isEqual(looks, this.#pending.looks)) this.#pending = { looks, sinceMs: nowMs };
    // Decide after each read whether the files are complete, because the event of a rename can arrive after the first read of a
    // new file.
    const isWhole = [...looks].every(([file, look]) => this.#isWhole(file, look));
    const leftMs = isWhole ? 0 : this.#pending.sinceMs + QUIET_MS - nowMs;
    if (leftMs > 0) {
      this.#lookAfter(leftMs);
      return;
    }
    this.#know(looks);
    this.#onChange(isWhole);
  }

  /**
   * True if the file is complete. This is so if its content is unchanged, or if a new file replaced it and no watcher reported
   * a write to the new file.
   */
  #isWhole(file: string, { digest, place, bytes }: Look): boolean {
    const former = this.#known.get(file);
    if (digest === former?.digest) return true;
    return bytes > 0 && place !== former?.place && this.#isNotified && !this.#written.has(basename(file));
  }

  #know(looks: Looks): void {
    this.#known = looks;
    this.#pending = null;
    this.#isNotified = false;
    this.#written.clear();
  }
}

const isEqual = (one: Looks, other: Looks): boolean =>
  one.size === other.size && one.entries().every(([file, { digest }]) => digest === other.get(file)?.digest);

async function looksAt(files: Iterable<string>, known: Looks = new Map()): Promise<Looks> {
  const looks = new Map<string, Look>();
  for (const file of files) looks.set(file, known.get(file) ?? (await lookAt(file)));
  return looks;
}

async function lookAt(file: string) {
  try {
    await using handle = await openNamed(file);
    const info = await handle.stat({ bigint: true });
    // Only the config may read a pipe, because a pipe returns its content once.
    const content = info.isFIFO() ? new Uint8Array() : await handle.readFile();
    const place = `${info.dev}:${info.ino}`;
    return { digest: hash('sha256', content), place, changedNs: info.ctimeNs, bytes: content.length };
  } catch (error) {
    return { digest: `unreadable: ${errnoState(error)}`, place: null, changedNs: 0n, bytes: 0 };
  }
}
