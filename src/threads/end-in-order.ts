import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';

/**
 * Tells a thread to end (`{ kind: 'stop' }`), and waits until it has: what it was asked before is answered. One with a model
 * must not be ended from outside: in the middle of native code that takes the process with it.
 */
export async function endInOrder(thread: Worker): Promise<void> {
  if (thread.threadId === -1) return;
  const ended = once(thread, 'exit');
  thread.ref();
  thread.postMessage({ kind: 'stop' });
  await ended;
}
