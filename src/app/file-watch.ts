import { hash } from 'node:crypto';
import { type FSWatcher, watch } from 'node:fs';
import { open } from 'node:fs/promises';
import { basename, dirname } from 'node:path';

/** Watchers go blind on network volumes, and on a folder that is replaced. */
const POLL_MS = 2_000;
/** Editors and Kubernetes change several names for one change. */
const SETTLE_MS = 50;
/** Silence after which a file that is written in place counts as whole. */
const QUIET_MS = 1_000;

interface Look {
  readonly digest: string;
  /** Device and inode; null if the file cannot be read. */
  readonly place: string | null;
  /** Time of the last change of the inode (ctime); 0 if the file cannot be read. */
  readonly changedNs: bigint;
  readonly bytes: number;
}
type Looks = ReadonlyMap<string, Look>;

/**
 * Watches folders: Kubernetes swaps the `..data` link beside a mounted file. A touch or an equal copy is no change. A file that
 * was replaced in one step counts at once, one that is written in place when it has been the same for a moment.
 */
export class FileWatch {
  readonly #onChange: (isWhole: boolean) => void;
  #known: Looks = new Map();
  /** Differs from the known one. `isWhole` is false while something may still be written. */
  #pending: { readonly looks: Looks; readonly sinceMs: number; readonly isWhole: boolean } | null = null;
  /** Since the known look: whether a watcher has seen a change, and the names of files that were written in place. */
  #isNotified = false;
  readonly #written = new Set<string>();
  #watchers: FSWatcher[] = [];
  #pollTimer: NodeJS.Timeout | undefined;
  #settleTimer: NodeJS.Timeout | undefined;
  #isStopped = false;

  /** @param onChange told whether all files were replaced in one step: a file that is written in place may grow on */
  constructor(onChange: (isWhole: boolean) => void) {
    this.#onChange = onChange;
  }

  /** Takes the files as they are now for known: the next change is reported. @returns whether they differ from before */
  async remember(): Promise<boolean> {
    const former = this.#known;
    this.#know(await looksAt([...former.keys()]));
    return !isEqual(this.#known, former);
  }

  /**
   * Checks that nobody has written or replaced a file since the last look, also not with the same content: a file that changed
   * and changed back in between was perhaps read in the middle.
   */
  async isUntouched(): Promise<boolean> {
    const looks = await looksAt([...this.#known.keys()]);
    return [...looks].every(([file, { digest, place, changedNs }]) => {
      const known = this.#known.get(file);
      return digest === known?.digest && place === known.place && changedNs === known.changedNs;
    });
  }

  /** Files watched before are compared with their last look: they may have changed between being read and this call. */
  async start(files: readonly string[]): Promise<void> {
    const found = await looksAt(files);
    this.#known = new Map([...found].map(([file, look]) => [file, this.#known.get(file) ?? look]));
    this.#pending = null;
    if (this.#isStopped) return;
    // Those that are closed see what happens until the others are open.
    const former = this.#watchers;
    this.#watchers = [];
    const names = new Set(files.map((file) => basename(file)));
    for (const folder of new Set(files.map((file) => dirname(file)))) {
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
        // No folder yet, or no watches left: the poll sees the change.
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
    const looks = await looksAt([...former.keys()]);
    if (this.#isStopped || this.#known !== former) return;
    if (isEqual(looks, former)) {
      this.#know(former);
      return;
    }
    const nowMs = performance.now();
    if (this.#pending === null || !isEqual(looks, this.#pending.looks)) {
      const isWhole = [...looks].every(([file, look]) => this.#isWhole(file, look));
      this.#pending = { looks, sinceMs: nowMs, isWhole };
    }
    const { isWhole, sinceMs } = this.#pending;
    const leftMs = isWhole ? 0 : sinceMs + QUIET_MS - nowMs;
    if (leftMs > 0) {
      this.#lookAfter(leftMs);
      return;
    }
    this.#know(looks);
    this.#onChange(isWhole);
  }

  /** Without an event of a watcher, a write in place looks like a replacement. */
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

function isEqual(one: Looks, other: Looks): boolean {
  return one.size === other.size && [...one].every(([file, { digest }]) => digest === other.get(file)?.digest);
}

async function looksAt(files: readonly string[]): Promise<Looks> {
  const looks = new Map<string, Look>();
  for (const file of files) {
    looks.set(
      file,
      await lookAt(file).catch(({ code }: NodeJS.ErrnoException) => ({
        digest: `unreadable: ${code}`,
        place: null,
        changedNs: 0n,
        bytes: 0,
      })),
    );
  }
  return looks;
}

async function lookAt(file: string): Promise<Look> {
  await using handle = await open(file, 'r');
  const { dev, ino, ctimeNs } = await handle.stat({ bigint: true });
  const content = await handle.readFile();
  return { digest: hash('sha256', content), place: `${dev}:${ino}`, changedNs: ctimeNs, bytes: content.length };
}
