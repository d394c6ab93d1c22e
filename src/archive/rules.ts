import { type ARCHIVE_CODES, DocshelfError } from '../domain/errors.ts';
import type { ArchiveLimits } from '../domain/limits.ts';
import { showName } from '../domain/secret.ts';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Control characters C0, DEL and C1. Sites do not need them, and they can forge lines in logs and terminals. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

export function decodeName(bytes: Uint8Array, refuse: Refuse): string {
  try {
    return UTF8.decode(bytes);
  } catch (cause) {
    throw refuse('name_not_utf8', 'has a name that is not UTF-8', {
      entry: Buffer.from(bytes).toString('utf8'),
      cause,
    });
  }
}

/** Removes a leading `./` and a trailing slash. Returns an empty name for the root. @throws DocshelfError a `name_*` code */
export function canonicalName(raw: string, limits: ArchiveLimits, refuse: Refuse): string {
  const refused = (code: Parameters<Refuse>[0], state: string) => refuse(code, state, { entry: raw });
  if (raw === '') throw refused('name_empty', 'has no name');
  if (CONTROL.test(raw)) throw refused('name_control', 'has a control character in its name');
  if (/^(?:\\\\|\/\/)/.test(raw)) throw refused('name_unc', 'is a network path');
  if (/^(?:\.\/)*[A-Za-z]:/.test(raw)) throw refused('name_drive', 'begins with a drive letter');
  if (raw.startsWith('/')) throw refused('name_absolute', 'has an absolute name');
  if (raw.includes('\\')) throw refused('name_backslash', 'has a backslash in its name');

  const name = raw === '.' ? '' : raw.replace(/^(?:\.\/)+/, '').replace(/\/$/, '');
  if (name === '') return name;
  if (Buffer.byteLength(name) > limits.nameBytesMax)
    throw refused('name_too_long', `has a name of more than ${limits.nameBytesMax} bytes`);
  const segments = name.split('/');
  if (segments.length > limits.depthMax) throw refused('name_too_deep', `is more than ${limits.depthMax} levels deep`);
  for (const segment of segments) {
    if (segment === '..') throw refused('name_dotdot', 'leaves the site');
    if (segment === '' || segment === '.') throw refused('name_empty', 'has an empty part in its name');
    if (Buffer.byteLength(segment) > limits.segmentBytesMax)
      throw refused('name_segment_too_long', `has a part of more than ${limits.segmentBytesMax} bytes in its name`);
  }
  return name;
}

export type ArchiveCode = (typeof ARCHIVE_CODES)[number];

export type ArchiveRule = { readonly rule: string; readonly next: string };

const REGENERATE = 'Generate the bundle again. If docshelf rejects it again, fix the program that writes it.';
const FETCH_AGAIN = 'Fetch or copy the archive again, and compare its size and SHA-256 with those of the original.';
const RENAME = 'Rename the file in the site, and generate the bundle again.';
const COPY_FILES = 'Pack the linked files instead of the links (GNU tar: --dereference --hard-dereference).';
const raise = (key: string) =>
  `If you trust the bundle, raise staticExport.limits.${key}. Otherwise, check its origin.`;
const REPACK = 'Unpack the archive on the machine that created it, and pack it again as .tar.gz, .tar.zst or .zip.';

const rule = (text: string, next: string): ArchiveRule => ({ rule: text, next });

/** Rules for archives, by error code. docshelf rejects the whole archive if one rule is broken. */
export const ARCHIVE_RULES: Readonly<Record<ArchiveCode, ArchiveRule>> = Object.freeze({
  unknown_format: rule('the content is a tar, tar.gz, tar.zst or zip archive', REPACK),
  truncated: rule('the archive is complete', FETCH_AGAIN),
  trailing_garbage: rule('every byte belongs to an entry or a record', FETCH_AGAIN),
  damaged_archive: rule('headers and compressed data are valid', FETCH_AGAIN),
  name_absolute: rule('no name is absolute', REGENERATE),
  name_drive: rule('no name begins with a drive letter', RENAME),
  name_unc: rule('no name is a network path', REGENERATE),
  name_dotdot: rule('no name leaves the site', REGENERATE),
  name_backslash: rule('no name contains a backslash', REGENERATE),
  name_control: rule('no name contains a control character', RENAME),
  name_empty: rule('no name has an empty part', REGENERATE),
  name_not_utf8: rule('names are UTF-8', 'Pack the archive again with a tool that writes UTF-8 names.'),
  name_segment_too_long: rule('no part of a name is longer than file systems allow', RENAME),
  name_too_long: rule('no name is longer than file systems allow', RENAME),
  name_too_deep: rule('folders nest within the limit', RENAME),
  name_duplicate: rule('no name occurs twice', REGENERATE),
  name_case_conflict: rule(
    'names differ by more than case, if the file system of the data folder ignores case',
    RENAME,
  ),
  file_folder_conflict: rule('no file has the path of a folder that another entry needs', RENAME),
  type_symlink: rule('no entry is a symbolic link', COPY_FILES),
  type_hardlink: rule('no entry is a hard link', COPY_FILES),
  type_device: rule('no entry is a device', REGENERATE),
  type_fifo: rule('no entry is a FIFO', REGENERATE),
  type_sparse: rule('no file is a sparse file', 'Pack the archive again without --sparse.'),
  type_unknown: rule('every entry is a file or a folder', REGENERATE),
  folder_with_size: rule('folders contain no data', REGENERATE),
  encrypted: rule('no entry is encrypted', 'Pack the archive again without a password.'),
  zip_method: rule('zip entries are stored or deflated', REPACK),
  too_many_entries: rule('the number of entries is within the limit', raise('entries')),
  file_too_large: rule('every file is within the limit', raise('fileBytes')),
  total_too_large: rule('all files together are within the limit', raise('totalBytes')),
  ratio_too_high: rule('the archive does not expand beyond the limit', raise('ratio')),
  wrong_crc: rule('checksums agree', FETCH_AGAIN),
  wrong_size: rule('files have the size that the archive declares', FETCH_AGAIN),
  zip_overlap: rule('no two zip entries share bytes', REGENERATE),
  zip_header_mismatch: rule("a zip entry's local header agrees with the central one", REGENERATE),
  bad_length: rule('lengths and counts are correct', FETCH_AGAIN),
  multi_disk: rule(
    'the archive is in one piece',
    'Join the parts into one archive, or pack the files again as one archive.',
  ),
  window_too_large: rule('the zstd window is within the limit', 'Pack the archive again without --ultra and --long.'),
  no_pages: rule('the archive contains an HTML page', 'Check that this is the archive of a static export.'),
});

type Refusal = { readonly entry?: string; readonly next?: string; readonly cause?: unknown };

/** @param state last words of the message: a predicate if the error names an entry (`leaves the site`), else a clause (`it is cut off`) */
export type Refuse = (code: ArchiveCode, state: string, refusal?: Refusal) => DocshelfError;

export function refusalsOf(archiveName: string, act = 'unpack'): Refuse {
  return (code, state, { entry, next, cause } = {}) => {
    const rule = ARCHIVE_RULES[code];
    const shown = entry === undefined ? undefined : showName(entry);
    const subject = shown === undefined ? '' : `entry "${shown}" `;
    return new DocshelfError(code, `Cannot ${act} "${showName(archiveName)}": ${subject}${state}`, {
      next: next ?? rule.next,
      fields: { ...(shown === undefined ? {} : { entry: shown }), rule: rule.rule },
      cause,
    });
  };
}

export function checkRatio(unpackedBytes: number, archiveBytes: number, limits: ArchiveLimits, refuse: Refuse): void {
  if (unpackedBytes <= limits.ratioFreeBytes || unpackedBytes <= limits.ratioMax * archiveBytes) return;
  throw refuse('ratio_too_high', `it expands to more than ${limits.ratioMax} times its size`);
}
