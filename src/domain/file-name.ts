import { DocshelfError } from './errors.ts';
import { showName } from './secret.ts';

const FILE_NAME_BYTES_MAX = 255;
export const SIGNATURE_EXTENSION = '.minisig';

/** Control characters and line separators can forge log lines. Bidirectional control characters can hide the end of a name. */
const UNFIT = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu;

export const cleanFileName = (name: string, replacement = ''): string => name.replace(UNFIT, replacement);

export function isFileName(name: string): boolean {
  const isPlain = name !== '' && name !== '.' && name !== '..' && !/[/\\]/.test(name) && cleanFileName(name) === name;
  return isPlain && Buffer.byteLength(name) <= FILE_NAME_BYTES_MAX;
}

/** Rejects an invalid file name, and the name `.minisig`, which lacks the name of an archive. @throws DocshelfError `bad_request` */
export function requireFileName(name: string): string {
  if (isFileName(name) && name !== SIGNATURE_EXTENSION) return name;
  const message = `Cannot read "fileName": it is not a plain file name of at most ${FILE_NAME_BYTES_MAX} bytes`;
  throw new DocshelfError('bad_request', message, {
    next: 'Rename the file. Its name must not contain slashes, control characters, or characters that change the writing direction (such as U+202E).',
    fields: { field: 'fileName' },
  });
}

export function refuseUnfitName(name: string): void {
  if (cleanFileName(name) === name) return;
  const state = 'its file name contains a control character, or a character that changes the writing direction';
  throw new DocshelfError('name_control', `Cannot import "${showName(name)}": ${state}`, {
    next: 'Rename the archive, then import it again.',
  });
}

/** @throws DocshelfError `unknown_format` */
export function refuseSignatureName(name: string): void {
  if (!name.endsWith(SIGNATURE_EXTENSION)) return;
  throw new DocshelfError('unknown_format', `Cannot import "${showName(name)}": it is a signature, not an archive`, {
    next: `Import the archive "${showName(name.slice(0, -SIGNATURE_EXTENSION.length))}". Keep this signature in the same folder.`,
  });
}
