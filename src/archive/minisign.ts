import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { DocshelfError } from '../domain/errors.ts';
import { showName } from '../domain/secret.ts';
import { hashFile } from '../files/read.ts';

/** Maximum bytes of a file with a legacy signature (minisign before 0.10), whose check needs the whole file in memory. */
const LEGACY_BYTES_MAX = 256 * 1024 ** 2;
const PREHASH = 'blake2b512';

/**
 * @param secretKey key file of `minisign -G -W`
 * @param trustedComment line of text, which is also signed
 * @throws DocshelfError `config_invalid` if the key is invalid
 */
export async function signFile(
  file: string,
  secretKey: string,
  { trustedComment, signal }: { readonly trustedComment: string; readonly signal?: AbortSignal },
): Promise<string> {
  if (/[\r\n]/.test(trustedComment)) throw new Error('A trusted comment is one line');
  const { key, keyIdBytes } = parseSecretKey(secretKey);
  const signature = sign(null, await prehashOf(file, signal), key);
  const parts = { keyIdBytes, signature, trustedComment };
  return signatureText({ ...parts, globalSignature: sign(null, globalMessage(parts), key) });
}

/**
 * @param text content of the `.minisig` file
 * @throws DocshelfError `bad_signature` with the trusted key ids in `fields.expected`; `config_invalid` if a public key is
 * invalid
 */
export async function verifyFile(
  file: string,
  text: string,
  publicKeys: readonly string[],
  { name = basename(file), signal }: { readonly name?: string; readonly signal?: AbortSignal } = {},
): Promise<{ readonly keyId: string; readonly trustedComment: string }> {
  const known = publicKeys.map(parsePublicKey);
  const expected = known.map(({ keyId }) => keyId);
  const bad = (state: string, next: string) =>
    new DocshelfError('bad_signature', `Cannot trust "${showName(name)}": ${state}`, { next, fields: { expected } });

  const signature = parseSignature(text);
  if (signature === null)
    throw bad('its signature is not a minisign signature', 'Get the complete .minisig file of the bundle.');
  const { keyId, trustedComment } = signature;
  const keys = known.filter((candidate) => candidate.keyId === keyId);
  if (keys.length === 0) {
    throw bad(
      `it is signed with key ${keyId}, but docshelf trusts ${expected.length === 0 ? 'no key' : `only ${expected.join(' and ')}`}`,
      'Get the bundle from the owner of a trusted key. If you trust this key as well, add its public key to staticExport.signature.publicKeys.',
    );
  }
  const message = await messageOf(file, signature, bad, signal);
  const signer = keys.find(({ key }) => verify(null, message, key, signature.signature));
  if (signer === undefined) {
    throw bad(
      `its signature with key ${keyId} is for other content`,
      'Get the bundle again, together with the signature that was made for it.',
    );
  }
  if (!verify(null, globalMessage(signature), signer.key, signature.globalSignature))
    throw bad('the comment of its signature was changed', 'Get the original .minisig file again.');
  return { keyId, trustedComment };
}

async function messageOf(
  file: string,
  { isPrehashed }: MinisignSignature,
  bad: (state: string, next: string) => DocshelfError,
  signal: AbortSignal | undefined,
): Promise<Buffer> {
  if (isPrehashed) return prehashOf(file, signal);
  if ((await stat(file)).size > LEGACY_BYTES_MAX) {
    throw bad(
      `its signature has the legacy format, which docshelf accepts only for files of up to ${LEGACY_BYTES_MAX} bytes`,
      'Sign the bundle again with minisign 0.10 or later, without -l.',
    );
  }
  return readFile(file, signal === undefined ? {} : { signal });
}

const prehashOf = async (file: string, signal: AbortSignal | undefined): Promise<Buffer> =>
  (await hashFile(file, PREHASH, signal)).digest();

/** Values in the trusted comment of docshelf's signatures: `docshelf domain=acme version=v1 created=2024-06-01T00:00:00Z`. */
export type SignedFacts = { readonly domain: string; readonly version: string | null; readonly createdAt: string };

export function signedComment({ domain, version, createdAt }: SignedFacts): string {
  return [
    'docshelf',
    `domain=${domain}`,
    ...(version === null ? [] : [`version=${version}`]),
    `created=${createdAt}`,
  ].join(' ');
}

export function readSignedComment(comment: string): SignedFacts | null {
  const [, domain, version, createdAt] = /^docshelf domain=(\S+)(?: version=(\S+))? created=(\S+)$/.exec(comment) ?? [];
  return domain === undefined || createdAt === undefined ? null : { domain, version: version ?? null, createdAt };
}

/** Keys in minisign's formats (https://jedisct1.github.io/minisign/#public-key-format). Integers are little-endian. */

/** Bytes of a public key: algorithm, key id, Ed25519 key. */
const PUBLIC_BYTES = 2 + 8 + 32;
/** Bytes of a secret key: algorithm, key derivation, checksum algorithm, salt, two limits, key id, seed and public key, checksum. */
const SECRET_BYTES = 2 + 2 + 2 + 32 + 8 + 8 + 8 + 64 + 32;
const KEY_DERIVATION_AT = 2;
const SECRET_KEY_ID_AT = 54;
const ED25519 = 'Ed';
const CURVE = { kty: 'OKP', crv: 'Ed25519' };

/** @param text content of the public key file of `minisign -G`, or its second line @throws DocshelfError `config_invalid` */
export function parsePublicKey(text: string): { readonly keyId: string; readonly key: KeyObject } {
  const bytes = keyBytes('public', text, PUBLIC_BYTES);
  const x = bytes.toString('base64url', 10);
  return { keyId: keyIdOf(bytes.subarray(2, 10)), key: createPublicKey({ format: 'jwk', key: { ...CURVE, x } }) };
}

/** @param text content of the secret key file of `minisign -G -W`, or its second line @throws DocshelfError `config_invalid` */
export function parseSecretKey(text: string): { readonly keyIdBytes: Buffer; readonly key: KeyObject } {
  const bytes = keyBytes('secret', text, SECRET_BYTES);
  if (bytes.readUInt16LE(KEY_DERIVATION_AT) !== 0)
    throw badKey(
      'secret',
      'it is encrypted with a password',
      'Remove the password of the key with minisign -C -W -s FILE.',
    );
  const keyIdBytes = bytes.subarray(SECRET_KEY_ID_AT, SECRET_KEY_ID_AT + 8);
  const d = bytes.toString('base64url', SECRET_KEY_ID_AT + 8, SECRET_KEY_ID_AT + 40);
  const x = bytes.toString('base64url', SECRET_KEY_ID_AT + 40, SECRET_KEY_ID_AT + 72);
  const key = createPrivateKey({ format: 'jwk', key: { ...CURVE, d, x } });
  // Check that the seed matches the public key, because a key file without password has no checksum.
  if (createPublicKey(key).export({ format: 'jwk' }).x !== x) throw badKey('secret', 'it is damaged');
  return { keyIdBytes, key };
}

const keyIdOf = (bytes: Buffer): string => bytes.readBigUInt64LE().toString(16).toUpperCase().padStart(16, '0');

function base64Bytes(text: string, count: number): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.length === count && bytes.toString('base64') === text ? bytes : null;
}

function keyBytes(kind: 'public' | 'secret', text: string, count: number): Buffer {
  const lines = text.trim().split(/\r?\n/);
  const bytes = lines.length <= 2 ? base64Bytes(lines.at(-1) ?? '', count) : null;
  if (bytes?.toString('latin1', 0, 2) !== ED25519) throw badKey(kind, 'it is not a minisign key');
  return bytes;
}

function badKey(kind: 'public' | 'secret', state: string, next?: string): DocshelfError {
  return new DocshelfError('config_invalid', `Cannot use the ${kind} key: ${state}`, {
    next: next ?? `Use the ${kind} key that minisign -G${kind === 'secret' ? ' -W' : ''} wrote.`,
  });
}

/** Signatures in minisign's format (https://jedisct1.github.io/minisign/#signature-format). */

const UNTRUSTED = 'untrusted comment: ';
const TRUSTED = 'trusted comment: ';
const PREHASHED = 'ED';
const LEGACY = 'Ed';
/** Bytes of a signature: algorithm, key id, Ed25519 signature. */
const SIGNATURE_BYTES = 2 + 8 + 64;
const GLOBAL_BYTES = 64;

/** Maximum characters of a signature file, twice as many as the limits of minisign on comments allow. */
const SIGNATURE_CHARS_MAX = 20_000;

function parseSignature(text: string) {
  if (text.length > SIGNATURE_CHARS_MAX) return null;
  const [untrusted, first, trusted, second, ...more] = text.trimEnd().split(/\r?\n/);
  if (!untrusted?.startsWith(UNTRUSTED) || !trusted?.startsWith(TRUSTED) || more.length > 0) return null;
  const bytes = base64Bytes(first ?? '', SIGNATURE_BYTES);
  const globalSignature = base64Bytes(second ?? '', GLOBAL_BYTES);
  const algorithm = bytes?.toString('latin1', 0, 2);
  if (bytes === null || globalSignature === null || (algorithm !== PREHASHED && algorithm !== LEGACY)) return null;
  const keyIdBytes = bytes.subarray(2, 10);
  return {
    /** True if the signature is of the file's BLAKE2b-512 hash, the default since minisign 0.10. */
    isPrehashed: algorithm === PREHASHED,
    keyIdBytes,
    keyId: keyIdOf(keyIdBytes),
    signature: bytes.subarray(10),
    trustedComment: trusted.slice(TRUSTED.length),
    globalSignature,
  };
}
type MinisignSignature = NonNullable<ReturnType<typeof parseSignature>>;

function signatureText(parts: Omit<MinisignSignature, 'keyId' | 'isPrehashed'>): string {
  const { keyIdBytes, signature, trustedComment, globalSignature } = parts;
  return [
    `${UNTRUSTED}signature of docshelf`,
    Buffer.concat([Buffer.from(PREHASHED), keyIdBytes, signature]).toString('base64'),
    `${TRUSTED}${trustedComment}`,
    globalSignature.toString('base64'),
    '',
  ].join('\n');
}

const globalMessage = ({ signature, trustedComment }: Pick<MinisignSignature, 'signature' | 'trustedComment'>) =>
  Buffer.concat([signature, Buffer.from(trustedComment)]);
