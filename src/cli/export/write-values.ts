import { access, constants, realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { readText, stateOf } from '../../config/read-text.ts';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import { replaceFile } from '../../files/index.ts';
import { editValues, sectionIn } from './edit-values.ts';

/** The keys of `staticExport` that pin a bundle. */
export interface BundleValues {
  /** A credential. */
  readonly bundleUrl: Secret;
  readonly version: string;
  readonly sha256: string;
}

const VALUES_BYTES_MAX = 4 * 1024 ** 2;
/** For a file that is made here: the link in it is a credential. */
const MODE_NEW = 0o600;

interface Present {
  /** Absolute, links followed: the file itself is replaced, and not the link to it. */
  readonly path: string;
  /** Empty where it is not there yet. */
  readonly text: string;
  readonly mode: number | null;
}

/**
 * Looks whether the values can be written, before minutes are spent on what they are to say.
 *
 * @throws DocshelfError `cannot_read`, `cannot_write`.
 */
export async function checkValuesFile(file: string): Promise<void> {
  const { path, text } = await read(file);
  if (sectionIn(text).bundleUrlFile !== undefined) {
    throw new DocshelfError(
      'cannot_write',
      `Cannot set staticExport.bundleUrl in "${file}": it names a bundleUrlFile`,
      {
        next: 'Remove bundleUrlFile, or write the link to that file ("docshelf export bundle").',
      },
    );
  }
  editValues(text, { bundleUrl: '', version: '', sha256: '' });
  await access(dirname(path), constants.W_OK).catch((error: unknown) => {
    throw cannotWrite(file, error);
  });
}

/**
 * Sets `staticExport.bundleUrl`, `version` and `sha256` in a YAML file, and leaves every other byte of it as it was. The file
 * is replaced in one step and keeps its mode; one that is not there is made, readable for its owner alone.
 *
 * @throws DocshelfError `cannot_read`, `cannot_write`; then the file is as it was.
 */
export async function writeValues(file: string, { bundleUrl, version, sha256 }: BundleValues): Promise<void> {
  const { path, text, mode } = await read(file);
  const edited = editValues(text, { bundleUrl: bundleUrl.reveal(), version, sha256 });
  if (edited === text) return;
  await replaceFile(path, edited, mode === null ? MODE_NEW : mode & 0o7777).catch((error: unknown) => {
    throw cannotWrite(file, error);
  });
}

async function read(file: string): Promise<Present> {
  try {
    const path = await realpath(file);
    return { path, text: await readText(path, VALUES_BYTES_MAX), mode: (await stat(path)).mode };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return { path: resolve(file), text: '', mode: null };
    throw new DocshelfError('cannot_read', `Cannot read "${file}": ${stateOf(error)}`, {
      next: 'Name a YAML file with --write-values.',
      cause: error,
    });
  }
}

function cannotWrite(file: string, error: unknown): DocshelfError {
  return new DocshelfError('cannot_write', `Cannot write "${file}": ${errnoOf(error) ?? 'failed'}`, {
    next: 'Name a file in a folder that is there and writable.',
    cause: error,
  });
}
