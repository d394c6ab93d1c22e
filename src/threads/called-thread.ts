import type { Worker } from 'node:worker_threads';
import type { DocshelfError } from '../domain/errors.ts';
import type { CallOutcome } from './call-outcome.ts';
import { endInOrder } from './end-in-order.ts';
import { OpenCalls } from './open-calls.ts';

export interface CalledThreadOptions {
  readonly spawn: () => Worker;
  /** What a call fails with whose thread has ended before it answered; the next call starts another thread. */
  readonly died: (cause: unknown) => DocshelfError;
  /** What a call fails with that comes after `end`. */
  readonly over: () => DocshelfError;
  /** Hears what is no answer to a call. */
  readonly hear?: (thread: Worker, message: never) => void;
  /** A thread has ended, for whatever reason. */
  readonly onEnd?: () => void;
}

/**
 * A thread that answers calls, each by its number. It is started by the first call, and anew by the next one where it died. It
 * keeps the process alive as long as somebody waits for an answer, and no longer.
 */
export class CalledThread {
  readonly #options: CalledThreadOptions;
  readonly #calls = new OpenCalls();
  #thread: Worker | null = null;
  #isOver = false;

  constructor(options: CalledThreadOptions) {
    this.#options = options;
  }

  /** Calls that wait. */
  get waiting(): number {
    return this.#calls.count;
  }

  /** @param messageOf the message that carries a call of this number; the thread answers it with a `CallOutcome` */
  async ask(messageOf: (id: number) => object): Promise<unknown> {
    if (this.#isOver) throw this.#options.over();
    const thread = this.#thread ?? this.#start();
    const { id, answer } = this.#calls.open();
    thread.ref();
    thread.postMessage(messageOf(id));
    return answer;
  }

  /** Ends the thread, once what was asked before is answered. */
  async end(): Promise<void> {
    this.#isOver = true;
    if (this.#thread !== null) await endInOrder(this.#thread);
  }

  #start(): Worker {
    const { spawn, hear } = this.#options;
    const thread = spawn();
    this.#thread = thread;
    thread.on('message', (message: CallOutcome) => {
      if (message.kind === 'answer' || message.kind === 'refusal') this.#settle(thread, message);
      else hear?.(thread, message);
    });
    const ended = (cause: unknown): void => this.#onEnd(thread, cause);
    thread.on('error', ended);
    thread.on('exit', ended);
    thread.unref();
    return thread;
  }

  #settle(thread: Worker, outcome: CallOutcome): void {
    this.#calls.settle(outcome);
    if (this.#calls.count === 0) thread.unref();
  }

  /** An error comes before the exit: by then there may be another thread, whose calls are not this one's. */
  #onEnd(thread: Worker, cause: unknown): void {
    if (this.#thread !== thread) return;
    this.#thread = null;
    this.#options.onEnd?.();
    this.#calls.failAll(this.#options.died(cause));
  }
}
