import { fork } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Port } from './channel.ts';
import type { Heap } from './heaps.ts';

export type OnExit = (state: string, why?: { readonly cause?: unknown; readonly isOverMemory?: boolean }) => void;

interface RunnerOrder {
  readonly entry: URL;
  readonly heap: Heap;
  /** Of a process: it is ended where it holds more. Seen on Linux alone. */
  readonly residentBytesMax?: number | undefined;
  /** The module's `workerData`; a process has none. */
  readonly data: unknown;
  /** Once, with the reason in words: `its thread ended with 1`. */
  readonly onExit: OnExit;
}

/** What answers calls. As long as it is not `ref`ed it keeps nobody alive. */
export interface Runner {
  readonly port: Port;
  ref(): void;
  unref(): void;
  terminate(): void;
  /** Of a processor, since it started; null if the system does not say. */
  processorMs(): Promise<number | null>;
}

export function startThread({ entry, heap, data, onExit }: RunnerOrder): Runner {
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
    ref: () => worker.ref(),
    unref: () => worker.unref(),
    terminate: () => void worker.terminate(),
    // Node has it since 24.6.
    processorMs: async () => {
      const used = await worker.cpuUsage?.().catch(() => null);
      return used == null ? null : (used.user + used.system) / 1000;
    },
  };
}

function stateOfThread(cause: unknown, code: number): string {
  return cause instanceof Error ? `its thread failed (${cause.message})` : `its thread ended with ${code}`;
}

/**
 * A process of its own, for native code: a thread that is terminated in it takes the whole process along (onnxruntime-node 1.30
 * throws into the dying thread: SIGABRT, seen at every second swap on a busy machine).
 */
export function startProcess({ entry, heap, residentBytesMax, onExit }: RunnerOrder): Runner {
  const { maxOldGenerationSizeMb: oldMb, maxYoungGenerationSizeMb: youngMb } = heap;
  const bounds = [
    `--max-old-space-size=${oldMb}`,
    // A young generation is three semi-spaces.
    ...(youngMb === undefined ? [] : [`--max-semi-space-size=${Math.ceil(youngMb / 3)}`]),
  ];
  const child = fork(fileURLToPath(entry), {
    execArgv: [...process.execArgv, ...bounds],
    serialization: 'advanced',
    // Its standard output would mix with the lines of the log.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let cause: unknown;
  child.on('error', (error) => {
    cause = error;
    // Never started, for want of processes or file handles: then no exit comes.
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
  const refs = (name: 'ref' | 'unref') => () => {
    child[name]();
    child.channel?.[name]();
  };
  refs('unref')();
  return {
    port: {
      // What it does not get any more is told by its end.
      postMessage: (items) => void (child.connected && child.send([...items], () => undefined)),
      on: (event, listener) => child.on(event, (items) => listener(items as never)),
    },
    ref: refs('ref'),
    unref: refs('unref'),
    terminate: () => void child.kill('SIGKILL'),
    processorMs: () => processorMsOf(child.pid),
  };
}

/** Of `utime` and `stime`, in proc_pid_stat(5): Linux counts a hundred ticks a second, whatever its own clock does. */
const TICK_MS = 10;

async function processorMsOf(pid: number | undefined): Promise<number | null> {
  const stat = pid === undefined ? '' : await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  // The name of the program, in brackets, may have spaces.
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
    .map(Number);
  return user === undefined || system === undefined ? null : (user + system) * TICK_MS;
}

/** V8 aborts a process whose heap is full. */
function stateOfProcess(code: number | null, signal: NodeJS.Signals | null, heap: Heap): string {
  if (signal === 'SIGABRT' || code === 134) return overHeap('process', heap);
  return signal === null ? `its process ended with ${code}` : `its process was ended by ${signal}`;
}

const overHeap = (kind: 'thread' | 'process', { maxOldGenerationSizeMb }: Heap): string =>
  overMemory(kind, maxOldGenerationSizeMb * MIB);

const overMemory = (kind: 'thread' | 'process', bytes: number): string =>
  `its ${kind} needs more than ${Math.round(bytes / MIB)} MiB of memory`;

const MIB = 1024 ** 2;
/** Between two looks a process that parses a page may take some 50 MiB more. */
const WATCH_EVERY_MS = 100;

/** V8's bounds do not count buffers, SQLite or a model: proc_pid_status(5) counts all. */
function watchResident(
  pid: number | undefined,
  bytesMax: number | undefined,
  onOver: () => void,
): NodeJS.Timeout | undefined {
  if (pid === undefined || bytesMax === undefined || process.platform !== 'linux') return undefined;
  const look = async (): Promise<void> => {
    const status = await readFile(`/proc/${pid}/status`, 'latin1').catch(() => '');
    const kilobytes = Number(/^VmRSS:\s*(\d+) kB$/m.exec(status)?.[1] ?? 0);
    if (kilobytes * 1024 > bytesMax) onOver();
  };
  return setInterval(() => void look(), WATCH_EVERY_MS).unref();
}
