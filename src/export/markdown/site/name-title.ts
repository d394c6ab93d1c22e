/** `01-install`, `2. Install`, `03_install`; no date and no version, where the rest begins with a digit. */
const NUMBERED = /^(\d{1,4})(?:[-_. ]+)(?=\D)/;
const EXTENSION = /\.(?:md|markdown|html)$/i;

/** The place that a file's or folder's name gives it by the number before it; unnumbered ones come last. */
export function orderOfName(name: string): number {
  const number = NUMBERED.exec(name)?.[1];
  return number === undefined ? Number.POSITIVE_INFINITY : Number(number);
}

/** What a file or folder without a title is called: `01-quick-start.md` -> `Quick start`. */
export function titleOfName(name: string): string {
  const stem = name.replace(EXTENSION, '');
  const words = stem.replace(NUMBERED, '').replace(/[-_]+/g, ' ').trim() || stem;
  return words.charAt(0).toUpperCase() + words.slice(1);
}
