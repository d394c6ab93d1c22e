import { readFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { signatureSlice } from '../../app/slices.ts';
import { verifyFile } from '../../archive/index.ts';
import { type Delivered, SIGNATURE_EXTENSION } from '../../deploy/index.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { importArchive } from '../bundle/import.ts';
import { loadSite, type SiteChoice } from '../command.ts';
import { readKey } from './pack.ts';
import { checkSums, SUMS_FILE } from './sums.ts';

export interface UnpackOptions extends SiteChoice {
  readonly publicKey?: readonly string[];
  readonly verifyOnly?: boolean;
  readonly activate: boolean;
}

interface VerifiedSignature {
  readonly file: string;
  readonly keyId: string;
  readonly trustedComment: string;
}

/**
 * Takes bundles in once the whole folder is checked, in the order of their names: the last one is served.
 * @throws DocshelfError `cannot_read`, `manifest_mismatch`, `wrong_digest`, `bad_signature`, `no_signature`; those of
 *   taking in
 */
export async function unpackTransfer(given: string, options: UnpackOptions) {
  const folder = resolve(given);
  // With keys of its own, a mere look needs no config.
  const isAlone = options.verifyOnly === true && options.publicKey !== undefined;
  const site = isAlone ? null : await loadSite(options);
  const signature = site === null ? null : signatureSlice(site.config);
  const keys =
    options.publicKey === undefined ? (signature?.publicKeys ?? []) : await Promise.all(options.publicKey.map(readKey));

  const files = await checkSums(folder);
  const bundles = files
    .map(({ path }) => path)
    .filter((path) => path.startsWith('bundles/') && !path.endsWith(SIGNATURE_EXTENSION));
  const signatures = await verifySignatures(folder, [SUMS_FILE, ...bundles], keys);
  const vouched = new Set(signatures.map(({ file }) => file));
  const unsigned = vouched.has(SUMS_FILE) ? [] : bundles.filter((path) => !vouched.has(path));
  const mustBeSigned = options.publicKey !== undefined || signature?.required === true;
  if (mustBeSigned && unsigned[0] !== undefined) {
    const state = `Cannot trust "${unsigned[0]}": neither it nor ${SUMS_FILE} is signed`;
    throw new DocshelfError('no_signature', state, {
      next: 'Sign the bundle with minisign, or have "transfer pack" sign the checksums (--signing-key-file).',
    });
  }

  const imported: Delivered[] = [];
  if (options.verifyOnly !== true && site !== null) {
    for (const path of bundles) {
      const request = { fileName: basename(path), version: null, signature: null, activate: options.activate };
      const taken = await importArchive(site, { json: options.json === true }, { file: join(folder, path) }, request);
      imported.push(taken.delivered);
    }
  }
  return { folder, files, signatures, unsigned, imported };
}

async function verifySignatures(
  folder: string,
  paths: readonly string[],
  keys: readonly string[],
): Promise<VerifiedSignature[]> {
  const verified: VerifiedSignature[] = [];
  if (keys.length === 0) return verified;
  for (const path of paths) {
    const file = join(folder, path);
    const text = await readFile(file + SIGNATURE_EXTENSION, 'utf8').catch(() => null);
    if (text !== null) verified.push({ file: path, ...(await verifyFile(file, text, keys, { name: path })) });
  }
  return verified;
}
