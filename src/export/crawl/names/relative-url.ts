/** Characters that need no encoding in a path (RFC 3986, section 3.3), of those that `encodeURIComponent` encodes. */
const PLAIN = /%(?:24|26|2B|2C|3B|3D|40)/g;

/** A file's path as a URL: `a b/c@d.html` is `a%20b/c@d.html`. */
export function encodePath(path: string): string {
  return encodeURIComponent(path)
    .replaceAll('%2F', '/')
    .replace(PLAIN, (text) => decodeURIComponent(text));
}

/** How one file of the site names another: `../b/c.html`. Never empty, and never taken for a scheme. */
export function relativeUrl(from: string, to: string): string {
  let common = 0;
  for (let slash = from.indexOf('/'); slash !== -1 && to.startsWith(from.slice(common, slash + 1), common); ) {
    common = slash + 1;
    slash = from.indexOf('/', common);
  }
  let ups = 0;
  for (let at = from.indexOf('/', common); at !== -1; at = from.indexOf('/', at + 1)) ups += 1;
  return '../'.repeat(ups) + encodePath(to.slice(common));
}
