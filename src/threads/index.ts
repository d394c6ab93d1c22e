export type { CallContext, CallsOf, ThreadCall } from './channel.ts';
export { HEAPS, type Heap, heapWithin, ProcessorLimit } from './limits.ts';
export { serve, threadEntry, yieldToReaders } from './serve.ts';
export { Thread, type ThreadOptions, ThreadPool } from './thread.ts';
