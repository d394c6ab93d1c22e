import { setTimeout as delay } from 'node:timers/promises';
import type { Secret } from '../../domain/secret.ts';
import { bearerToken, requireToken } from '../bearer.ts';
import { ClientRates } from '../limits/client-rates.ts';

interface TokenGuardOptions {
  /** Null: none is set. */
  readonly token: () => Secret | null;
  readonly onWrong: () => void;
  readonly rates?: ClientRates;
  readonly delayMs?: number;
}

/** Mistyped ones are few; who guesses gets one answer in ten seconds, and that late. */
const WRONG_RATE = { burst: 20, perSecond: 0.1 };
const DELAY_MS = 1_000;

/** Wrong tokens are counted, and slowed by client; a right one is neither, whoever else guesses from its address. */
export class TokenGuard {
  readonly #options: TokenGuardOptions;
  readonly #rates: ClientRates;

  constructor(options: TokenGuardOptions) {
    this.#options = options;
    this.#rates = options.rates ?? new ClientRates({ policy: WRONG_RATE, act: 'sign in', cause: 'wrong tokens' });
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
        await delay(this.#options.delayMs ?? DELAY_MS);
        throw tooMany;
      }
      throw error;
    }
  }
}
