/** What may stand in a path as it is: RFC 3986's pchar without the quote, the parentheses and `;`, which mean something to others. */
const ENCODED = /[^\w!$*+,=@~.:&-]/gu;

function percentEncode(text: string): string {
  return Array.from(Buffer.from(text, 'utf8'), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(
    '',
  );
}

/** A file's path (not encoded, without leading slash) as it is written in an address. */
export function encodePath(path: string): string {
  return path
    .split('/')
    .map((segment) => segment.replace(ENCODED, percentEncode))
    .join('/');
}

/**
 * The shortest address that leads from one file of a site to another, both as paths that are not encoded and without a leading slash. A
 * path that ends in a slash, or is empty, is a folder's own address.
 *
 * @param suffix query and fragment, encoded already, with their `?` and `#`.
 */
export function relativeUrl(fromPath: string, toPath: string, suffix = ''): string {
  if (fromPath === toPath && suffix.startsWith('#')) return suffix;
  const from = fromPath.split('/');
  const to = toPath.split('/');
  let shared = 0;
  while (shared < from.length - 1 && shared < to.length - 1 && from[shared] === to[shared]) shared++;
  const up = '../'.repeat(from.length - 1 - shared);
  const down = encodePath(to.slice(shared).join('/'));
  if (up === '' && down === '') return `./${suffix}`;
  // `a:b` would be a scheme, and `//` a host.
  const isMistakable = up === '' && (down.startsWith('/') || (down.split('/', 1)[0] ?? '').includes(':'));
  return `${isMistakable ? './' : ''}${up}${down}${suffix}`;
}
