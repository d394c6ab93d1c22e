/** All but RFC 3986's pchar without the quote, the parentheses and `;`, which mean something to others. */
const ENCODED = /[^\w!$*+,=@~.:&-]/gu;

export function percentEncode(text: string): string {
  return Array.from(Buffer.from(text, 'utf8'), (byte) => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`).join(
    '',
  );
}

export function encodePath(path: string): string {
  return path.replace(ENCODED, (character) => (character === '/' ? character : percentEncode(character)));
}

/**
 * The shortest address between two paths, neither encoded; a folder's own is empty or ends with a slash.
 * @param suffix query and fragment, encoded, with `?` and `#`
 */
export function relativeUrl(fromPath: string, toPath: string, suffix = ''): string {
  if (fromPath === toPath && suffix.startsWith('#')) return suffix;
  const shared = endOfSharedFolders(fromPath, toPath);
  let up = '';
  for (let at = fromPath.indexOf('/', shared); at !== -1; at = fromPath.indexOf('/', at + 1)) up += '../';
  const down = encodePath(toPath.slice(shared));
  if (up === '' && down === '') return `./${suffix}`;
  // `a:b` would be a scheme, and `//` a host.
  const isMistakable = up === '' && (down.startsWith('/') || (down.split('/', 1)[0] ?? '').includes(':'));
  return `${isMistakable ? './' : ''}${up}${down}${suffix}`;
}

function endOfSharedFolders(fromPath: string, toPath: string): number {
  let end = 0;
  for (let at = 0; at < fromPath.length && fromPath.charCodeAt(at) === toPath.charCodeAt(at); at++) {
    if (fromPath[at] === '/') end = at + 1;
  }
  return end;
}
