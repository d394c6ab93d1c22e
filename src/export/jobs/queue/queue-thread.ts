import { serve } from '../../../threads/index.ts';
import { asStoreFault, patiently } from './database.ts';
import { type Clocks, JobStore } from './job-store.ts';
export interface QueueOrder {
  /** The store's file. It and its folder are made where there is none. */
  readonly file: string;
}

export type QueueMethod = Exclude<keyof JobStore, 'close'>;
export type QueueArgs<Method extends QueueMethod> = Parameters<JobStore[Method]>;
export type QueueResult<Method extends QueueMethod> = ReturnType<JobStore[Method]>;

export interface QueueCalls {
  ask(call: { readonly method: QueueMethod; readonly args: readonly unknown[] }): unknown;
}

/** The file is opened by the first call, anew where that failed. */
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
