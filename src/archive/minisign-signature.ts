import { base64Bytes, keyIdOf } from './minisign-keys.ts';

/** A signature in minisign's format (https://jedisct1.github.io/minisign/#signature-format). */
export interface MinisignSignature {
  /** Whether the file's BLAKE2b-512 is signed, as minisign does since 0.10, or the file itself. */
  readonly isPrehashed: boolean;
  readonly keyIdBytes: Buffer;
  readonly keyId: string;
  /** Of the file, 64 bytes. */
  readonly signature: Buffer;
  readonly trustedComment: string;
  /** Of `signature` and the trusted comment, 64 bytes. */
  readonly globalSignature: Buffer;
}

const UNTRUSTED = 'untrusted comment: ';
const TRUSTED = 'trusted comment: ';
const PREHASHED = 'ED';
const LEGACY = 'Ed';
/** Algorithm, key id, Ed25519 signature. */
const SIGNATURE_BYTES = 2 + 8 + 64;
const GLOBAL_BYTES = 64;

/** Characters of a `.minisig` file: twice what minisign's own bounds on comments allow. */
export const SIGNATURE_CHARS_MAX = 20_000;

/** The signature that a text holds, or null where it holds none. */
export function parseSignature(text: string): MinisignSignature | null {
  if (text.length > SIGNATURE_CHARS_MAX) return null;
  const [untrusted, first, trusted, second, ...more] = text.trimEnd().split(/\r?\n/);
  if (!untrusted?.startsWith(UNTRUSTED) || !trusted?.startsWith(TRUSTED) || more.length > 0) return null;
  const bytes = base64Bytes(first ?? '', SIGNATURE_BYTES);
  const globalSignature = base64Bytes(second ?? '', GLOBAL_BYTES);
  const algorithm = bytes?.toString('latin1', 0, 2);
  if (bytes === null || globalSignature === null || (algorithm !== PREHASHED && algorithm !== LEGACY)) return null;
  const keyIdBytes = bytes.subarray(2, 10);
  return {
    isPrehashed: algorithm === PREHASHED,
    keyIdBytes,
    keyId: keyIdOf(keyIdBytes),
    signature: bytes.subarray(10),
    trustedComment: trusted.slice(TRUSTED.length),
    globalSignature,
  };
}

/** The text of a `.minisig` file. */
export function signatureText(parts: Omit<MinisignSignature, 'keyId'>): string {
  const { isPrehashed, keyIdBytes, signature, trustedComment, globalSignature } = parts;
  const algorithm = Buffer.from(isPrehashed ? PREHASHED : LEGACY, 'latin1');
  return [
    `${UNTRUSTED}signature of docshelf`,
    Buffer.concat([algorithm, keyIdBytes, signature]).toString('base64'),
    `${TRUSTED}${trustedComment}`,
    globalSignature.toString('base64'),
    '',
  ].join('\n');
}

/** What the global signature signs. */
export function globalMessage({ signature, trustedComment }: Omit<MinisignSignature, 'keyId' | 'globalSignature'>) {
  return Buffer.concat([signature, Buffer.from(trustedComment)]);
}
