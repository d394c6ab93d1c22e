import { isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';
import { DocshelfError } from '../../domain/errors.ts';

interface ClientPolicy {
  readonly burst: number;
  readonly perSecond: number;
}

/** Ten letters a second at most, an office behind one address; the engine answers some 300 a second on a core. */
const CLIENT_RATE: ClientPolicy = Object.freeze({ burst: 300, perSecond: 50 });

/** 200 bytes each. The least recently seen goes first: its bucket is full again. */
const CLIENTS_MAX = 10_000;

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

interface ClientRatesOptions {
  readonly policy?: ClientPolicy;
  /** What is refused, what came too often, and what helps besides waiting: words of the fault. */
  readonly act?: string;
  readonly cause?: string;
  readonly help?: string;
  readonly now?: () => number;
  readonly clientsMax?: number;
}

/** Token buckets. */
export class ClientRates {
  readonly #policy: ClientPolicy;
  readonly #told: string;
  readonly #help: string;
  readonly #now: () => number;
  readonly #buckets: LRUCache<string, Bucket>;

  constructor({
    policy = CLIENT_RATE,
    act = 'search',
    cause = 'requests',
    help = 'Where all readers come through one proxy, set server.trustedProxies.',
    now = () => performance.now(),
    clientsMax = CLIENTS_MAX,
  }: ClientRatesOptions = {}) {
    this.#policy = policy;
    this.#told = `Cannot ${act} now: too many ${cause} come from this address`;
    this.#help = help;
    this.#now = now;
    this.#buckets = new LRUCache({ max: clientsMax });
  }

  /** @throws DocshelfError `rate_limited`. */
  take(address: string): void {
    const { burst, perSecond } = this.#policy;
    const client = clientOf(address);
    const nowMs = this.#now();
    const { tokens: before, atMs } = this.#buckets.get(client) ?? { tokens: burst, atMs: nowMs };
    const tokens = Math.min(burst, before + ((nowMs - atMs) / 1000) * perSecond);
    this.#buckets.set(client, { tokens: tokens < 1 ? tokens : tokens - 1, atMs: nowMs });
    if (tokens >= 1) return;
    const retryAfterS = Math.max(1, Math.ceil((1 - tokens) / perSecond));
    throw new DocshelfError('rate_limited', this.#told, {
      next: `Ask again in ${retryAfterS} s. ${this.#help}`,
      fields: { retryAfterS },
    });
  }
}

/** An IPv6 client is its first 64 bits (RFC 7421). */
export function clientOf(address: string): string {
  if (!isIPv6(address)) return address;
  const [head = '', tail = ''] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === '' ? [] : tail.split(':');
  const zeros = address.includes('::') ? Math.max(0, 8 - before.length - after.length) : 0;
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
