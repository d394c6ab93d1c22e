import { HEAPS, Thread } from '../../threads/index.ts';
import type { Tracer } from '../../traces/tracer.ts';
import type { JobSteps } from './steps.ts';

/** The thread of a job's heavy steps. An abort ends it at once: its files are in the work folder, or whole in a store. */
export type JobThread = Thread<JobSteps>;

/** @param entry a module that calls `serveSteps` */
export function openJobThread(entry: URL, signal: AbortSignal): JobThread {
  return new Thread<JobSteps>({ task: 'export', heap: HEAPS.job, entry, signal });
}

export type TracedThread = Pick<JobThread, 'call' | 'terminate'>;

/** Of each step a span. */
export function tracedThread(entry: URL, signal: AbortSignal, tracer: Tracer): TracedThread {
  const thread = openJobThread(entry, signal);
  return {
    call: (step, ...rest) => tracer.span(step, {}, () => thread.call(step, ...rest)),
    terminate: () => thread.terminate(),
  };
}
