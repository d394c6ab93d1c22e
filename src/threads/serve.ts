import { constants, setPriority } from 'node:os';
import { extname } from 'node:path';
import { type MessagePort, parentPort } from 'node:worker_threads';
import { type CallsOf, Channel } from './channel.ts';

export interface ServeOptions {
  readonly answersAtOnce?: number;
  /** Gives back what is outside the heap, which does not go with the thread. */
  readonly end?: () => unknown;
}

/**
 * Answers the calls of the thread that started this one until it is told to end.
 *
 * @returns the way back: calls of the starting thread's `handlers`
 */
export function serve<Parent extends CallsOf<Parent>>(handlers: object, options: ServeOptions = {}): Channel<Parent> {
  const port = parentPort as MessagePort;
  const { end, ...channelOptions } = options;
  const stop = async (): Promise<void> => {
    await channel.idle();
    await end?.();
    port.close();
  };
  const channel = new Channel<Parent>(port, handlers, { ...channelOptions, onStop: () => void stop() });
  return channel;
}

/** Readers come first. On Linux a thread has a niceness of its own (setpriority(2), "C library/kernel differences"). */
export function yieldToReaders(): void {
  if (process.platform === 'linux') setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);
}

/** A thread's module, beside the one that starts it: `.ts` where the sources run as they are, `.js` in the built program. */
export function threadEntry(path: string, { url }: Pick<ImportMeta, 'url'>): URL {
  return new URL(path + extname(url), url);
}
