import { readdirSync, writeFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { extname } from 'node:path';
import { isMainThread, parentPort } from 'node:worker_threads';
import { type CallsOf, Channel, type Port } from './channel.ts';

/** Serves calls of the parent until the parent sends `stop`. @returns channel to the `handlers` of the parent */
export function serve<Parent extends CallsOf<Parent>>(handlers: object, end?: () => unknown): Channel<Parent> {
  const port = parentPort ?? processPort();
  const stop = async (): Promise<void> => {
    await channel.idle();
    await end?.();
    port.close();
  };
  const channel = new Channel<Parent>(port, handlers, () => void stop());
  return channel;
}

/** Port to the parent process. Ignores signals to the process group, because the parent ends this process. */
function processPort(): Port & { close(): void } {
  try {
    // If memory is short, Linux kills this process first (proc_pid_oom_score_adj(5)).
    writeFileSync('/proc/self/oom_score_adj', '1000');
  } catch {
    // Ignore the error, because only Linux has oom_score_adj.
  }
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.once('disconnect', () => process.exit());
  return {
    postMessage: (item) => void process.send?.(item, () => undefined),
    on: (event, listener) => process.on(event, (item) => listener(item as never)),
    // Send an item that the parent ignores, and disconnect when it is sent: the parent must receive all earlier results first.
    close: () => void process.send?.({ kind: 'stop' }, () => process.disconnect()),
  };
}

/**
 * Lowers the priority of this process, so that a reader waits less. In a worker thread, lowers only the priority of that thread.
 * Sets the niceness of each thread, because Linux has one niceness per thread (setpriority(2)), and V8's threads already run.
 * With only the calling thread set, a page took 5.2 ms instead of 3.5 ms (p99) during an import of 10,000 pages.
 */
export function yieldToReaders(): void {
  if (process.platform !== 'linux') return;
  for (const thread of isMainThread ? threadsOfProcess() : [0]) {
    try {
      setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
    } catch {
      // Ignore the error: the thread has ended (ESRCH), or a sandbox forbids the call.
    }
  }
}

/** Thread IDs of this process. Without /proc, returns only the calling thread (0). */
function threadsOfProcess(): number[] {
  try {
    return readdirSync('/proc/self/task').map(Number);
  } catch {
    return [0];
  }
}

/** URL of a thread's module: `.ts` for sources, `.js` in the built program. */
export const threadEntry = (path: string, { url }: Pick<ImportMeta, 'url'>): URL => new URL(path + extname(url), url);
