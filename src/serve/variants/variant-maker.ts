import { dirname } from 'node:path';
import { toDocshelfError } from '../../domain/errors.ts';
import type { KeptRelease, ReleaseView } from '../../domain/release.ts';
import { HEAPS, Thread, threadEntry } from '../../threads/index.ts';
import { Scheduler } from '../../threads/scheduler.ts';
import type { MadeVariants, VariantsOrder } from './make-variants.ts';
import type { VariantCalls } from './worker.ts';

/** Versions that are switched through in a hurry, and a start, have the machine to themselves. */
const AFTER_MS = 5_000;
/** Brotli 11 takes 140 MiB for a file of 8 MiB, program included (measured). */
const RESIDENT_BYTES_MAX = 384 * 1024 ** 2;
/** Of the process, for one release: the file that it had is left out. */
const DEATHS_MAX = 20;
const MIB = 1024 ** 2;
const RESERVE_BYTES = 256 * MIB;

export type { MadeVariants };

export interface VariantEvents {
  onMade(made: MadeVariants): void;
  onFault(error: unknown): void;
}

interface Followed extends VariantEvents {
  readonly active: ReleaseView;
  readonly older: readonly KeptRelease[];
  readonly basePath: string;
  readonly hasAdditions: boolean;
}

interface Work {
  /** What it is made of: a site at another path, or with other additions, leaves other pages as they are on disk. */
  readonly key: string;
  readonly ending: AbortController;
  notice: string | null;
}

/**
 * Compressed forms of the releases that are served, made once they are, in a process that yields to all others: one release at a
 * time, for all sites of a daemon. It goes on where it was at the next start; nobody waits for it.
 */
export class VariantMaker {
  readonly #afterMs: number;
  readonly #onMade: () => void;
  readonly #scheduler = new Scheduler(1);
  readonly #works = new Map<object, Work>();
  readonly #process = new Thread<VariantCalls>({
    task: 'make compressed forms of files',
    isProcess: true,
    heap: HEAPS.variants,
    residentBytesMax: RESIDENT_BYTES_MAX,
    entry: threadEntry('./worker', import.meta),
  });
  #isStopped = false;

  /** @param onMade from then on better forms of files are on disk */
  constructor(onMade: () => void, afterMs = AFTER_MS) {
    this.#onMade = onMade;
    this.#afterMs = afterMs;
  }

  /** What a site serves from now on; work on what it served is given up. */
  follow(site: object, followed: Followed): void {
    const { active, basePath, hasAdditions } = followed;
    const key = JSON.stringify([active.digest, basePath, hasAdditions]);
    if (this.#isStopped || this.#works.get(site)?.key === key) return;
    this.forget(site);
    const work: Work = { key, ending: new AbortController(), notice: null };
    this.#works.set(site, work);
    setTimeout(() => void this.#run(followed, work), this.#afterMs).unref();
  }

  forget(site: object): void {
    this.#works.get(site)?.ending.abort();
    this.#works.delete(site);
  }

  notices(site: object): readonly string[] {
    const { notice = null } = this.#works.get(site) ?? {};
    return notice === null ? [] : [notice];
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const site of [...this.#works.keys()]) this.forget(site);
    await this.#process.end({ withinMs: 0 });
  }

  async #run(followed: Followed, work: Work): Promise<void> {
    const { active, onMade, onFault } = followed;
    const { signal } = work.ending;
    if (signal.aborted) return;
    try {
      const made = await this.#scheduler.run(() => this.#make(followed, signal), { signal });
      if (!made.isAll) work.notice = noSpace(active);
      if (made.made + made.linked === 0) return;
      this.#onMade();
      onMade(made);
    } catch (error) {
      if (!signal.aborted) onFault(error);
    }
  }

  async #make({ active, older, basePath, hasAdditions }: Followed, signal: AbortSignal): Promise<MadeVariants> {
    const order: Omit<VariantsOrder, 'leftOut'> = {
      releaseDir: dirname(active.siteDir),
      formerDirs: older.map(({ siteDir }) => dirname(siteDir)),
      builtFor: active.builtFor,
      reserveBytes: reserveOf(active),
      isMounted: active.builtFor !== basePath,
      hasAdditions,
    };
    const leftOut: string[] = [];
    try {
      for (let deaths = 0; ; deaths += 1) {
        let last: string | null = null;
        const onProgress = (sha256: string): void => {
          last = sha256;
        };
        try {
          return await this.#process.call('make', { ...order, leftOut }, { signal, onProgress });
        } catch (error) {
          const hasDied = toDocshelfError(error).code === 'worker_ended';
          if (signal.aborted || !hasDied || deaths === DEATHS_MAX) throw error;
          if (last !== null) leftOut.push(last);
        }
      }
    } finally {
      if (this.#scheduler.waiting === 0) await this.#process.terminate();
    }
  }
}

/** What the next version takes: archive, files and index. */
const reserveOf = ({ bytes }: ReleaseView): number => RESERVE_BYTES + 3 * bytes;

function noSpace(active: ReleaseView): string {
  const [version, reserveBytes] = [active.version, reserveOf(active)];
  return `Not all compressed forms of ${version} are kept: the volume of storage.dir has less than ${Math.ceil(reserveBytes / MIB)} MiB free, which the next version needs. They are made when they are asked for.`;
}
