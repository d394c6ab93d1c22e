import type { IncomingMessage } from 'node:http';

/** Longer ones lead to the first page instead: the address is in the provider's, too. */
const PATH_LENGTH_MAX = 1024;

/** True where a browser shows the answer as a page of its own (Fetch metadata; of older ones, and over plain HTTP, by what is accepted). */
export function isNavigation({ method, headers }: IncomingMessage): boolean {
  if (method !== 'GET' || headers['sec-purpose'] !== undefined) return false;
  const mode = headers['sec-fetch-mode'];
  if (mode !== undefined) return mode === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return headers.accept?.includes('text/html') === true;
}

/** A path of this site, to come back to; its first page for what could be read as another place. */
export function returnPath(target: string, basePath: string): string {
  const isPath = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(target) && target.length <= PATH_LENGTH_MAX;
  return isPath ? basePath + target.slice(1) : basePath;
}
