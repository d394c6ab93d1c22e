import { isByProduct } from '../../archive/layout.ts';
import { DocshelfError, errnoState, rethrowAs } from '../../domain/errors.ts';
import { SIGNATURE_EXTENSION } from '../../domain/file-name.ts';
import { linkWithoutSecrets, type Secret } from '../../domain/secret.ts';
import { collect, ifThere, readBeginning } from '../../files/index.ts';
import { RETRY_TOOLS, retry } from '../../net/retry.ts';
import { sourceFor } from '../fetch/fetch.ts';
import type { BundleSource } from '../ports.ts';

export interface SignatureSettings {
  readonly required: boolean;
  /** Texts of minisign public keys. With an empty list, docshelf ignores signatures. */
  readonly publicKeys: readonly string[];
  readonly text: string | null;
  readonly link: Secret | null;
}

export function isArchiveName(name: string): boolean {
  const isOther = name.startsWith('.') || name.endsWith('.part') || name.endsWith(SIGNATURE_EXTENSION);
  // Exclude files that operating systems add to a folder, such as `Thumbs.db`.
  return !isOther && !isByProduct(name);
}

const SIGNATURE_BYTES_MAX = 20_000;

export interface Signer {
  readonly keyId: string;
  readonly trustedComment: string;
}

/**
 * Checks the signature of a bundle. An existing signature must be valid even if the config requires no signature.
 * @throws DocshelfError `bad_signature`, `no_signature`
 */
export async function checkSignature(
  { file, name, signature }: { readonly file: string; readonly name: string; readonly signature: string | null },
  settings: SignatureSettings,
  sources: () => Promise<readonly BundleSource[]>,
  retriesMax: number,
  signal: AbortSignal,
): Promise<Signer | null> {
  if (settings.publicKeys.length === 0) return null;
  const text =
    signature ??
    (await readBeside(file, name)) ??
    settings.text ??
    (settings.link === null ? null : await fetchText(await sources(), settings.link, retriesMax, signal));
  if (text === null) {
    if (settings.required) throw noSignature(name);
    return null;
  }
  // Most daemons verify no signature. Load the minisign code only when needed, so that docshelf starts faster.
  const { verifyFile } = await import('../../archive/minisign.ts');
  return verifyFile(file, text, settings.publicKeys, { name, signal });
}

async function readBeside(file: string, name: string): Promise<string | null> {
  const next = 'Make the signature file readable for docshelf.';
  const bytes = await ifThere(readBeginning(file + SIGNATURE_EXTENSION, SIGNATURE_BYTES_MAX + 1)).catch(
    rethrowAs('cannot_read', `read "${name}${SIGNATURE_EXTENSION}"`, next, errnoState),
  );
  return bytes?.toString() ?? null;
}

async function fetchText(sources: readonly BundleSource[], link: Secret, retriesMax: number, signal: AbortSignal) {
  const source = sourceFor(sources, link);
  const attempt = async (): Promise<string> => {
    const opened = await source.open(link, { resume: null, signal });
    try {
      const bytes = await collect(opened.stream, SIGNATURE_BYTES_MAX);
      if (bytes === null) throw tooLarge(link);
      return bytes.toString();
    } finally {
      opened.close();
    }
  };
  return retry(attempt, { retriesMax, signal }, RETRY_TOOLS);
}

function tooLarge(link: Secret): DocshelfError {
  const shown = linkWithoutSecrets(link.reveal());
  const message = `Cannot fetch the signature "${shown}": it is larger than ${SIGNATURE_BYTES_MAX} bytes`;
  return new DocshelfError('source_too_large', message, {
    next: 'Set staticExport.signature.url to the address of the .minisig file, not of the bundle.',
    fields: { bytesMax: SIGNATURE_BYTES_MAX, retryable: false },
  });
}

function noSignature(name: string): DocshelfError {
  return new DocshelfError('no_signature', `Cannot trust "${name}": it has no signature`, {
    next: `Put the signature next to the archive, as ARCHIVE${SIGNATURE_EXTENSION}. For a link, set staticExport.signature.file or staticExport.signature.url. To accept unsigned bundles, set staticExport.signature.required to false.`,
  });
}
