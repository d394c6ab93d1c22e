import { type PlainError, toDocshelfError } from '../domain/errors.ts';

/** What a thread says of a call that it was asked by number. */
export type CallOutcome =
  | { readonly kind: 'answer'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'refusal'; readonly id: number; readonly error: PlainError };

/** What becomes of a call, once it is known. Never rejects. */
export function outcomeOf(id: number, answer: Promise<unknown>): Promise<CallOutcome> {
  return answer.then(
    (result): CallOutcome => ({ kind: 'answer', id, result }),
    (error: unknown): CallOutcome => ({ kind: 'refusal', id, error: toDocshelfError(error).toPlain() }),
  );
}
