import { serve } from '../../../threads/index.ts';
import { asStoreFault, patiently } from './database.ts';
import { type Clocks, JobStore } from './job-store.ts';
import type { QueueCalls, QueueOrder } from './queue-calls.ts';

/** Answers the calls of a job queue. The file is opened by the first call, anew where that failed. */
export function serveQueue({ file }: QueueOrder, clocks: Clocks): void {
  let store: JobStore | null = null;
  const ask: QueueCalls['ask'] = ({ method, args }) => {
    try {
      return patiently(() => {
        store ??= new JobStore(file, clocks);
        const answer = store[method] as (...args: readonly unknown[]) => unknown;
        return answer.apply(store, [...args]);
      });
    } catch (error) {
      throw asStoreFault(file, error);
    }
  };
  serve({ ask } satisfies QueueCalls, { end: () => store?.close() });
}
