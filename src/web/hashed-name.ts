import { isPage } from '../domain/release.ts';

const HEX = /^[0-9a-f]{8,}$/i;
const BASE64URL = /^[A-Za-z0-9_-]{8,}$/;

function isHash(part: string): boolean {
  const digit = /[0-9]/.test(part);
  if (!digit) return false;
  if (HEX.test(part)) return /[a-f]/i.test(part);
  return BASE64URL.test(part) && /[a-z]/.test(part) && /[A-Z]/.test(part);
}

/** Rollup's default length of a hash, which is base64url and so may hold `-` and `_` itself. */
const ROLLUP_HASH_CHARS = 8;

/**
 * True for a name that carries a hash, so that other content gets another name.
 *
 * A hash is a part of the file's own name, set off by `.`, `-` or `_`, of at least 8 hex digits with a letter and a digit
 * among them, or of at least 8 base64url characters with both cases and a digit. Since `-` and `_` are base64url
 * too, a part between two dots that is exactly as long as Rollup's hashes may hold them (`app.DT_SZKt1.js`); a longer
 * one may not, or `v1.Getting-Started-2.png` would be one. Folders do not count, and a page never carries a hash.
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
