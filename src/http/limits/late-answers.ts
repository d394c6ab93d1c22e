import { setTimeout } from 'node:timers/promises';
import { clientOf } from './client-rates.ts';

/** Each waits for those before it as well, as far as their number bounds the memory of who wait. */
const DELAY_MS = 1_000;
const TURNS_MAX = 10;

/** Makes clients that guess wait: answers to parallel guesses of one client come one by one. */
export class LateAnswers {
  readonly #wait: (ms: number) => Promise<unknown>;
  /** Guesses that wait for their answer, by client. */
  readonly #waiting = new Map<string, number>();

  constructor(wait: (ms: number) => Promise<unknown> = setTimeout) {
    this.#wait = wait;
  }

  /** Resolves when the answer may be given. @param address of the client */
  async turnOf(address: string): Promise<void> {
    const client = clientOf(address);
    const turn = (this.#waiting.get(client) ?? 0) + 1;
    this.#waiting.set(client, turn);
    await this.#wait(Math.min(turn, TURNS_MAX) * DELAY_MS);
    const left = (this.#waiting.get(client) ?? 1) - 1;
    if (left > 0) this.#waiting.set(client, left);
    else this.#waiting.delete(client);
  }
}
