import { fork } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { DocshelfError, type ErrorCode } from '../domain/errors.ts';
import { type CallsOf, Channel, type Port, type ThreadCall } from './channel.ts';
import type { Heap } from './limits.ts';

/** Maximum pending calls. Each call takes milliseconds, so a further call would have to wait for seconds. */
const CALLS_MAX = 1_000;

export interface ThreadOptions {
  readonly heap: Heap;
  readonly entry: URL;
  readonly data?: unknown;
  readonly task: string;
  /** Number of pending calls from which the thread accepts only urgent calls. Default: `CALLS_MAX`. */
  readonly callsMax?: number;
  /** Error codes of failed calls: the thread has ended, is stopping (`over`), or has too many pending calls (`full`). */
  readonly codes?: { readonly ended?: ErrorCode; readonly over?: ErrorCode; readonly full?: ErrorCode };
  readonly overMemory?: { readonly code: ErrorCode; readonly next: string };
  readonly handlers?: object;
  readonly signal?: AbortSignal;
  /** True to run a child process instead of a thread (see `startProcess`). */
  readonly isProcess?: boolean;
  /** Maximum resident memory of a process, because V8's limits do not include buffers, SQLite and models. Default: no maximum. */
  readonly residentBytesMax?: number;
  readonly abortWithinMs?: number;
  /** If false, all calls fail after the thread has ended, because a new thread would not have the state of the ended thread. */
  readonly isReplaced?: boolean;
  readonly onEnd?: (fault: DocshelfError) => void;
}

interface Running<Calls extends CallsOf<Calls>> {
  readonly runner: Runner;
  readonly channel: Channel<Calls>;
  readonly exited: Promise<void>;
}

/** Starts a thread at the first call, and again at a call after the thread has ended. Keeps docshelf running only during calls. */
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

  /** @throws DocshelfError of the handler or of `codes`; the reason of an aborted signal, after the handler or thread ended */
  readonly call: ThreadCall<Calls> = async (name, request, given) => {
    const signal = given?.signal ?? this.#options.signal;
    signal?.throwIfAborted();
    this.#task = given?.task ?? this.#options.task;
    if (this.#isOver) throw this.#error('over', 'it is stopping');
    if (this.#fault !== null) throw this.#fault;
    this.#running ??= this.#spawn();
    const { runner, channel } = this.#running;
    const { abortWithinMs = 0, callsMax = CALLS_MAX } = this.#options;
    if (given?.isUrgent !== true && channel.waiting >= callsMax)
      throw this.#error('full', 'too many calls are waiting');
    runner.handle.ref();
    let deadline: NodeJS.Timeout | undefined;
    const abort = (): void => {
      if (abortWithinMs === 0) runner.terminate();
      else deadline = setTimeout(runner.terminate, abortWithinMs);
    };
    signal?.addEventListener('abort', abort, { once: true });
    try {
      return await channel.call(name, request, { ...given, signal } as typeof given);
    } finally {
      signal?.removeEventListener('abort', abort);
      clearTimeout(deadline);
      if (channel.waiting === 0) runner.handle.unref();
    }
  };

  async processorMs(): Promise<number | null> {
    return (await this.#running?.runner.processorMs()) ?? null;
  }

  start(): void {
    this.#running ??= this.#spawn();
  }

  async terminate(): Promise<void> {
    if (this.#running === null) return;
    const { runner, exited } = this.#running;
    runner.handle.ref();
    runner.terminate();
    await exited;
  }

  /** Ends the thread after its pending calls, or after `withinMs` at the latest. Later calls fail. */
  async end({ withinMs }: { readonly withinMs: number }): Promise<void> {
    this.#isOver = true;
    if (this.#running === null) return;
    const { runner, channel, exited } = this.#running;
    runner.handle.ref();
    channel.stop();
    const inOrder = new AbortController();
    await Promise.race([exited, sleep(withinMs, null, { signal: inOrder.signal }).catch(() => null)]);
    inOrder.abort();
    runner.terminate();
    await exited;
  }

  #spawn(): Running<Calls> {
    const { handlers = {}, isReplaced, isProcess } = this.#options;
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
    const runner = start({ ...this.#options, onExit });
    const channel = new Channel<Calls>(runner.port, handlers);
    return { runner, channel, exited: exited.promise };
  }

  #error(kind: 'ended' | 'over' | 'full', state: string, cause?: unknown): DocshelfError {
    const { codes } = this.#options;
    // An uncaught error of the thread is a bug. With the code `internal`, docshelf logs its stack.
    const ended = cause === undefined ? 'worker_ended' : 'internal';
    const code = codes?.[kind] ?? ({ ended, over: 'stopping', full: 'busy' } as const)[kind];
    const isFull = kind === 'full';
    const fields = isFull ? { retryAfterS: 1 } : code === 'worker_ended' ? { retryable: true } : {};
    const next = isFull
      ? 'Try again in a moment.'
      : 'Try again. If it fails again, raise search.memory for work on a search index. For other work, check the page or archive that the message names.';
    return new DocshelfError(code, `Cannot ${this.#task}${isFull ? ' now' : ''}: ${state}`, {
      cause,
      fields,
      ...(isFull || code === 'worker_ended' ? { next } : {}),
    });
  }
}

/** Time to keep an idle thread. Starting a thread that unpacks takes 200 ms of processor time, mostly to load modules (measured). */
const IDLE_MS = 1_000;
/** Duration of a run up to which its thread is reused. A longer run can leave much memory in use. */
const REUSED_AFTER_MS_MAX = 3_000;

/** Reuses threads, one caller at a time. Callers must limit the number of concurrent runs. */
export class ThreadPool<Calls extends CallsOf<Calls>> {
  readonly #open: () => Thread<Calls>;
  readonly #idle = new Map<Thread<Calls>, NodeJS.Timeout>();

  constructor(open: () => Thread<Calls>) {
    this.#open = open;
  }

  async run<Result>(act: (thread: Thread<Calls>) => Promise<Result>): Promise<Result> {
    const thread = this.#taken();
    const begunMs = performance.now();
    try {
      const result = await act(thread);
      if (performance.now() - begunMs > REUSED_AFTER_MS_MAX) await thread.terminate();
      else this.#idle.set(thread, setTimeout(() => void this.#endIdle(thread), IDLE_MS).unref());
      return result;
    } catch (error) {
      await thread.terminate();
      throw error;
    }
  }

  async end(): Promise<void> {
    await Promise.all(Array.from(this.#idle.keys(), (thread) => this.#endIdle(thread)));
  }

  #taken(): Thread<Calls> {
    const [thread] = this.#idle.keys();
    if (thread === undefined) return this.#open();
    clearTimeout(this.#idle.get(thread));
    this.#idle.delete(thread);
    return thread;
  }

  async #endIdle(thread: Thread<Calls>): Promise<void> {
    clearTimeout(this.#idle.get(thread));
    this.#idle.delete(thread);
    await thread.terminate();
  }
}

type OnExit = (state: string, why?: { readonly cause?: unknown; readonly isOverMemory?: boolean }) => void;

type RunnerOptions = Pick<ThreadOptions, 'entry' | 'heap' | 'residentBytesMax' | 'data'> & { readonly onExit: OnExit };

interface Runner {
  readonly port: Port;
  /** Thread or process. docshelf keeps running while it runs, except after `unref`. */
  readonly handle: { ref(): void; unref(): void };
  terminate(): void;
  /** Processor time since the start of the thread or process. Null if the system does not report it. */
  processorMs(): Promise<number | null>;
}

function startThread({ entry, heap, data, onExit }: RunnerOptions): Runner {
  const worker = new Worker(entry, { workerData: data, resourceLimits: heap });
  let cause: unknown;
  let isOverHeap = false;
  worker.on('error', (error) => {
    if ((error as { code?: unknown }).code === 'ERR_WORKER_OUT_OF_MEMORY') isOverHeap = true;
    else cause = error;
  });
  worker.on('exit', (code) => {
    const state = isOverHeap ? overHeap('thread', heap) : stateOfThread(cause, code);
    onExit(state, { cause, isOverMemory: isOverHeap });
  });
  worker.unref();
  return {
    port: worker,
    handle: worker,
    terminate: () => void worker.terminate(),
    processorMs: async () => {
      const used = await worker.cpuUsage?.().catch(() => null);
      return used == null ? null : (used.user + used.system) / 1000;
    },
  };
}

const stateOfThread = (cause: unknown, code: number): string =>
  cause instanceof Error ? `its thread failed (${cause.message})` : `its thread ended with ${code}`;

/** Runs native code in a process: terminating a thread with such code can end docshelf (SIGABRT with onnxruntime-node 1.30). */
function startProcess({ entry, heap, residentBytesMax, onExit }: RunnerOptions): Runner {
  const { maxOldGenerationSizeMb: oldMb, maxYoungGenerationSizeMb: youngMb } = heap;
  const bounds = [
    `--max-old-space-size=${oldMb}`,
    // Divide by three, because the option limits one semi-space, and a young generation has three.
    ...(youngMb === undefined ? [] : [`--max-semi-space-size=${Math.ceil(youngMb / 3)}`]),
  ];
  const child = fork(fileURLToPath(entry), {
    execArgv: [...process.execArgv, ...bounds],
    serialization: 'advanced',
    // Ignore the standard output of the process, because it would mix with the log.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let cause: unknown;
  child.on('error', (error) => {
    cause = error;
    // If the system has no free processes or file descriptors, report the exit here: the child never starts and emits no exit
    // event.
    if (child.pid === undefined) onExit(`its process cannot be started (${error.message})`);
  });
  let isOverMemory = false;
  const watch = watchResident(child.pid, residentBytesMax, () => {
    isOverMemory = true;
    child.kill('SIGKILL');
  });
  child.once('exit', (code, signal) => {
    clearInterval(watch);
    const bytes = isOverMemory ? residentBytesMax : undefined;
    const state = bytes === undefined ? stateOfProcess(code, signal, heap) : overMemory('process', bytes);
    onExit(state, { cause, isOverMemory });
  });
  const handle = {
    ref: () => {
      child.ref();
      child.channel?.ref();
    },
    unref: () => {
      child.unref();
      child.channel?.unref();
    },
  };
  handle.unref();
  return {
    port: {
      // Ignore errors here, because the exit event makes all pending calls fail.
      postMessage: (item) => void (child.connected && child.send(item, () => undefined)),
      on: (event, listener) => child.on(event, (item) => listener(item as never)),
    },
    handle,
    terminate: () => void child.kill('SIGKILL'),
    processorMs: () => processorMsOf(child.pid),
  };
}

/** Unit of `utime` and `stime` in proc_pid_stat(5), which is 1/100 s on Linux. */
const TICK_MS = 10;

async function processorMsOf(pid: number | undefined): Promise<number | null> {
  const stat = pid === undefined ? '' : await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return user === undefined || system === undefined ? null : (user + system) * TICK_MS;
}

function stateOfProcess(code: number | null, signal: NodeJS.Signals | null, heap: Heap): string {
  if (signal === 'SIGABRT' || code === 134) return overHeap('process', heap);
  return signal === null ? `its process ended with ${code}` : `its process was ended by ${signal}`;
}

const overHeap = (kind: 'thread' | 'process', { maxOldGenerationSizeMb }: Heap): string =>
  overMemory(kind, maxOldGenerationSizeMb * MIB);

const overMemory = (kind: 'thread' | 'process', bytes: number): string =>
  `its ${kind} needs more than ${Math.round(bytes / MIB)} MiB of memory`;

const MIB = 1024 ** 2;
/** Interval between memory checks. Short, because a process that parses a page can take about 50 MiB more until the next check. */
const WATCH_EVERY_MS = 100;

/** Calls `onOver` if `VmRSS` in proc_pid_status(5) exceeds the maximum. Has no effect on other systems than Linux. */
function watchResident(pid: number | undefined, bytesMax: number | undefined, onOver: () => void) {
  if (pid === undefined || bytesMax === undefined || process.platform !== 'linux') return undefined;
  const look = async (): Promise<void> => {
    const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
    const kilobytes = Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0);
    if (kilobytes * 1024 > bytesMax) onOver();
  };
  return setInterval(() => void look(), WATCH_EVERY_MS).unref();
}
