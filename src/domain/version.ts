import { DocshelfError } from './errors.ts';

export const VERSION_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._+-]{0,127}$/;

export const isVersion = (label: string): boolean => VERSION_PATTERN.test(label);

export function parseVersion(label: string): string {
  if (isVersion(label)) return label;
  const message = `Cannot use "${label.slice(0, 140)}" as a version: it is not a version label`;
  throw new DocshelfError('bad_version', message, {
    next: 'Use 1 to 128 letters, digits, ".", "_", "+", or "-", beginning with a letter or a digit.',
  });
}

const NAME_CHARS_MAX = 255;
/** Matches extensions and copy marks: ` (1)` (Chrome), `(1)` (Firefox), `.tar-1.gz` (Safari), `.gz.1` (wget), ` copy 2` (Finder). */
const EXTENSIONS =
  /(?:\.(?:tar|t?gz|zst|zip)(?:[.-]\d{1,2})?|(?:[\s+_]|%20)?(?:\(|%28)\d{1,3}(?:\)|%29)|\s\d{1,2}|\s(?:-\s)?copy(?:\s\(?\d{1,3}\)?)?|\s\((?:another )?copy\))+$/i;
/** Allows `-1`, with which Safari marks a copy, only after a date. After a semantic version, `-1` is a pre-release. */
const DATE_AT_END = /(?:^|[^0-9])(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?:-[1-9])?$/;
const NUMBER_AT_END = /(?:^|[^A-Za-z0-9])(v\d+\.\d+\.\d+)$/;

export function versionFromFileName(fileName: string): string | null {
  if (fileName.length > NAME_CHARS_MAX) return null;
  const stem = stemOf(fileName);
  return DATE_AT_END.exec(stem)?.[1] ?? NUMBER_AT_END.exec(stem)?.[1] ?? null;
}

const stemOf = (fileName: string): string => fileName.replace(EXTENSIONS, '');
const NAMES = new Intl.Collator('en', { numeric: true });

/**
 * Compares file names of archives of one site, so that an import in this order ends with the newest version. Numbers compare by
 * value (`1.9`, `1.10`), and `1.0-beta` is before `1.0`.
 */
export function compareFileNames(a: string, b: string): number {
  // End each version with a comma, which sorts after a hyphen and before a full stop: `1.0-beta`, `1.0`, `1.0.1`.
  return NAMES.compare(`${stemOf(a)},`, `${stemOf(b)},`);
}

export const versionFromDigest = (digest: string): string => digest.slice(0, 12);

/** For a version label that begins with a date, returns midnight UTC of this date as RFC 3339. Null for other version labels. */
export function dateOfVersion(label: string): string | null {
  const match = /^\d{4}-\d{2}-\d{2}/.exec(label);
  if (match === null) return null;
  const time = Date.parse(`${match[0]}T00:00:00.000Z`);
  return Number.isNaN(time) ? null : new Date(time).toISOString();
}

const SEMANTIC = /^(?:v(?=\d)|(?=\d+\.\d))(\d+)(?:\.(\d+))?(?:\.(\d+))?(?:-([0-9A-Za-z.-]+))?(?:\+[0-9A-Za-z.-]+)?$/;

/** Negative if `a` is older. Compares two dates, or two semantic versions by precedence. Null for all other pairs. */
export function compareVersions(a: string, b: string): number | null {
  const [dateA, dateB] = [dateOfVersion(a), dateOfVersion(b)];
  if (dateA !== null || dateB !== null) return dateA === null || dateB === null ? null : order(dateA, dateB);
  const [partsA, partsB] = [SEMANTIC.exec(a), SEMANTIC.exec(b)];
  if (partsA === null || partsB === null) return null;
  for (const index of [1, 2, 3]) {
    const difference = order(BigInt(partsA[index] ?? 0), BigInt(partsB[index] ?? 0));
    if (difference !== 0) return difference;
  }
  return comparePrereleases(partsA[4], partsB[4]);
}

/**
 * Compares pre-releases by semver.org, section 11. `undefined` (a final version) is newest, and numbers are older than words. Of
 * two lists with the same start, the shorter one is older.
 */
function comparePrereleases(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return order(a === undefined ? 1 : 0, b === undefined ? 1 : 0);
  const [listA, listB] = [a.split('.'), b.split('.')];
  for (const [index, one] of listA.entries()) {
    const other = listB[index];
    if (other === undefined) return 1;
    const [isNumber, isOtherNumber] = [/^\d+$/.test(one), /^\d+$/.test(other)];
    const difference =
      isNumber && isOtherNumber
        ? order(BigInt(one), BigInt(other))
        : isNumber === isOtherNumber
          ? order(one, other)
          : order(isNumber ? 0 : 1, isOtherNumber ? 0 : 1);
    if (difference !== 0) return difference;
  }
  return order(listA.length, listB.length);
}

const order = <T extends string | number | bigint>(a: T, b: T): number => (a < b ? -1 : Number(a > b));
