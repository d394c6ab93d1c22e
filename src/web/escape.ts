import { percentDecode } from '../domain/text.ts';

export { decodeOrKeep, percentDecode } from '../domain/text.ts';

/**
 * Decodes only letters, digits and `-._~` in a path. Keeps `%2f`, because an encoded slash does not end a segment (RFC 3986,
 * section 6.2.2.2).
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

/** Removes slashes and backslashes at the start of a path, because two slashes or a backslash would refer to another host. */
export const withoutHost = (path: string): string => path.replace(/^[/\\\s]+/, '');

/** Encodes each segment, including `:`, because browsers would read `a:` as a scheme. */
export const encodeSegments = (path: string): string => path.split('/').map(encodeURIComponent).join('/');

export const encodeAddress = (path: string): string => encodeURI(path).replaceAll('?', '%3F').replaceAll('#', '%23');

/** Placeholder for the origin of the site, because a bundle does not contain the site's host. */
export const OWN_ORIGIN = 'http://site.invalid';

/** URL of a file, with `OWN_ORIGIN` as the origin of the site. @param basePath base path for which the site was built */
export const ownUrl = (path: string, basePath: string): string => OWN_ORIGIN + basePath + encodeSegments(path);

/**
 * Decoded path of the linked file. Null if the link goes out of the site.
 * @param from URL of the page, as returned by `ownUrl`
 */
export function linkedPath(link: string, from: string, basePath: string): string | null {
  const target = URL.parse(link, from);
  if (target?.origin !== OWN_ORIGIN || !target.pathname.startsWith(basePath)) return null;
  return percentDecode(target.pathname.slice(basePath.length));
}
