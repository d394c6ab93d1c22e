import {
  access,
  copyFile,
  constants as fsConstants,
  mkdir,
  mkdtemp,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { inspectArchive, signFile, verifyFile } from '../../archive/index.ts';
import { readText, stateOf } from '../../config/read-text.ts';
import { SIGNATURE_EXTENSION } from '../../deploy/index.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { ARCHIVE_LIMITS } from '../../domain/limits.ts';
import { readmeText } from './readme.ts';
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

export interface PackedTransfer {
  readonly folder: string;
  readonly files: readonly TransferFile[];
}

/** The list of parts of this program, which the build writes beside it. */
const OWN_SBOM = new URL('../../sbom.json', import.meta.url);
const KEY_BYTES_MAX = 64 * 1024;

/**
 * Makes the folder: image, chart, bundles with their signatures, list of parts, README, and the checksums of all that. It gets its
 * name when it is whole.
 *
 * @throws DocshelfError `usage`, `cannot_read`, `cannot_write`, `bad_signature`, and an archive code for a bundle
 */
export async function packTransfer(options: PackOptions): Promise<PackedTransfer> {
  const { image, chart, bundle = [], publicKey = [] } = options;
  const folder = resolve(options.output);
  if (image === undefined && chart === undefined && bundle.length === 0) {
    throw new DocshelfError('usage', 'Cannot pack a transfer: there is nothing to carry', {
      next: 'Name what has to cross with --image, --chart and --bundle.',
    });
  }
  await refuseTaken(folder);
  const keys = await Promise.all(publicKey.map(readKey));
  const work = await makeWork(folder);
  try {
    if (image !== undefined) await take(image, work, 'image');
    if (chart !== undefined) await take(chart, work, 'chart');
    for (const file of bundle) await takeBundle(file, work, keys);
    await takeSbom(options.sbomFile, work);
    await writeFile(
      join(work, 'README.txt'),
      readmeText({ image, chart, bundles: bundle.map((file) => basename(file)) }),
    );

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
  // A bundle that every deployment would refuse need not cross.
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
  // COPYFILE_EXCL: two bundles of one name would be one. A reflink where the file system has it: then nothing is copied.
  await copyFile(file, target, fsConstants.COPYFILE_FICLONE | fsConstants.COPYFILE_EXCL).catch((error: unknown) => {
    throw new DocshelfError('cannot_write', `Cannot copy "${file}": ${stateOf(error)}`, {
      next: 'Look whether two files have one name, and whether there is room.',
      cause: error,
    });
  });
}

async function takeSbom(file: string | undefined, work: string): Promise<void> {
  const text = await readFile(file ?? OWN_SBOM, 'utf8').catch((error: unknown) => {
    throw new DocshelfError('cannot_read', `Cannot read the list of parts: ${stateOf(error)}`, {
      next: '"npm run build" writes it beside the program; --sbom-file names another.',
      cause: error,
    });
  });
  await writeFile(join(work, 'sbom.cdx.json'), text);
}

async function makeWork(folder: string): Promise<string> {
  try {
    await mkdir(dirname(folder), { recursive: true });
    return await mkdtemp(`${folder}.part-`);
  } catch (error) {
    throw new DocshelfError('cannot_write', `Cannot make "${folder}": ${stateOf(error)}`, {
      next: 'Name a folder with --output whose parent can be written.',
      cause: error,
    });
  }
}

async function refuseTaken(folder: string): Promise<void> {
  const isTaken = await access(folder).then(
    () => true,
    () => false,
  );
  if (!isTaken) return;
  throw new DocshelfError('cannot_write', `Cannot make "${folder}": it is there already`, {
    next: 'Name another folder with --output, or remove that one.',
  });
}

async function refuseUnreadable(file: string): Promise<void> {
  const state = await stat(file).then((info) => (info.isFile() ? null : 'it is no file'), stateOf);
  if (state === null) return;
  throw new DocshelfError('cannot_read', `Cannot read "${file}": ${state}`, { next: 'Name a file that is there.' });
}

/** The text of a minisign key. */
export async function readKey(file: string): Promise<string> {
  return readText(file, KEY_BYTES_MAX).then(
    (text) => text.trim(),
    (error: unknown) => {
      throw new DocshelfError('cannot_read', `Cannot read the key "${file}": ${stateOf(error)}`, {
        next: 'Name the file that holds the minisign key.',
        cause: error,
      });
    },
  );
}
