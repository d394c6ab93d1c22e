import { isPage } from '../domain/release.ts';

const HEX = /^[0-9a-f]{8,}$/i;
const BASE64URL = /^[A-Za-z0-9_-]{8,}$/;

function isHash(part: string): boolean {
  if (!/[0-9]/.test(part)) return false;
  if (HEX.test(part)) return /[a-f]/i.test(part);
  return BASE64URL.test(part) && /[a-z]/.test(part) && /[A-Z]/.test(part);
}

/** Rollup's default length of a hash, which is base64url and so may hold `-` and `_` itself. */
const ROLLUP_HASH_CHARS = 8;

/**
 * Parts set off by `.`, `-` or `_`: at least 8 hex digits with letter and digit, or 8 base64url characters of both
 * cases with a digit; between dots `-` and `_` count in one of Rollup's length (`app.DT_SZKt1.js`). No pages, no folders.
 */
export function hashedName(path: string): boolean {
  if (isPage(path)) return false;
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.split(/[._-]/).some(isHash)) return true;
  return name
    .split('.')
    .slice(1, -1)
    .some((part) => part.length === ROLLUP_HASH_CHARS && isHash(part));
}
