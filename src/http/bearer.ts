import { createHash, timingSafeEqual } from 'node:crypto';
import { DocshelfError } from '../domain/errors.ts';
import type { Secret } from '../domain/secret.ts';

/** Authorization header with a bearer token (RFC 6750, section 2.1). The scheme is case-insensitive (RFC 9110, section 11.1). */
const BEARER = /^bearer +([\x21-\x7e]+) *$/i;

export function bearerToken(authorization: string | undefined): string | null {
  return BEARER.exec(authorization ?? '')?.[1] ?? null;
}

/** Checks the admin token. @throws DocshelfError `forbidden` if the config has no token, `unauthorized` for a missing or wrong token */
export function requireToken(token: Secret | null, authorization: string | undefined): void {
  if (token === null) {
    throw new DocshelfError('forbidden', 'Cannot authorize the request: no admin.token is set', {
      next: 'Set admin.token in the config, or use the command line on the machine that has the data folder.',
    });
  }
  const given = bearerToken(authorization);
  if (given === null) {
    throw new DocshelfError('unauthorized', 'Cannot authorize the request: it has no bearer token', {
      next: 'Send admin.token in the header "Authorization: Bearer". For a command, set DOCSHELF__ADMIN__TOKEN to this token.',
    });
  }
  if (!isSame(given, token.reveal())) {
    throw new DocshelfError(
      'unauthorized',
      'Cannot authorize the request: the bearer token does not match admin.token',
      { next: 'Send the admin.token of the config of the daemon.' },
    );
  }
}

/**
 * Compares the digests of two tokens, so that the response time reveals neither the length of the expected token nor the first
 * wrong character.
 */
export function isSame(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
