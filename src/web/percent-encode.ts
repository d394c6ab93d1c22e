/** A path of a site, segment by segment; `:` too, or `a:b` would read as a scheme. */
export function encodeSegments(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

/** A path as browsers write it, in which no sign begins a query or a fragment. */
export function encodeAddress(path: string): string {
  return encodeURI(path).replaceAll('?', '%3F').replaceAll('#', '%23');
}
