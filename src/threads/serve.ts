import { readdirSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { extname } from 'node:path';
import { isMainThread, parentPort } from 'node:worker_threads';
import { type CallsOf, Channel, type Port } from './channel.ts';

/** Serves the parent's calls until `stop`. @returns the parent's `handlers` */
export function serve<Parent extends CallsOf<Parent>>(
  handlers: object,
  options: { readonly answersAtOnce?: number; readonly end?: () => unknown } = {},
): Channel<Parent> {
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
 * Port to the parent process. This process ends with its parent, is the first that the kernel kills if memory is short
 * (proc_pid_oom_score_adj(5)), and ignores signals to the process group.
 */
function processPort(): Port & { close(): void } {
  try {
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Only Linux has this file.
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.once('disconnect', () => process.exit());
  return {
    postMessage: (items) => void process.send?.([...items], () => undefined),
    on: (event, listener) => process.on(event, (items) => listener(items as never)),
    close: () => void process.send?.([], () => process.disconnect()),
  };
}

export function yieldToReaders(): void {
  yieldTo(constants.priority.PRIORITY_BELOW_NORMAL);
}

export function yieldToAll(): void {
  yieldTo(constants.priority.PRIORITY_LOW);
}

/**
 * On Linux each thread has a niceness, which its threads inherit (setpriority(2)). V8's threads started earlier and need it too: without it
 * a page took 5.2 ms instead of 3.5 (p99) during the import of 10,000 pages on two cores.
 */
function yieldTo(niceness: number): void {
  if (process.platform !== 'linux') return;
  for (const thread of isMainThread ? threadsOfProcess() : [0]) {
    try {
      setPriority(thread, niceness);
    } catch {
      // The thread has ended (ESRCH), or a sandbox forbids the call. Both are harmless.
    }
  }
}

/** Returns only this thread without /proc. */
function threadsOfProcess(): number[] {
  try {
    return readdirSync('/proc/self/task').map(Number);
  } catch {
    return [0];
  }
}

/** Path of a thread's module: `.ts` for sources, `.js` in the built program. */
export const threadEntry = (path: string, { url }: Pick<ImportMeta, 'url'>): URL => new URL(path + extname(url), url);
