import { isIPv6 } from 'node:net';
import { LRUCache } from 'lru-cache';
import { DocshelfError } from '../../domain/errors.ts';

export interface ClientPolicy {
  /** Requests that a client may make at once, after a pause. */
  readonly burst: number;
  /** Requests a second that it may make for good. */
  readonly perSecond: number;
}

/**
 * One reader types ten letters a second at most, and an office may sit behind one address. The engine answers some 300 a
 * second on a core: one client alone cannot take it from the others.
 */
export const CLIENT_RATE: ClientPolicy = Object.freeze({ burst: 300, perSecond: 50 });

/** Some 200 bytes each. The client that was seen longest ago is forgotten first: its bucket is full again anyway. */
const CLIENTS_MAX = 10_000;

interface Bucket {
  readonly tokens: number;
  readonly atMs: number;
}

/** A token bucket for each client. */
export class ClientRates {
  readonly #policy: ClientPolicy;
  readonly #now: () => number;
  readonly #buckets: LRUCache<string, Bucket>;

  /** @param now milliseconds of a steady clock */
  constructor({ policy = CLIENT_RATE, now = () => performance.now(), clientsMax = CLIENTS_MAX } = {}) {
    this.#policy = policy;
    this.#now = now;
    this.#buckets = new LRUCache({ max: clientsMax });
  }

  /** Lets a request of this address through. @throws DocshelfError `rate_limited`. */
  take(address: string): void {
    const { burst, perSecond } = this.#policy;
    const client = clientOf(address);
    const nowMs = this.#now();
    const { tokens: before, atMs } = this.#buckets.get(client) ?? { tokens: burst, atMs: nowMs };
    const tokens = Math.min(burst, before + ((nowMs - atMs) / 1000) * perSecond);
    this.#buckets.set(client, { tokens: tokens < 1 ? tokens : tokens - 1, atMs: nowMs });
    if (tokens >= 1) return;
    const retryAfterS = Math.max(1, Math.ceil((1 - tokens) / perSecond));
    throw new DocshelfError('rate_limited', 'Cannot search now: too many requests come from this address', {
      next: `Ask again in ${retryAfterS} s. Where all readers come through one proxy, set server.trustedProxies.`,
      fields: { retryAfterS },
    });
  }
}

/** A network of IPv6 has 2^64 addresses, and one machine may use them all (RFC 7421): the first 64 bits are who it is. */
function clientOf(address: string): string {
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
