import type { JobStore } from './job-store.ts';

/** Messages between the thread of the job store and its adapter. Plain data, both ways. */

/** The order that starts the thread. */
export interface QueueOrder {
  /** The store's file. It and its folder are made where there is none. */
  readonly file: string;
}

/** The calls of the store, which the thread answers one after another. */
export type QueueMethod = Exclude<keyof JobStore, 'close'>;
export type QueueArgs<Method extends QueueMethod> = Parameters<JobStore[Method]>;
export type QueueResult<Method extends QueueMethod> = ReturnType<JobStore[Method]>;

export interface QueueCalls {
  ask(call: { readonly method: QueueMethod; readonly args: readonly unknown[] }): unknown;
}
