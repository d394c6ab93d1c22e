/** What S3 takes at the most (SigV4, X-Amz-Expires), and with it the bound of all our links. */
export const LINK_MS_MAX = 7 * 24 * 3600_000;
const LINK_MS_MIN = 1000;

/**
 * A link's lifetime, counted from the beginning of the second in which it is made: a link begins and ends at whole seconds,
 * and works for at least as long as was asked for, but never longer than S3 takes. The config holds the bounds of `ttlMs`:
 * another value is our own fault.
 */
export function linkSeconds(ttlMs: number, nowMs: number): number {
  if (!(ttlMs >= LINK_MS_MIN && ttlMs <= LINK_MS_MAX)) throw new RangeError(`a link cannot work for ${ttlMs} ms`);
  return Math.min(Math.ceil(((nowMs % 1000) + ttlMs) / 1000), LINK_MS_MAX / 1000);
}
