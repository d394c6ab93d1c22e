import { DocshelfError, toDocshelfError } from '../../domain/errors.ts';
import type { FileEntry } from '../../domain/release.ts';
import { type CallsOf, HEAPS, ProcessorLimit, Thread, type ThreadCall } from '../../threads/index.ts';
import { Scheduler, type Turn } from '../../threads/scheduler.ts';

/** Maximum processor time to transform a file. The slowest real file, a page of 1.5 MB, takes 1.4 s (measured). */
const MAKE_MS_MAX = 10_000;
/** Time for an aborted call to end. After that, docshelf terminates its thread. Starting a new thread takes about as long. */
const ABORT_WITHIN_MS = 200;
/** After this number of slow files, docshelf transforms no further large files of the release. */
const OVERLONG_MAX = 5;
/** Maximum size of a small file, which takes less than a second, whatever its content. */
const SMALL_BYTES = 256 * 1024;
const NAMED_MAX = 5;

/** Files that docshelf no longer transforms, because they took too long or ended their thread. */
export class OverlongFiles {
  readonly #paths = new Set<string>();
  readonly #ends = new Map<string, number>();

  allows({ path, size }: Pick<FileEntry, 'path' | 'size'>): boolean {
    return !this.#paths.has(path) && (this.#paths.size < OVERLONG_MAX || size <= SMALL_BYTES);
  }

  /** Records an error. True if the file was too slow or has ended `endsMax` threads, so that docshelf must not transform it again. */
  note(path: string, error: unknown, endsMax: number): boolean {
    const { code } = toDocshelfError(error);
    const ends = (this.#ends.get(path) ?? 0) + 1;
    if (code === 'worker_ended') this.#ends.set(path, ends);
    const isOver = code === 'deadline_exceeded' || (code === 'worker_ended' && ends >= endsMax);
    if (isOver) this.#paths.add(path);
    return isOver;
  }

  /** Message to the operator about files that were too slow. @param effect words after `Files of version "1"`: `have no Markdown` */
  notice(version: string, effect: string): string | null {
    if (this.#paths.size === 0) return null;
    const named = [...this.#paths].slice(0, NAMED_MAX).map((path) => `"${path}"`);
    const others = this.#paths.size - named.length;
    const files = [...named, ...(others > 0 ? [`and ${others} more`] : [])].join(', ');
    return `Files of version "${version}" ${effect}, because each one needs more than ${MAKE_MS_MAX / 1000} s of processor time or too much memory: ${files}.`;
  }
}

interface MakersOptions {
  readonly task: string;
  readonly entry: URL;
  /** Maximum concurrent small files, for all sites. Large files run one at a time, because they need more memory. */
  readonly max: number;
  readonly siteMax: number;
  /** Maximum processor time for one file, 10 s by default. */
  readonly msMax?: number;
}

interface Lane<Calls extends CallsOf<Calls>> {
  readonly scheduler: Scheduler;
  /** Threads without a call. Each call has its own thread, so that a crash of a thread affects only one file. */
  readonly idle: Thread<Calls>[];
}

/** Transforms large files in a separate thread, so that small files need not wait seconds for a large file. */
export class TransformThreads<Calls extends CallsOf<Calls>> {
  readonly #small: Lane<Calls>;
  readonly #large: Lane<Calls> = { scheduler: new Scheduler(1), idle: [] };
  readonly #options: MakersOptions;
  readonly #msMax: number;

  constructor(options: MakersOptions) {
    const { max, siteMax, msMax = MAKE_MS_MAX } = options;
    this.#options = options;
    this.#msMax = msMax;
    this.#small = { scheduler: new Scheduler({ max, keyMax: siteMax }), idle: [] };
  }

  /** Runs `make` with a thread. @throws DocshelfError `deadline_exceeded`, `worker_ended`; errors of `make`; `signal.reason` */
  run<Result>(
    { path, size }: Pick<FileEntry, 'path' | 'size'>,
    { key, signal }: Pick<Turn, 'key' | 'signal'>,
    make: (call: ThreadCall<Calls>) => Promise<Result>,
  ): Promise<Result> {
    const isLarge = size > SMALL_BYTES;
    const { scheduler, idle } = isLarge ? this.#large : this.#small;
    const act = async (wanted: AbortSignal): Promise<Result> => {
      const thread = idle.pop() ?? this.#open();
      const late = new AbortController();
      const message = `Cannot generate "${path}": it needs more than ${this.#msMax / 1000} s of processor time`;
      using limit = new ProcessorLimit(thread, this.#msMax, () =>
        late.abort(new DocshelfError('deadline_exceeded', message)),
      );
      limit.begin();
      const signal = AbortSignal.any([wanted, late.signal]);
      try {
        return await make((name, request) => thread.call(name, request, { signal }));
      } finally {
        // Terminate the thread, because its heap may keep hundreds of megabytes after a large file.
        if (isLarge && scheduler.waiting === 0) await thread.terminate();
        idle.push(thread);
      }
    };
    return scheduler.run(act, { key, signal });
  }

  #open(): Thread<Calls> {
    const { task, entry } = this.#options;
    return new Thread<Calls>({ task, heap: HEAPS.mount, entry, abortWithinMs: ABORT_WITHIN_MS });
  }
}
