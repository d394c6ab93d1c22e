import { isTechnical } from './words.ts';

/** Maximum names to look up. A query with more names is text of a message. */
const NAMES_MAX = 2;

/**
 * Finds the row of a table that defines a name of the query: an error code in its cell, or `nextval ( regclass )`. Code does
 * not match, because it has no space before the bracket. Null if the query has no such name.
 */
export function rowFinder(query: string): ((text: string) => number | null) | null {
  const tokens = query.trim().split(/\s+/);
  const names = tokens.filter((token) => tokens.length === 1 || /\p{L}.*\d|\d.*\p{L}|\d{4}/u.test(token));
  const [first, ...others] = names.slice(0, NAMES_MAX).map((name) => rowOf(name.replace(/\(\)$/, '')));
  if (first === undefined) return null;
  const row = new RegExp([first, ...others].join('|'), 'imu');
  return (text) => {
    const found = row.exec(text);
    return found === null ? null : text.lastIndexOf('\n', found.index) + 1;
  };
}

function rowOf(name: string): string {
  const written = name.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const signature = `^${written} \\(`;
  return isTechnical(name) || /\p{Ll}\p{Lu}/u.test(name)
    ? `${signature}|^${written} · |· ${written}(?= · |$)`
    : signature;
}
