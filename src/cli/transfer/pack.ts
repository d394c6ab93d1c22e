import { existsSync } from 'node:fs';
import { constants, copyFile, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { inspectArchive, signFile, verifyFile } from '../../archive/index.ts';
import { readText } from '../../config/read-config-file.ts';
import { SIGNATURE_EXTENSION } from '../../deploy/index.ts';
import { DocshelfError, rethrowAs, stateOf } from '../../domain/errors.ts';
import { ARCHIVE_LIMITS } from '../../domain/limits.ts';
import { versionFromFileName } from '../../domain/version.ts';
import { digestFolder, PLAIN_NAME, SUMS_FILE, sumsText, type TransferFile } from './sums.ts';

export interface PackOptions {
  readonly output: string;
  readonly image?: string;
  readonly chart?: string;
  readonly bundle?: readonly string[];
  readonly publicKey?: readonly string[];
  readonly signingKeyFile?: string;
  readonly sbomFile?: string;
}

/** Written by the build. */
const OWN_SBOM = new URL('../../sbom.json', import.meta.url);
const KEY_BYTES_MAX = 64 * 1024;

/**
 * The folder gets its name when it is whole.
 * @throws DocshelfError `usage`, `cannot_read`, `cannot_write`, `bad_signature`, and an archive code for a bundle
 */
export async function packTransfer(options: PackOptions): Promise<{ folder: string; files: readonly TransferFile[] }> {
  const { image, chart, bundle = [], publicKey = [] } = options;
  const folder = resolve(options.output);
  if (image === undefined && chart === undefined && bundle.length === 0) {
    throw new DocshelfError('usage', 'Cannot pack a transfer: there is nothing to carry', {
      next: 'Name what has to cross with --image, --chart and --bundle.',
    });
  }
  if (existsSync(folder)) {
    throw new DocshelfError('cannot_write', `Cannot make "${folder}": it is there already`, {
      next: 'Name another folder with --output, or remove that one.',
    });
  }
  const keys = await Promise.all(publicKey.map(readKey));
  const work = await makeWork(folder);
  try {
    if (image !== undefined) await take(image, work, 'image');
    if (chart !== undefined) await take(chart, work, 'chart');
    for (const file of bundle) await takeBundle(file, work, keys);
    await takeSbom(options.sbomFile, work);
    await writeFile(join(work, 'README.txt'), readmeText(options));
    const files = await digestFolder(work);
    const sums = join(work, SUMS_FILE);
    await writeFile(sums, sumsText(files));
    if (options.signingKeyFile !== undefined) {
      const signature = await signFile(sums, await readKey(options.signingKeyFile), { trustedComment: SUMS_FILE });
      await writeFile(sums + SIGNATURE_EXTENSION, signature);
    }
    await rename(work, folder);
    return { folder, files };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

async function takeBundle(file: string, work: string, keys: readonly string[]): Promise<void> {
  await refuseUnreadable(file);
  await inspectArchive(file, { name: basename(file), limits: ARCHIVE_LIMITS, foldsCase: false });
  const signature = await readFile(file + SIGNATURE_EXTENSION, 'utf8').catch(() => null);
  if (keys.length > 0 && signature === null) {
    throw new DocshelfError('no_signature', `Cannot trust "${basename(file)}": it has no signature`, {
      next: `Put "${basename(file)}${SIGNATURE_EXTENSION}" beside it, or leave --public-key out.`,
    });
  }
  if (keys.length > 0 && signature !== null) await verifyFile(file, signature, keys);
  await take(file, work, 'bundles');
  if (signature !== null) await writeFile(join(work, 'bundles', basename(file) + SIGNATURE_EXTENSION), signature);
}

async function take(file: string, work: string, place: string): Promise<void> {
  const name = basename(file);
  if (!PLAIN_NAME.test(name)) {
    throw new DocshelfError('usage', `Cannot pack "${file}": its name is not plain`, {
      next: 'Rename it to letters, digits, ".", "_", "+", "@" and "-".',
    });
  }
  await refuseUnreadable(file);
  const target = join(work, place, name);
  await mkdir(dirname(target), { recursive: true });
  // COPYFILE_EXCL: two bundles of one name would be one. A reflink where the file system has it.
  await copyFile(file, target, constants.COPYFILE_FICLONE | constants.COPYFILE_EXCL).catch(
    rethrowAs('cannot_write', `copy "${file}"`, 'Look whether two files have one name, and whether there is room.'),
  );
}

async function takeSbom(file: string | undefined, work: string): Promise<void> {
  const next = '"npm run build" writes it beside the program; --sbom-file names another.';
  const text = await readFile(file ?? OWN_SBOM, 'utf8').catch(rethrowAs('cannot_read', 'read the list of parts', next));
  await writeFile(join(work, 'sbom.cdx.json'), text);
}

async function makeWork(folder: string): Promise<string> {
  return mkdir(dirname(folder), { recursive: true })
    .then(() => mkdtemp(`${folder}.part-`))
    .catch(rethrowAs('cannot_write', `make "${folder}"`, 'Name a folder with --output whose parent can be written.'));
}

async function refuseUnreadable(file: string): Promise<void> {
  const state = await stat(file).then((info) => (info.isFile() ? null : 'it is no file'), stateOf);
  if (state === null) return;
  throw new DocshelfError('cannot_read', `Cannot read "${file}": ${state}`, { next: 'Name a file that is there.' });
}

export async function readKey(file: string): Promise<string> {
  const text = readText(file, KEY_BYTES_MAX);
  return (
    await text.catch(rethrowAs('cannot_read', `read the key "${file}"`, 'Name the file that holds the minisign key.'))
  ).trim();
}

/** For whoever unpacks the folder, and may never have seen docshelf. */
function readmeText({ image, chart, bundle = [] }: PackOptions): string {
  // The newest by name, as `transfer unpack` serves it. Through a pipe it has no name, and without --version it would
  // be older than any other.
  const newest =
    bundle
      .map((file) => basename(file))
      .toSorted()
      .at(-1) ?? 'BUNDLE.tar.gz';
  const version = versionFromFileName(newest) ?? 'VERSION';
  return `This folder holds all that a docshelf deployment needs from outside. Work from within it.
Check that all arrived:   sha256sum --check SHA256SUMS
Check who made it:        minisign -V -p minisign.pub -m SHA256SUMS    (or docshelf transfer unpack . --verify-only --public-key minisign.pub)
Load the image:           ${image === undefined ? 'none was packed' : `podman load --input image/${basename(image)}    (or docker load; then push it to your registry)`}
Install the chart:        ${chart === undefined ? 'none was packed' : `helm upgrade --install docshelf chart/${basename(chart)} --namespace docs --create-namespace --values values.yaml`}
Take all bundles in:      docshelf transfer unpack . --config config.yaml    (of several sites: and --site DOMAIN)
Take one into a pod:      kubectl --namespace docs exec -i deploy/docshelf -- docshelf bundle import - --version ${version} < bundles/${newest}
Look what is served:      docshelf bundle list --config config.yaml
Go back:                  docshelf bundle rollback --config config.yaml
What the program is made of, with digests and licences, is in sbom.cdx.json (CycloneDX 1.6).
`;
}
