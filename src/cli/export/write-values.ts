import { access, constants, realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { readText } from '../../config/read-config-file.ts';
import { DocshelfError, errnoOf, errnoState, rethrowAs } from '../../domain/errors.ts';
import type { Secret } from '../../domain/secret.ts';
import { replaceFile } from '../../files/index.ts';
import { editValues, sectionIn } from './edit-values.ts';

interface BundleValues {
  readonly bundleUrl: Secret;
  readonly version: string;
  readonly sha256: string;
}

const VALUES_BYTES_MAX = 4 * 1024 ** 2;
/** The link in it is a credential. */
const MODE_NEW = 0o600;

/** Before minutes are spent on an export. @throws DocshelfError `cannot_read`, `cannot_write`. */
export async function checkValuesFile(file: string): Promise<void> {
  const { path, text } = await read(file);
  if (sectionIn(text).bundleUrlFile !== undefined) {
    const state = `Cannot set staticExport.bundleUrl in "${file}": it names a bundleUrlFile`;
    throw new DocshelfError('cannot_write', state, {
      next: 'Remove bundleUrlFile, or write the link to that file ("docshelf export bundle").',
    });
  }
  editValues(text, { bundleUrl: '', version: '', sha256: '' });
  await access(dirname(path), constants.W_OK).catch(cannotWrite(file));
}

/**
 * Every other byte stays. The file is replaced in one step, with its mode; a new one is for its owner alone.
 * @throws DocshelfError `cannot_read`, `cannot_write`; then the file is as it was
 */
export async function writeValues(file: string, { bundleUrl, version, sha256 }: BundleValues): Promise<void> {
  const { path, text, mode } = await read(file);
  const edited = editValues(text, { bundleUrl: bundleUrl.reveal(), version, sha256 });
  if (edited === text) return;
  await replaceFile(path, edited, mode === null ? MODE_NEW : mode & 0o7777).catch(cannotWrite(file));
}

/** Path absolute, links followed. A missing file has no text and no mode. */
async function read(file: string): Promise<{ path: string; text: string; mode: number | null }> {
  try {
    const path = await realpath(file);
    return { path, text: await readText(path, VALUES_BYTES_MAX), mode: (await stat(path)).mode };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return { path: resolve(file), text: '', mode: null };
    return rethrowAs('cannot_read', `read "${file}"`, 'Name a YAML file with --write-values.')(error);
  }
}

function cannotWrite(file: string) {
  const next = 'Name a file in a folder that is there and writable.';
  return rethrowAs('cannot_write', `write "${file}"`, next, errnoState);
}
