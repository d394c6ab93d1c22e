import { hash } from 'node:crypto';

export const FINGERPRINT_BYTES = 16;

/** Returns the first half of the SHA-256 digest of a text, in hexadecimal. */
export const fingerprint = (text: string): string => fingerprintIn(hash('sha256', text, 'buffer'));

/** @param bytes fingerprint, or a SHA-256 digest */
export const fingerprintIn = (bytes: Buffer): string => bytes.toString('hex', 0, FINGERPRINT_BYTES);
