/** The one way to a thread: `Thread` on the side that calls, `serve` on the other. Calls go both ways, as plain data. */
export { type CallContext, type CallsOf, HandedOver, type ThreadCall } from './channel.ts';
export { HEAPS, type Heap, heapWithin, ProcessorLimit } from './limits.ts';
export { serve, threadEntry, yieldToAll, yieldToReaders } from './serve.ts';
export { Thread, type ThreadOptions, ThreadPool } from './thread.ts';
