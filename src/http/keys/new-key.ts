import { createHash, randomBytes } from 'node:crypto';
import type { KeyType } from '../../domain/organization.ts';

/** Contract, section 7. The stored type decides; the prefix is for people. */
const PREFIX: Readonly<Record<KeyType, string>> = { admin: 'svc_', assistant: 'svc_dsc_' };
const KEY_BYTES = 32;

export function newKey(type: KeyType): { readonly key: string; readonly sha256: string } {
  const key = `${PREFIX[type]}${randomBytes(KEY_BYTES).toString('base64url')}`;
  return { key, sha256: createHash('sha256').update(key).digest('hex') };
}

/** One that somebody has put where its id belongs: it is said nowhere. */
export function isKey(text: string): boolean {
  return /^svc_(?:dsc_)?[A-Za-z0-9_-]{43}$/.test(text);
}
