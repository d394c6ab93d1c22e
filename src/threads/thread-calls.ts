import type { Worker } from 'node:worker_threads';
import { DocshelfError, type PlainError } from '../domain/errors.ts';

/** What a thread says of a call that it was asked by number. */
export type CallOutcome =
  | { readonly kind: 'answer'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'refusal'; readonly id: number; readonly error: PlainError };

/**
 * The calls that wait for a thread's answers, each by its number. The thread keeps the process alive as long as somebody
 * waits for it, and no longer; who starts it says `unref()` at once.
 */
export class ThreadCalls {
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #asked = 0;

  /** Calls that wait. */
  get count(): number {
    return this.#waiting.size;
  }

  /** @param messageOf the message that carries a call of this number */
  ask(thread: Worker, messageOf: (id: number) => object): Promise<unknown> {
    const id = this.#asked++;
    const answer = Promise.withResolvers<unknown>();
    this.#waiting.set(id, answer);
    thread.ref();
    thread.postMessage(messageOf(id));
    return answer.promise;
  }

  settle(thread: Worker, outcome: CallOutcome): void {
    const answer = this.#waiting.get(outcome.id);
    this.#waiting.delete(outcome.id);
    if (this.#waiting.size === 0) thread.unref();
    if (outcome.kind === 'answer') answer?.resolve(outcome.result);
    else answer?.reject(DocshelfError.fromPlain(outcome.error));
  }

  /** The thread has ended: nobody is answered any more. */
  rejectAll(error: DocshelfError): void {
    for (const answer of this.#waiting.values()) answer.reject(error);
    this.#waiting.clear();
  }
}
