import type { Worker } from 'node:worker_threads';

/** Sees every thread that this one starts from now on. */
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
  return { started, alive: () => alive, stop: () => process.off('worker', onWorker) };
}
