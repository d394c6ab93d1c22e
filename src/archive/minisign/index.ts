import { sign, verify } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { DocshelfError } from '../../domain/errors.ts';
import { showName } from '../../domain/secret.ts';
import { hashFile } from '../../files/read.ts';
import type { MinisignSignature } from './format.ts';
import { globalMessage, parsePublicKey, parseSecretKey, parseSignature, signatureText } from './format.ts';

/** Legacy signatures need the whole file in memory; only minisign before 0.10 makes them unasked. */
const LEGACY_BYTES_MAX = 256 * 1024 ** 2;
const PREHASH = 'blake2b512';

/**
 * @param secretKey text, without password, of `minisign -G -W` @param trustedComment one line, signed too
 * @returns the text of the `.minisig` file; equal input gives an equal one
 * @throws DocshelfError `config_invalid` for the key; the system's own errors; the signal's reason
 */
export async function signFile(
  file: string,
  secretKey: string,
  { trustedComment, signal }: { readonly trustedComment: string; readonly signal?: AbortSignal },
): Promise<string> {
  if (/[\r\n]/.test(trustedComment)) throw new Error('A trusted comment is one line');
  const { key, keyIdBytes } = parseSecretKey(secretKey);
  const signature = sign(null, await prehashOf(file, signal), key);
  const parts = { isPrehashed: true, keyIdBytes, signature, trustedComment };
  return signatureText({ ...parts, globalSignature: sign(null, globalMessage(parts), key) });
}

/**
 * Verifies that one of the keys signed the file, and the trusted comment with it. `text`: of the `.minisig` file.
 * @throws DocshelfError `bad_signature` with `fields.expected` (key ids), `config_invalid` for a key; the signal's
 *   reason
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
  if (signature === null) {
    throw bad('its signature is none of minisign', 'Get the .minisig file that belongs to the bundle, whole.');
  }
  const { keyId, trustedComment } = signature;
  const keys = known.filter((candidate) => candidate.keyId === keyId);
  if (keys.length === 0) {
    throw bad(
      `it is signed with key ${keyId}, expected ${expected.join(' or ') || 'none'}`,
      'Get the bundle from who holds an expected key; if this key is to be trusted as well, add its public key.',
    );
  }
  const message = await messageOf(file, signature, bad, signal);
  const signer = keys.find(({ key }) => verify(null, message, key, signature.signature));
  if (signer === undefined) {
    throw bad(
      `its signature with key ${keyId} is of other content`,
      'Fetch the bundle and its signature again: they do not belong together, or one of them was changed.',
    );
  }
  if (!verify(null, globalMessage(signature), signer.key, signature.globalSignature)) {
    throw bad('the comment of its signature was changed', 'Get the .minisig file again from where it was made.');
  }
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
      `its signature is of the legacy kind, which is taken for files of up to ${LEGACY_BYTES_MAX} bytes`,
      'Sign it without -l, with minisign 0.10 or later.',
    );
  }
  return readFile(file, signal === undefined ? {} : { signal });
}

async function prehashOf(file: string, signal: AbortSignal | undefined): Promise<Buffer> {
  return (await hashFile(file, PREHASH, signal)).digest();
}
