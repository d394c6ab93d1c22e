import { extname } from 'node:path';

/** A worker's entry, from here: a `.js` file in the built program, a `.ts` file where the sources run as they are. */
export function workerEntry(path: string): URL {
  return new URL(`${path}${extname(import.meta.filename)}`, import.meta.url);
}
