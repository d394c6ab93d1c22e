import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readText } from '../../config/read-config-file.ts';
import { DocshelfError, rethrowAs } from '../../domain/errors.ts';
import { digestFile, listFiles } from '../../files/index.ts';

/** As `sha256sum --check` reads them. */
export const SUMS_FILE = 'SHA256SUMS';

export interface TransferFile {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

/** Names that every file system and sha256sum take as they are. */
const SEGMENT = '[A-Za-z0-9][A-Za-z0-9._+@-]{0,200}';
export const PLAIN_NAME = new RegExp(`^${SEGMENT}$`);
const LINE = new RegExp(`^(?<sha256>[0-9a-f]{64}) [ *](?<path>${SEGMENT}(?:/${SEGMENT})?)$`);
const SUMS_BYTES_MAX = 1024 ** 2;

export function sumsText(files: readonly TransferFile[]): string {
  return files.map(({ sha256, path }) => `${sha256}  ${path}\n`).join('');
}

/** In the order of paths, without the checksums and their signature. */
export async function digestFolder(folder: string): Promise<TransferFile[]> {
  const files: TransferFile[] = [];
  for (const path of await listFiles(folder)) {
    if (path === SUMS_FILE || path.startsWith(`${SUMS_FILE}.`)) continue;
    const file = join(folder, path);
    const info = await stat(file);
    // A link that leads out of the folder, a pipe: nothing of the kind is packed.
    if (!info.isFile()) throw mismatch(`"${path}" is no file`);
    files.push({ path, bytes: info.size, sha256: await digestFile(file) });
  }
  return files;
}

/** No other file may be there. @throws DocshelfError `cannot_read`, `manifest_mismatch`, `wrong_digest` */
export async function checkSums(folder: string): Promise<readonly TransferFile[]> {
  const expected = await readSums(folder);
  const files = await digestFolder(folder).catch(rethrowAs('cannot_read', `read "${folder}"`));
  const paths = new Set(files.map(({ path }) => path));
  const named = new Set(expected.keys());
  const fewOf = (some: Set<string>) => [...some].slice(0, 5).join(', ');
  const strangers = paths.difference(named);
  if (strangers.size > 0) throw mismatch(`its ${SUMS_FILE} does not name ${fewOf(strangers)}`);
  const missing = named.difference(paths);
  if (missing.size > 0) throw mismatch(`${fewOf(missing)} of its ${SUMS_FILE} is missing`);
  for (const { path, sha256: found } of files) {
    const sum = expected.get(path);
    if (found === sum) continue;
    throw new DocshelfError('wrong_digest', `Cannot use "${path}": its SHA-256 is ${found}, expected ${sum}`, {
      next: 'It was changed or cut on the way: carry it over again.',
      fields: { expected: sum, found },
    });
  }
  return files;
}

async function readSums(folder: string): Promise<ReadonlyMap<string, string>> {
  const file = join(folder, SUMS_FILE);
  const text = await readText(file, SUMS_BYTES_MAX).catch(
    rethrowAs('cannot_read', `read "${file}"`, 'Name a folder that "docshelf transfer pack" made.'),
  );
  const sums = new Map<string, string>();
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const { path, sha256 } = LINE.exec(line)?.groups ?? {};
    if (path === undefined || sha256 === undefined) throw mismatch(`its ${SUMS_FILE} has a line that is none`);
    sums.set(path, sha256);
  }
  return sums;
}

function mismatch(state: string): DocshelfError {
  return new DocshelfError('manifest_mismatch', `Cannot use the transfer: ${state}`, {
    next: 'Carry the whole folder over again; nothing of it was taken in.',
  });
}
