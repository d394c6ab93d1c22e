import { posix } from 'node:path';

/** Percent-encodes a path, segment by segment; `:` too, or `a:b` would read as a scheme. */
export function encodePath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** The path that a URL's path says, or the same text where its escapes are broken. */
export function decodePath(path: string): string {
  try {
    return decodeURIComponent(path).normalize('NFC');
  } catch {
    return path.normalize('NFC');
  }
}

/**
 * The reference from one file of the site to another, which holds on any host, below any path, and from a folder on disk.
 *
 * @param from path of the file that refers
 */
export function relativeReference(from: string, to: string): string {
  return encodePath(posix.relative(posix.dirname(from), to)) || encodePath(posix.basename(to));
}
