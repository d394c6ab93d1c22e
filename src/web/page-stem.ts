/** What `guide.html` and `guide/index.html` share: `guide`; empty for the first page of a site. */
export function pageStem(path: string): string {
  return path.replace(/(?:(?:^|\/)index)?\.x?html?$/i, '');
}
