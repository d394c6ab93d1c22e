import { setTimeout as sleep } from 'node:timers/promises';
import { DocshelfError, type ErrorCode } from '../domain/errors.ts';
import { type CallsOf, Channel, type ChannelOptions, type ThreadCall } from './channel.ts';
import type { Heap } from './heaps.ts';
import { type OnExit, type Runner, startProcess, startThread } from './runners.ts';

export interface ThreadOptions extends Pick<ChannelOptions, 'isBatched' | 'callsMax'> {
  readonly heap: Heap;
  /** A module that calls `serve`; see `threadEntry`. */
  readonly entry: URL;
  readonly data?: unknown;
  /** For faults: `search` gives "Cannot search: its thread has ended". */
  readonly task: string;
  /** Codes of calls that fail because the thread has ended, has been told to, or has too many calls. */
  readonly codes?: { readonly ended?: ErrorCode; readonly over?: ErrorCode; readonly full?: ErrorCode };
  /** Of calls that need more memory than it may have. Default: as of one that has ended. */
  readonly overMemory?: { readonly code: ErrorCode; readonly next: string };
  /** Functions that the thread may call here. */
  readonly handlers?: object;
  /** Of calls that have none of their own. */
  readonly signal?: AbortSignal;
  /** A process of its own in place of a thread: for native code that may have to be ended in its middle. Transfers are copies then. */
  readonly isProcess?: boolean;
  /** Of a process, all that it holds: V8's bounds do not count buffers, SQLite or a model. Default: none but the heap's. */
  readonly residentBytesMax?: number;
  /** How long an aborted call has to end in order before its thread is terminated. Default: none. */
  readonly abortWithinMs?: number;
  /** False: after it has died all calls fail, since another thread would not know what this one was told. */
  readonly isReplaced?: boolean;
  readonly onEnd?: (fault: DocshelfError) => void;
}

interface Running<Calls extends CallsOf<Calls>> {
  readonly runner: Runner;
  readonly channel: Channel<Calls>;
  readonly exited: Promise<void>;
}

/** Started by its first call, and anew by the next where it died. Keeps the process alive only while a call waits. */
export class Thread<Calls extends CallsOf<Calls>> {
  readonly #options: ThreadOptions;
  #running: Running<Calls> | null = null;
  #fault: DocshelfError | null = null;
  #isOver = false;
  #task: string;

  constructor(options: ThreadOptions) {
    this.#options = options;
    this.#task = options.task;
  }

  get waiting(): number {
    return this.#running?.channel.waiting ?? 0;
  }

  /** @throws DocshelfError as the handler's, or of `codes`; the signal's reason once the handler or thread has ended */
  readonly call: ThreadCall<Calls> = async (name, order, given) => {
    const signal = given?.signal ?? this.#options.signal;
    signal?.throwIfAborted();
    this.#task = given?.task ?? this.#options.task;
    if (this.#isOver) throw this.#error('over', 'it is being ended');
    if (this.#fault !== null) throw this.#fault;
    this.#running ??= this.#spawn();
    const { runner, channel } = this.#running;
    runner.ref();
    const { abortWithinMs = 0 } = this.#options;
    let deadline: NodeJS.Timeout | undefined;
    const abort = (): void => {
      if (abortWithinMs === 0) runner.terminate();
      else deadline = setTimeout(runner.terminate, abortWithinMs);
    };
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await channel.call(name, order, { ...given, signal } as typeof given);
    } finally {
      signal?.removeEventListener('abort', abort);
      clearTimeout(deadline);
      if (channel.waiting === 0) runner.unref();
    }
  };

  /** Of a processor, that the running thread has used; null if there is none, or the system does not say. */
  async processorMs(): Promise<number | null> {
    return (await this.#running?.runner.processorMs()) ?? null;
  }

  start(): void {
    this.#running ??= this.#spawn();
  }

  /** Gives back all that the thread holds, at once. The next call starts another. */
  async terminate(): Promise<void> {
    if (this.#running === null) return;
    const { runner, exited } = this.#running;
    runner.ref();
    runner.terminate();
    await exited;
  }

  /** Ends the thread once what it was asked before is answered, or terminates it after `withinMs`. Starts none after that. */
  async end({ withinMs }: { readonly withinMs: number }): Promise<void> {
    this.#isOver = true;
    if (this.#running === null) return;
    const { runner, channel, exited } = this.#running;
    runner.ref();
    channel.stop();
    const inOrder = new AbortController();
    await Promise.race([exited, sleep(withinMs, null, { signal: inOrder.signal }).catch(() => null)]);
    inOrder.abort();
    runner.terminate();
    await exited;
  }

  #spawn(): Running<Calls> {
    const {
      entry,
      heap,
      data,
      handlers = {},
      isBatched,
      callsMax,
      isReplaced,
      isProcess,
      residentBytesMax,
    } = this.#options;
    const exited = Promise.withResolvers<void>();
    const onExit: OnExit = (state, { cause, isOverMemory } = {}) => {
      this.#running = null;
      const { overMemory } = this.#options;
      const fault =
        isOverMemory === true && overMemory !== undefined
          ? new DocshelfError(overMemory.code, `Cannot ${this.#task}: ${state}`, { next: overMemory.next })
          : this.#error('ended', state, cause);
      if (isReplaced === false) this.#fault = fault;
      this.#options.onEnd?.(fault);
      channel.fail(fault);
      exited.resolve();
    };
    const start = isProcess === true ? startProcess : startThread;
    const runner = start({ entry, heap, residentBytesMax, data, onExit });
    const full = (): DocshelfError => this.#error('full', 'too many calls are waiting');
    const channel = new Channel<Calls>(runner.port, handlers, {
      full,
      ...(isBatched === undefined ? {} : { isBatched }),
      ...(callsMax === undefined ? {} : { callsMax }),
    });
    return { runner, channel, exited: exited.promise };
  }

  #error(kind: 'ended' | 'over' | 'full', state: string, cause?: unknown): DocshelfError {
    const { codes } = this.#options;
    // One that fails by an error of its own is a fault of ours, which is logged with its stack.
    const ended = cause === undefined ? 'worker_ended' : 'internal';
    const code = codes?.[kind] ?? ({ ended, over: 'stopping', full: 'busy' } as const)[kind];
    const isFull = kind === 'full';
    const fields = isFull ? { retryAfterS: 1 } : code === 'worker_ended' ? { retryable: true } : {};
    return new DocshelfError(code, `Cannot ${this.#task}${isFull ? ' now' : ''}: ${state}`, {
      cause,
      fields,
      ...(isFull ? { next: 'Try again in a moment.' } : {}),
    });
  }
}
