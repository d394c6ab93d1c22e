import { AsyncLocalStorage } from 'node:async_hooks';

/** Longest delay of `setTimeout`, 24 days (signed 32-bit milliseconds). */
const TIMER_MS_MAX = 2 ** 31 - 1;

interface Command {
  readonly run: () => Promise<unknown>;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

interface WorkQueueOptions {
  readonly pass: () => Promise<number | null>;
  /** True while a task beside the queue runs. The task must call `wake` at its end. */
  readonly isBusy: () => boolean;
  readonly stopping: AbortSignal;
}

export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #commands: Command[] = [];
  /** Callers that wait for the end of a pass. Callers of `whenIdle` also wait for the task beside the queue. */
  #waiting: { readonly isForIdle: boolean; readonly resolve: () => void }[] = [];
  #state: 'resting' | 'in a pass' | 'woken' = 'resting';
  #timer: NodeJS.Timeout | undefined;
  /** Async context outside any trace. Passes run in it, because they belong to no single caller. */
  readonly #outside = AsyncLocalStorage.snapshot();

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  get hasCommand(): boolean {
    return this.#commands.length > 0;
  }

  wake(): void {
    const isResting = this.#state === 'resting';
    this.#state = 'woken';
    if (isResting) void this.#outside(() => this.#run());
  }

  enqueue<T>(act: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#commands.push({ run: AsyncLocalStorage.bind(act), resolve, reject });
    this.wake();
    return promise;
  }

  async runCommand(): Promise<void> {
    const command = this.#commands.shift();
    try {
      const result = (await command?.run()) as never;
      this.#waiting.push({ isForIdle: false, resolve: () => command?.resolve(result) });
    } catch (error) {
      command?.reject(error);
    }
  }

  rejectCommands(reason: unknown): void {
    for (const command of this.#commands.splice(0)) command.reject(reason);
  }

  whenIdle(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.push({ isForIdle: true, resolve });
    this.wake();
    return promise;
  }

  async #run(): Promise<void> {
    while (this.#state === 'woken') {
      this.#state = 'in a pass';
      clearTimeout(this.#timer);
      const nextMs = await this.#options.pass();
      if (!this.#isWoken) this.#rest(nextMs);
    }
    this.#state = 'resting';
  }

  get #isWoken(): boolean {
    return this.#state === 'woken';
  }

  #rest(nextMs: number | null): void {
    const { stopping, isBusy } = this.#options;
    if (stopping.aborted) this.rejectCommands(stopping.reason);
    const isIdle = stopping.aborted || !isBusy();
    const stay = this.#waiting.filter(({ isForIdle }) => isForIdle && !isIdle);
    for (const each of this.#waiting) if (!stay.includes(each)) each.resolve();
    this.#waiting = stay;
    if (nextMs === null || stopping.aborted) return;
    const waitMs = Math.min(Math.max(nextMs - Date.now(), 0), TIMER_MS_MAX);
    this.#timer = setTimeout(() => this.wake(), waitMs).unref();
  }
}
