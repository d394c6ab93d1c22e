import { DocshelfError } from '../domain/errors.ts';
import type { CallOutcome } from './call-outcome.ts';

/** The calls to another thread that are not answered yet, each by its number. */
export class OpenCalls {
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;

  get count(): number {
    return this.#waiting.size;
  }

  /** A call to be made, and what will come of it. */
  open(): { readonly id: number; readonly answer: Promise<unknown> } {
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    this.#waiting.set(id, answer);
    return { id, answer: answer.promise };
  }

  settle(outcome: CallOutcome): void {
    const answer = this.#waiting.get(outcome.id);
    this.#waiting.delete(outcome.id);
    if (outcome.kind === 'answer') answer?.resolve(outcome.result);
    else answer?.reject(DocshelfError.fromPlain(outcome.error));
  }

  /** Nobody is answered any more. */
  failAll(error: unknown): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}
