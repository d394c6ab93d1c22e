import type { MessagePort } from 'node:worker_threads';
import { toDocshelfError } from '../../domain/errors.ts';
import type { CallOutcome } from '../../threads/call-outcome.ts';
import { asStoreFault, patiently } from './database.ts';
import { type Clocks, JobStore } from './job-store.ts';
import type { QueueOrder, ToQueueThread } from './ports.ts';

/** Answers the calls of a job queue until it is told to stop. The file is opened by the first call, anew where that failed. */
export function serveQueue(port: MessagePort, { file }: QueueOrder, clocks: Clocks): void {
  const post = (outcome: CallOutcome): void => port.postMessage(outcome);
  let store: JobStore | null = null;
  port.on('message', (message: ToQueueThread) => {
    if (message.kind === 'stop') {
      store?.close();
      port.close();
      return;
    }
    const { id, method, args } = message;
    try {
      const result = patiently(() => {
        store ??= new JobStore(file, clocks);
        const answer = store[method] as (...args: readonly unknown[]) => unknown;
        return answer.apply(store, [...args]);
      });
      post({ kind: 'answer', id, result });
    } catch (error) {
      post({ kind: 'refusal', id, error: toDocshelfError(asStoreFault(file, error)).toPlain() });
    }
  });
}
