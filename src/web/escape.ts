/** Null if an escape is invalid. */
export function percentDecode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

/** The unchanged text if its percent signs are no escapes. */
export const decodeOrKeep = (text: string): string => percentDecode(text) ?? text;

/**
 * Escapes of characters that need none, in which alone base paths are written (RFC 3986, section 6.2.2.2). `%2f` stays: an
 * encoded slash ends no segment.
 */
export function decodeUnreserved(path: string): string {
  return path.replaceAll(/%[2-7][0-9a-f]/gi, (escaped) => {
    const character = String.fromCharCode(Number.parseInt(escaped.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : escaped;
  });
}

export function escapeHtml(text: string): string {
  return /[&<>"']/.test(text)
    ? text
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('>', '&gt;')
        .replaceAll('"', '&quot;')
        .replaceAll("'", '&#39;')
    : text;
}

/** A path that is put behind a slash: two slashes, or a backslash, at the beginning would lead to another host. */
export const withoutHost = (path: string): string => path.replace(/^[/\\\s]+/, '');

/** A path of a site, segment by segment; `:` too, or `a:b` would read as a scheme. */
export function encodeSegments(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** A path as browsers write it, in which no sign begins a query or a fragment. */
export function encodeAddress(path: string): string {
  return encodeURI(path).replaceAll('?', '%3F').replaceAll('#', '%23');
}
