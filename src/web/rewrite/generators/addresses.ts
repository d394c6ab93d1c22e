export interface GeneratorSource {
  /**
   * Text to search: that of a script, page or file, with one UTF-16 code unit per byte. For a `meta` element, only the value of
   * its `name` attribute, which identifies the generator.
   */
  readonly text: string;
  readonly path: string;
  /** References found in the file before this search. */
  readonly named: readonly { readonly url: string }[];
  readonly attribute?: (name: string) => string | null;
}

const DELIMITERS = new Set('"\'`\\ \t\n\r,()<>{};|');
const HAS_EXTENSION = /\.[a-z0-9]+(?:\?[\w=&.%-]*)?$/i;

export function* addressesWith(text: string, part: string): Generator<string> {
  let end = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, end)) {
    let start = at;
    while (start > end && !DELIMITERS.has(text[start - 1] ?? '')) start--;
    end = at + part.length;
    while (end < text.length && !DELIMITERS.has(text[end] ?? '')) end++;
    const address = text.slice(start, end);
    if (HAS_EXTENSION.test(address)) yield address;
  }
}

/** Address without the ending of a page: `/a` for `/a`, `/a/`, `/a.html` and `/a/index.html`, and `/` for the root. */
export function stemOf(path: string): string {
  const stem = path
    .replace(/\/index\.html?$/i, '/')
    .replace(/\.html?$/i, '')
    .replace(/\/$/, '');
  return stem === '' ? '/' : stem;
}

export const indexedStemOf = (path: string): string => (stemOf(path) === '/' ? '/index' : stemOf(path));

export const folderOf = (path: string): string => (stemOf(path) === '/' ? '/' : `${stemOf(path)}/`);

/**
 * Resolves an address that is relative to the root of the build. In `/docs/assets/b.js`, the root for `assets/a.js` is `/docs/`.
 */
export function fromBuildRoot(address: string, filePath: string): string {
  const folder = `/${address.slice(0, address.indexOf('/') + 1)}`;
  const at = folder === '/' ? -1 : filePath.lastIndexOf(folder);
  return at === -1 ? `/${address}` : filePath.slice(0, at + 1) + address;
}
