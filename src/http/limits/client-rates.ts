import { isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';
import { DocshelfError } from '../../domain/errors.ts';
import { groupsOf } from '../../net/guarded-address.ts';

interface ClientPolicy {
  readonly burst: number;
  readonly perSecond: number;
}

/** Maximum rate per client: enough for an office behind one address. A burst of 300 searches uses one processor core for 1 s. */
const CLIENT_RATE: ClientPolicy = Object.freeze({ burst: 300, perSecond: 50 });

/**
 * Maximum clients in memory, 200 bytes each. docshelf drops the least recently seen client, whose full burst is usually available
 * again.
 */
const CLIENTS_MAX = 10_000;

interface ClientRatesOptions {
  readonly policy?: ClientPolicy;
  readonly act?: string;
  readonly cause?: string;
  readonly help?: string;
}

export class ClientRates {
  readonly #policy: ClientPolicy;
  readonly #message: string;
  readonly #help: string;
  /**
   * Null until the first request. Creating the cache later saves 220 KB for each idle site, and a daemon can have a thousand
   * sites.
   */
  #buckets: LRUCache<string, { readonly tokens: number; readonly atMs: number }> | null = null;

  constructor({
    policy = CLIENT_RATE,
    act = 'search',
    cause = 'requests',
    help = 'If all readers come through one proxy, set server.trustedProxies.',
  }: ClientRatesOptions = {}) {
    this.#policy = policy;
    this.#message = `Cannot ${act} now: too many ${cause} come from this address`;
    this.#help = help;
  }

  /** Counts a request of the client. @throws DocshelfError `rate_limited` if the client exceeds its rate */
  take(address: string): void {
    const { burst, perSecond } = this.#policy;
    const client = clientOf(address);
    this.#buckets ??= new LRUCache({ max: CLIENTS_MAX });
    const nowMs = performance.now();
    const { tokens: before, atMs } = this.#buckets.get(client) ?? { tokens: burst, atMs: nowMs };
    const tokens = Math.min(burst, before + ((nowMs - atMs) / 1000) * perSecond);
    this.#buckets.set(client, { tokens: tokens < 1 ? tokens : tokens - 1, atMs: nowMs });
    if (tokens >= 1) return;
    const retryAfterS = Math.max(1, Math.ceil((1 - tokens) / perSecond));
    throw new DocshelfError('rate_limited', this.#message, {
      next: `Try again in ${retryAfterS} s. ${this.#help}`,
      fields: { retryAfterS },
    });
  }
}

/** Key of a client: its IPv4 or IPv4-mapped address, or the first 64 bits of its IPv6 address (RFC 7421). */
export function clientOf(address: string): string {
  if (!isIPv6(address) || address.includes('.')) return address;
  return groupsOf(address)
    .slice(0, 4)
    .map((group) => group.toString(16))
    .join(':');
}

/** Maximum rate of wrong credentials per client: 20 typing errors, then one guess in ten seconds. */
const GUESS_RATE: ClientPolicy = Object.freeze({ burst: 20, perSecond: 0.1 });
/** Delay of the response to a wrong credential, multiplied by the number of delayed responses to the same client (at most 10). */
const DELAY_MS = 1_000;
const TURNS_MAX = 10;

export class GuessRates extends ClientRates {
  readonly #waiting = new Map<string, number>();

  constructor(options: ClientRatesOptions) {
    super({ policy: GUESS_RATE, ...options });
  }

  /** Counts a wrong credential. Over the rate, throws `rate_limited` after a delay, so that a client cannot guess fast. */
  async takeLate(address: string): Promise<void> {
    try {
      this.take(address);
    } catch (tooMany) {
      await this.#turnOf(clientOf(address));
      throw tooMany;
    }
  }

  async #turnOf(client: string): Promise<void> {
    const turn = (this.#waiting.get(client) ?? 0) + 1;
    this.#waiting.set(client, turn);
    await new Promise((resolve) => setTimeout(resolve, Math.min(turn, TURNS_MAX) * DELAY_MS));
    const left = (this.#waiting.get(client) ?? 1) - 1;
    if (left > 0) this.#waiting.set(client, left);
    else this.#waiting.delete(client);
  }
}
