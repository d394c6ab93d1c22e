import { HEAPS, Thread, threadEntry } from '../../../threads/index.ts';
import type { JobQueue } from '../../ports.ts';
import type { QueueCalls, QueueFile } from './sqlite.ts';

/** Waiting calls of clients: some seconds of flushes. Calls of a job's holder are never rejected. */
const WAITING_MAX = 1000;
const OF_CLIENTS = ['add', 'get', 'list', 'cancel', 'report', 'revision'] as const;
const OF_HOLDERS = [
  'claim',
  'renew',
  'advance',
  'complete',
  'fail',
  'release',
  'lastCompleted',
  'counts',
  'prune',
  'references',
] as const;

/** A call waits up to five seconds for another process's lock. */
const ENDING_MS_MAX = 10_000;

/**
 * Opens the embedded SQLite queue in a thread, which the first call starts.
 * @throws DocshelfError `data_folder_newer`, `cannot_write`, `cannot_read`, `busy`
 */
export async function openSqliteJobQueue(
  order: QueueFile,
  entry = threadEntry('./worker', import.meta),
): Promise<JobQueue> {
  // A waiting call may have succeeded before the thread died.
  const thread = new Thread<QueueCalls>({
    task: 'ask for jobs',
    heap: HEAPS.queue,
    entry,
    data: order,
    callsMax: WAITING_MAX,
  });
  const calls = (methods: readonly (keyof JobQueue)[], isUrgent: boolean) =>
    methods.map((method) => [
      method,
      (...args: readonly unknown[]) => thread.call('ask', { method, args }, { isUrgent }),
    ]);
  const methods = Object.fromEntries([...calls(OF_CLIENTS, false), ...calls(OF_HOLDERS, true)]);
  const queue: JobQueue = { ...methods, close: () => thread.end({ withinMs: ENDING_MS_MAX }) };
  try {
    await queue.counts();
    return queue;
  } catch (error) {
    await queue.close();
    throw error;
  }
}
