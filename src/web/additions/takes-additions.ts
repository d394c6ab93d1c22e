/** Larger ones are sent as they are, from disk: with additions they would be in memory whole. */
const ADDED_PAGE_BYTES_MAX = 8 * 1024 ** 2;

/** Files that a browser shows as HTML. XHTML is another language, in which a stray tag shows an error instead of the page. */
export function takesAdditions(mediaType: string, size: number): boolean {
  return /^text\/html(?:;|$)/.test(mediaType) && size <= ADDED_PAGE_BYTES_MAX;
}
