import { readdirSync, readFileSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';

/** Records each thread that this thread starts from now on, and processes that replace threads. */
export function watchThreads(): {
  readonly started: Worker[];
  readonly alive: () => number;
  readonly stop: () => void;
} {
  const started: Worker[] = [];
  let alive = 0;
  const onWorker = (worker: Worker): void => {
    started.push(worker);
    alive += 1;
    worker.once('exit', () => {
      alive -= 1;
    });
  };
  process.on('worker', onWorker);
  return { started, alive: () => alive + workerProcesses().length, stop: () => process.off('worker', onWorker) };
}

/**
 * Ids of child processes that run a thread's module, by default of this process and in any folder:
 * proc_pid_task_tid_children(5).
 */
export function workerProcesses(pid: number | 'self' = 'self', folder = ''): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readText(`/proc/${pid}/task/${task}/children`).split(' ').filter(Boolean).map(Number),
  );
  const module = new RegExp(`${folder}/worker\\.[jt]s\\0`);
  return children.filter((pid) => module.test(readText(`/proc/${pid}/cmdline`)));
}

/** Empty if the process has just ended. */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
