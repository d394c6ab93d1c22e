import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Port } from './channel.ts';
import type { Heap } from './heaps.ts';

interface RunnerOrder {
  readonly entry: URL;
  readonly heap: Heap;
  /** The module's `workerData`; a process has none. */
  readonly data: unknown;
  /** Once, with the reason in words: `its thread ended with 1`. */
  readonly onExit: (state: string, cause?: unknown) => void;
}

/** What answers calls. As long as it is not `ref`ed it keeps nobody alive. */
export interface Runner {
  readonly port: Port;
  ref(): void;
  unref(): void;
  terminate(): void;
}

export function startThread({ entry, heap, data, onExit }: RunnerOrder): Runner {
  const worker = new Worker(entry, { workerData: data, resourceLimits: heap });
  let cause: unknown;
  worker.on('error', (error) => {
    cause = error;
  });
  worker.on('exit', (code) => onExit(stateOfThread(cause, code, heap), cause));
  worker.unref();
  return {
    port: worker,
    ref: () => worker.ref(),
    unref: () => worker.unref(),
    terminate: () => void worker.terminate(),
  };
}

function stateOfThread(cause: unknown, code: number, heap: Heap): string {
  if ((cause as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY') return overHeap('thread', heap);
  return cause instanceof Error ? `its thread failed (${cause.message})` : `its thread ended with ${code}`;
}

/**
 * A process of its own, for native code: a thread that is terminated in it takes the whole process along (onnxruntime-node 1.30
 * throws into the dying thread: SIGABRT, seen at every second swap on a busy machine).
 */
export function startProcess({ entry, heap, onExit }: RunnerOrder): Runner {
  const { maxOldGenerationSizeMb: oldMb, maxYoungGenerationSizeMb: youngMb } = heap;
  const bounds = [
    `--max-old-space-size=${oldMb}`,
    // A young generation is three semi-spaces.
    ...(youngMb === undefined ? [] : [`--max-semi-space-size=${Math.ceil(youngMb / 3)}`]),
  ];
  const child = fork(fileURLToPath(entry), {
    execArgv: [...process.execArgv, ...bounds],
    serialization: 'advanced',
    // Its standard output would stand between the lines of the log.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  let cause: unknown;
  child.on('error', (error) => {
    cause = error;
  });
  child.once('exit', (code, signal) => onExit(stateOfProcess(code, signal, heap), cause));
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
  };
}

/** V8 aborts a process whose heap is full. */
function stateOfProcess(code: number | null, signal: NodeJS.Signals | null, heap: Heap): string {
  if (signal === 'SIGABRT' || code === 134) return overHeap('process', heap);
  return signal === null ? `its process ended with ${code}` : `its process was ended by ${signal}`;
}

const overHeap = (kind: 'thread' | 'process', { maxOldGenerationSizeMb }: Heap): string =>
  `its ${kind} needs more than ${maxOldGenerationSizeMb} MiB of memory`;
