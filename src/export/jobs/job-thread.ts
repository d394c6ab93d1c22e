import { HEAPS, Thread } from '../../threads/index.ts';
import type { JobSteps } from './serve-steps.ts';

/**
 * The thread that a job's heavy steps run in, one at a time. An abort ends it at once, whatever it is doing: what it wrote by then
 * lies in the job's work folder, or is whole in a store.
 */
export type JobThread = Thread<JobSteps>;

/** @param entry a module that calls `serveSteps` */
export function openJobThread(entry: URL, signal: AbortSignal): JobThread {
  return new Thread<JobSteps>({ task: 'export', heap: HEAPS.job, entry, signal });
}
