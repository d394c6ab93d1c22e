import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { bareHost } from '../../domain/egress.ts';
import { DocshelfError } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import { bearerToken, requireToken } from '../bearer.ts';
import { ClientRates, LateAnswers } from '../limits/client-rates.ts';

/** Probes come by whatever name an orchestrator gives a pod, and tell nothing. */
const HEALTH: ReadonlySet<string> = new Set(['/livez', '/readyz']);

/**
 * Refuses requests for another host's name: a page whose name is made to lead here (DNS rebinding) is of the same origin
 * as the answers for its browser, and sends that name.
 * @param hosts names besides `localhost`, every IP address and this machine's; `*`: all
 * @throws DocshelfError `misdirected`
 */
export function requireOwnName(url: string, hosts: readonly string[]): void {
  const asked = new URL(url);
  if (HEALTH.has(asked.pathname)) return;
  const name = bareHost(asked.hostname).replace(/\.$/, '');
  const own = ['localhost', hostname(), ...hosts].map((each) => each.toLowerCase());
  if (isIP(name) !== 0 || own.includes(name) || own.includes('*')) return;
  throw new DocshelfError('misdirected', `Cannot answer for "${name}": the admin listener has no such name`, {
    next: 'Ask it by an IP address or localhost, or add the name to admin.hosts.',
  });
}

interface TokenGuardOptions {
  /** Null: none is set. */
  readonly token: () => Secret | null;
  readonly onWrong: () => void;
  readonly rates?: ClientRates;
  readonly late?: LateAnswers;
}

/** Mistyped ones are few, and answered at once. */
const WRONG_RATE = { burst: 20, perSecond: 0.1 };
const HELP = 'The right admin.token is admitted at once, whoever else guesses from this address.';

/** Wrong tokens are counted, and answered late by client, parallel ones one by one; a right one never waits. */
export class TokenGuard {
  readonly #options: TokenGuardOptions;
  readonly #rates: ClientRates;
  readonly #late: LateAnswers;

  constructor(options: TokenGuardOptions) {
    this.#options = options;
    const words = { act: 'sign in', cause: 'wrong tokens', help: HELP };
    this.#rates = options.rates ?? new ClientRates({ policy: WRONG_RATE, ...words });
    this.#late = options.late ?? new LateAnswers();
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
        await this.#late.turnOf(client);
        throw tooMany;
      }
      throw error;
    }
  }
}
