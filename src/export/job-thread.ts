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

/**
 * The thread that a job's heavy steps run in, one at a time. An abort ends it at once, whatever it is doing: what it wrote
 * by then lies in the job's work folder, or is whole in a store.
 */
export class JobThread {
  readonly #worker: Worker;
  readonly #signal: AbortSignal;
  #ended: Error | null = null;

  constructor(spawn: SpawnJobThread, signal: AbortSignal) {
    signal.throwIfAborted();
    this.#worker = spawn();
    this.#signal = signal;
    // Between two steps nobody else listens.
    this.#worker.on('error', (error: Error) => {
      this.#ended ??= error;
    });
    this.#worker.on('exit', (exitCode) => {
      this.#ended ??= new DocshelfError('internal', `Cannot export: the job's thread ended with ${exitCode}`);
    });
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

  async end(): Promise<void> {
    await this.#worker.terminate();
  }

  async #run<Result>(order: StepOrder, onStep: OnStep): Promise<Result> {
    this.#signal.throwIfAborted();
    if (this.#ended !== null) throw this.#ended;
    const answered = new AbortController();
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const onMessage = (message: StepMessage): void => {
      if (message.kind === 'progress') onStep(message.done, message.total, message.pages ?? undefined);
      // What a step answers is what `steps.ts` says: the two sides are one program.
      else if (message.kind === 'done') resolve(message.result as Result);
      else reject(DocshelfError.fromPlain(message.error));
    };
    const onExit = (): void => reject(this.#ended ?? new DocshelfError('internal', 'Cannot export: the thread ended'));
    this.#worker.on('message', onMessage);
    this.#worker.on('exit', onExit);
    this.#signal.addEventListener('abort', () => reject(this.#signal.reason as Error), { signal: answered.signal });
    this.#worker.postMessage(order);
    try {
      return await promise;
    } finally {
      answered.abort();
      this.#worker.off('message', onMessage);
      this.#worker.off('exit', onExit);
    }
  }
}
