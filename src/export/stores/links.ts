import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';

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

/** What a link grants to whoever holds it: GET, and with it HEAD, of one object, answered with these headers. */
export interface LinkGrant {
  /** Path of the object in the store. */
  readonly object: string;
  /** Unix time in seconds at which it ends. */
  readonly expiresS: number;
  readonly contentDisposition: string;
  readonly contentType: string;
}

/** Before all fields, so that what is signed here is never taken for anything else that the same key may sign one day. */
const PURPOSE = 'docshelf bundle link, version 1';
/** HEAD gives nothing that GET does not. */
const METHOD = 'GET';

/** HMAC-SHA-256 over all that a link grants, in base64url. */
export function signGrant(grant: LinkGrant, secret: KeyObject): string {
  const hmac = createHmac('sha256', secret);
  const { object, expiresS, contentDisposition, contentType } = grant;
  for (const field of [PURPOSE, METHOD, object, String(expiresS), contentDisposition, contentType]) {
    // Each behind its length: no two grants give the same bytes.
    const bytes = Buffer.from(field);
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    hmac.update(length).update(bytes);
  }
  return hmac.digest('base64url');
}

/**
 * Whether a signature is that of the grant, in constant time. The texts are compared: several texts in base64url stand for
 * the same bytes, and only the one that was given out is taken.
 */
export function isSignatureOf(grant: LinkGrant, secret: KeyObject, signature: string): boolean {
  const given = Buffer.from(signature);
  const expected = Buffer.from(signGrant(grant, secret));
  return given.length === expected.length && timingSafeEqual(given, expected);
}
