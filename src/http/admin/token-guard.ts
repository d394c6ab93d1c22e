import { setTimeout } from 'node:timers/promises';
import type { Secret } from '../../domain/secret.ts';
import { bearerToken, requireToken } from '../bearer.ts';
import { ClientRates, clientOf } from '../limits/client-rates.ts';

interface TokenGuardOptions {
  /** Null: none is set. */
  readonly token: () => Secret | null;
  readonly onWrong: () => void;
  readonly rates?: ClientRates;
  readonly wait?: (ms: number) => Promise<unknown>;
}

/** Mistyped ones are few, and answered at once. */
const WRONG_RATE = { burst: 20, perSecond: 0.1 };
/** Beyond that each waits for those before it as well, as far as their number bounds the memory of who wait. */
const DELAY_MS = 1_000;
const TURNS_MAX = 10;
const HELP = 'The right admin.token is admitted at once, whoever else guesses from this address.';

/** Wrong tokens are counted, and answered late by client, parallel ones one by one; a right one never waits. */
export class TokenGuard {
  readonly #options: TokenGuardOptions;
  readonly #rates: ClientRates;
  /** Guesses that wait for their answer, by client. */
  readonly #waiting = new Map<string, number>();

  constructor(options: TokenGuardOptions) {
    this.#options = options;
    const words = { act: 'sign in', cause: 'wrong tokens', help: HELP };
    this.#rates = options.rates ?? new ClientRates({ policy: WRONG_RATE, ...words });
  }

  /** @throws DocshelfError `forbidden`, `unauthorized`, `rate_limited` */
  async admit(authorization: string | undefined, client: string): Promise<void> {
    try {
      requireToken(this.#options.token(), authorization);
    } catch (error) {
      if (bearerToken(authorization) === null || this.#options.token() === null) throw error;
      this.#options.onWrong();
      try {
        this.#rates.take(client);
      } catch (tooMany) {
        await this.#turnOf(clientOf(client));
        throw tooMany;
      }
      throw error;
    }
  }

  async #turnOf(client: string): Promise<void> {
    const turn = (this.#waiting.get(client) ?? 0) + 1;
    this.#waiting.set(client, turn);
    await (this.#options.wait ?? setTimeout)(Math.min(turn, TURNS_MAX) * DELAY_MS);
    const left = (this.#waiting.get(client) ?? 1) - 1;
    if (left > 0) this.#waiting.set(client, left);
    else this.#waiting.delete(client);
  }
}
