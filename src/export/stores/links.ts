import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';

/** The bound of S3 (SigV4, X-Amz-Expires), and so of all links. */
export const LINK_MS_MAX = 7 * 24 * 3600_000;
const LINK_MS_MIN = 1000;

/** A link's lifetime from the beginning of its first second: at least `ttlMs`, and never more than the bound. */
export function linkSeconds(ttlMs: number, nowMs: number): number {
  if (!(ttlMs >= LINK_MS_MIN && ttlMs <= LINK_MS_MAX)) throw new RangeError(`a link cannot work for ${ttlMs} ms`);
  return Math.min(Math.ceil(((nowMs % 1000) + ttlMs) / 1000), LINK_MS_MAX / 1000);
}

export interface LinkGrant {
  readonly object: string;
  readonly expiresS: number;
  readonly contentDisposition: string;
  readonly contentType: string;
}

/** Keeps the signature from fitting anything else that the same key may sign. */
const PURPOSE = 'docshelf bundle link, version 1';
/** HEAD gives nothing that GET does not. */
const METHOD = 'GET';

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

/** Compares texts in constant time: several texts in base64url stand for the same bytes, and one was given out. */
export function isSignatureOf(grant: LinkGrant, secret: KeyObject, signature: string): boolean {
  const given = Buffer.from(signature);
  const expected = Buffer.from(signGrant(grant, secret));
  return given.length === expected.length && timingSafeEqual(given, expected);
}
