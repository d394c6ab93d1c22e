import { setTimeout as sleep } from 'node:timers/promises';

/** Only a hanging test takes this long. A busy machine is ten times slower than an idle one. */
export const WAIT_MS_MAX = 120_000;
const POLL_MS = 25;

/** Polls until `look` returns a value, with a time limit. */
export async function waitFor<T>(
  look: () => T | null | Promise<T | null>,
  complaint: () => string,
  timeoutMs = WAIT_MS_MAX,
  everyMs = POLL_MS,
): Promise<T> {
  const endMs = Date.now() + timeoutMs;
  for (;;) {
    const found = await look();
    if (found !== null) return found;
    if (Date.now() > endMs) throw new Error(`after ${timeoutMs} ms: ${complaint()}`);
    await sleep(everyMs);
  }
}
