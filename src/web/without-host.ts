/** A path that is put behind a slash: two slashes, or a backslash, at the beginning would lead to another host. */
export const withoutHost = (path: string): string => path.replace(/^[/\\\s]+/, '');
