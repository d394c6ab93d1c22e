import type { Worker } from 'node:worker_threads';
import { DocshelfError } from '../domain/errors.ts';
import type { FoundSoFar } from './findings.ts';
import type {
  CheckedSite,
  CheckOrder,
  CollectOrder,
  DescribeOrder,
  OnStep,
  PackOrder,
  SweepOrder,
  VerifyOrder,
} from './orders.ts';
import type { StepMessage, StepOrder } from './serve-steps.ts';

/** Starts a thread that serves steps (`serve-steps.ts`); given by the composition root. */
export type SpawnJobThread = () => Worker;

const silent: OnStep = () => undefined;

interface Started {
  readonly worker: Worker;
  /** Why it is no longer there. */
  ended: Error | null;
}

/**
 * The thread that a job's heavy steps run in, one at a time. An abort ends it at once, whatever it is doing: what it wrote
 * by then lies in the job's work folder, or is whole in a store.
 */
export class JobThread {
  readonly #spawn: SpawnJobThread;
  readonly #signal: AbortSignal;
  #started: Started | null = null;

  constructor(spawn: SpawnJobThread, signal: AbortSignal) {
    this.#spawn = spawn;
    this.#signal = signal;
  }

  collect(order: CollectOrder, onStep: OnStep): Promise<{ readonly tableSha256: string; readonly pages: number }> {
    return this.#run({ step: 'collect', ...order }, onStep);
  }

  check(order: CheckOrder, onStep: OnStep): Promise<CheckedSite> {
    return this.#run({ step: 'check', ...order }, onStep);
  }

  verify(order: VerifyOrder, onStep: OnStep): Promise<FoundSoFar> {
    return this.#run({ step: 'verify', ...order }, onStep);
  }

  describe(order: DescribeOrder): Promise<{ readonly contentSha256: string }> {
    return this.#run({ step: 'describe', ...order }, silent);
  }

  pack(order: PackOrder, onStep: OnStep): Promise<{ readonly sha256: string; readonly sizeBytes: number }> {
    return this.#run({ step: 'pack', ...order }, onStep);
  }

  sweep(order: SweepOrder): Promise<void> {
    return this.#run({ step: 'sweep', ...order }, silent);
  }

  /**
   * Gives back what the steps so far have filled its heap with, which V8 would keep: after a crawl of 20,000 pages, 200 MB. A
   * step that comes later has a new thread, which takes 60 ms to start.
   */
  async end(): Promise<void> {
    const started = this.#started;
    this.#started = null;
    await started?.worker.terminate();
  }

  async #run<Result>(order: StepOrder, onStep: OnStep): Promise<Result> {
    this.#signal.throwIfAborted();
    this.#started ??= this.#start();
    const started = this.#started;
    const { worker } = started;
    if (started.ended !== null) throw started.ended;
    const answered = new AbortController();
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const onMessage = (message: StepMessage): void => {
      if (message.kind === 'progress') onStep(message.done, message.total, message.pages ?? undefined);
      // What a step answers is what `steps.ts` says: the two sides are one program.
      else if (message.kind === 'done') resolve(message.result as Result);
      else reject(DocshelfError.fromPlain(message.error));
    };
    const onExit = (): void =>
      reject(started.ended ?? new DocshelfError('internal', 'Cannot export: the thread ended'));
    worker.on('message', onMessage);
    worker.on('exit', onExit);
    this.#signal.addEventListener('abort', () => reject(this.#signal.reason as Error), { signal: answered.signal });
    worker.postMessage(order);
    try {
      return await promise;
    } finally {
      answered.abort();
      worker.off('message', onMessage);
      worker.off('exit', onExit);
    }
  }

  #start(): Started {
    const started: Started = { worker: this.#spawn(), ended: null };
    // Between two steps nobody else listens.
    started.worker.on('error', (error: Error) => {
      started.ended ??= error;
    });
    started.worker.on('exit', (exitCode) => {
      started.ended ??= new DocshelfError('internal', `Cannot export: the job's thread ended with ${exitCode}`);
    });
    return started;
  }
}
