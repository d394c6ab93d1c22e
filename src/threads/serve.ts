import { readdirSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { extname } from 'node:path';
import { isMainThread, parentPort } from 'node:worker_threads';
import { type CallsOf, Channel, type Port } from './channel.ts';

interface ServeOptions {
  readonly answersAtOnce?: number;
  /** Gives back what is outside the heap, which does not go with the thread. */
  readonly end?: () => unknown;
}

/** Answers the starting thread's calls until it is told to end. @returns the way back, to that one's `handlers` */
export function serve<Parent extends CallsOf<Parent>>(handlers: object, options: ServeOptions = {}): Channel<Parent> {
  const { end, ...channelOptions } = options;
  const port = parentPort ?? processPort();
  const stop = async (): Promise<void> => {
    await channel.idle();
    await end?.();
    port.close();
  };
  const channel = new Channel<Parent>(port, handlers, { ...channelOptions, onStop: () => void stop() });
  return channel;
}

/**
 * Port to the parent process. This process ends with its parent, is the first that the kernel ends if memory is short
 * (proc_pid_oom_score_adj(5)), and leaves signals to the process group to its parent.
 */
function processPort(): Port & { close(): void } {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Not Linux.
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.once('disconnect', () => process.exit());
  return {
    postMessage: (items) => void process.send?.([...items], () => undefined),
    on: (event, listener) => process.on(event, (items) => listener(items as never)),
    // Once all that was sent has gone out.
    close: () => void process.send?.([], () => process.disconnect()),
  };
}

/** Readers come first: of this thread, or of this process. */
export function yieldToReaders(): void {
  yieldTo(constants.priority.PRIORITY_BELOW_NORMAL);
}

/** After all others: readers, indexes and exports. */
export function yieldToAll(): void {
  yieldTo(constants.priority.PRIORITY_LOW);
}

/**
 * On Linux a thread has a niceness of its own, which those that it starts have, too (setpriority(2), "C library/kernel differences").
 * V8's, which compile and collect garbage, began before a process could say so: left as they are, a page took 5.2 ms for 3.5 (p99) while
 * 10,000 pages came in on two cores.
 */
function yieldTo(niceness: number): void {
  if (process.platform !== 'linux') return;
  for (const thread of isMainThread ? threadsOfProcess() : [0]) {
    try {
      setPriority(thread, niceness);
    } catch {
      // It has ended since it was listed (ESRCH, seen), or a sandbox forbids the call: the work goes on as before.
    }
  }
}

/** Without /proc this one. */
function threadsOfProcess(): number[] {
  try {
    return readdirSync('/proc/self/task').map(Number);
  } catch {
    return [0];
  }
}

/** A thread's module, beside the one that starts it: `.ts` where the sources run as they are, `.js` in the built program. */
export function threadEntry(path: string, { url }: Pick<ImportMeta, 'url'>): URL {
  return new URL(path + extname(url), url);
}
