import { AsyncLocalStorage } from 'node:async_hooks';

/** Longest wait of `setTimeout`, 24 days (HTML standard, timers: a signed 32-bit integer). */
export const TIMER_MS_MAX = 2 ** 31 - 1;

interface Order {
  readonly act: () => Promise<unknown>;
  readonly resolve: (result: never) => void;
  readonly reject: (error: unknown) => void;
}

export interface SingleFlightOptions {
  /** @returns when the next pass is due; null: when somebody wakes it */
  readonly pass: () => Promise<number | null>;
  /** True while something beside the loop will wake it. */
  readonly isBusy: () => boolean;
  readonly stopping: AbortSignal;
}

/** Runs passes, one at a time, whenever it is woken; orders are acts that wait for their turn in a pass. */
export class SingleFlight {
  readonly #options: SingleFlightOptions;
  readonly #orders: Order[] = [];
  readonly #answers: (() => void)[] = [];
  readonly #quiet: (() => void)[] = [];
  /** Passes are in the trace of nobody who wakes the loop; an order is in that of its giver. */
  readonly #outside = AsyncLocalStorage.snapshot();
  #isRunning = false;
  #isAwake = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: SingleFlightOptions) {
    this.#options = options;
  }

  get hasOrder(): boolean {
    return this.#orders.length > 0;
  }

  wake(): void {
    this.#isAwake = true;
    if (!this.#isRunning) void this.#outside(() => this.#run());
  }

  /** Carries an act out in a pass. Resolves when that pass is over. */
  inTurn<T>(act: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.#orders.push({ act: AsyncLocalStorage.bind(act), resolve, reject });
    this.wake();
    return promise;
  }

  async carryOutOrder(): Promise<void> {
    const order = this.#orders.shift();
    try {
      const result = (await order?.act()) as never;
      this.#answers.push(() => order?.resolve(result));
    } catch (error) {
      order?.reject(error);
    }
  }

  rejectOrders(reason: unknown): void {
    for (const order of this.#orders.splice(0)) order.reject(reason);
  }

  /** Waits until nothing goes on, in the loop or beside it. */
  untilQuiet(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#quiet.push(resolve);
    this.wake();
    return promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#isAwake) {
      this.#isAwake = false;
      clearTimeout(this.#timer);
      const nextMs = await this.#options.pass();
      if (!this.#isAwake) this.#rest(nextMs);
    }
    this.#isRunning = false;
  }

  #rest(nextMs: number | null): void {
    const { stopping, isBusy } = this.#options;
    for (const answer of this.#answers.splice(0)) answer();
    if (stopping.aborted) this.rejectOrders(stopping.reason);
    if (stopping.aborted || !isBusy()) for (const resolve of this.#quiet.splice(0)) resolve();
    if (nextMs === null || stopping.aborted) return;
    const waitMs = Math.min(Math.max(nextMs - Date.now(), 0), TIMER_MS_MAX);
    this.#timer = setTimeout(() => this.wake(), waitMs).unref();
  }
}
