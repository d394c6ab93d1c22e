import { DocshelfError } from './errors.ts';

/** A version label, contract section 1. */
export const VERSION_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$/;

export function isVersion(label: string): boolean {
  return VERSION_PATTERN.test(label);
}

export function parseVersion(label: string): string {
  if (isVersion(label)) return label;
  const message = `Cannot use "${label.slice(0, 140)}" as a version: it is not a version label`;
  throw new DocshelfError('bad_version', message, {
    next: 'A version is 1 to 128 letters, digits, ".", "_", "+" or "-", beginning with a letter or a digit.',
  });
}

const ARCHIVE_EXTENSION = /\.(?:tar\.gz|tgz|tar\.zst|tar|zip)$/i;
const DATE_AT_END = /(?:^|[^0-9])(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))$/;
const NUMBER_AT_END = /(?:^|[^A-Za-z0-9])(v\d+\.\d+\.\d+)$/;

/** The date or `v1.2.3` at the end of an archive's name (contract section 2), or null. */
export function versionFromFileName(fileName: string): string | null {
  const stem = fileName.replace(ARCHIVE_EXTENSION, '');
  return DATE_AT_END.exec(stem)?.[1] ?? NUMBER_AT_END.exec(stem)?.[1] ?? null;
}

export function versionFromDigest(digest: string): string {
  return digest.slice(0, 12);
}

/** RFC 3339 at midnight UTC, or null. */
export function dateOfVersion(label: string): string | null {
  const match = /^\d{4}-\d{2}-\d{2}/.exec(label);
  if (match === null) return null;
  const time = Date.parse(`${match[0]}T00:00:00.000Z`);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}
