import { once } from 'node:events';

/** Never resolves. @throws the signal's reason, also if the signal was aborted before the call */
export async function untilAborted(signal: AbortSignal): Promise<never> {
  if (!signal.aborted) await once(signal, 'abort');
  throw signal.reason;
}
