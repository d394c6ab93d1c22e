import { readdirSync, readFileSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';

/** Sees every thread that this one starts from now on, and the processes in place of threads. */
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

/** Children of a process, by default of this one, that run the module of a thread, in any folder unless told: proc_pid_task_tid_children(5). */
export function workerProcesses(pid: number | 'self' = 'self', folder = ''): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readText(`/proc/${pid}/task/${task}/children`).split(' ').filter(Boolean).map(Number),
  );
  const module = new RegExp(`${folder}/worker\\.[jt]s\\0`);
  return children.filter((pid) => module.test(readText(`/proc/${pid}/cmdline`)));
}

/** Empty where it has just ended. */
function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
