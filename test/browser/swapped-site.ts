import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuiltSite } from '../corpus/built-site.ts';
import { makeCertificate } from '../helpers/certificates.ts';
import type { Reader } from './reader.ts';

/** What the page and its parts came over; files that the browser had already came over none. */
export const PROTOCOLS =
  "[...new Set([...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].map((each) => each.nextHopProtocol).filter(Boolean))]";

/** Of a new key, as `tls.crt` and `tls.key`. */
export async function writePair(folder: string): Promise<void> {
  const { cert, key } = makeCertificate({ names: ['localhost', '127.0.0.1'] });
  await Promise.all([writeFile(join(folder, 'tls.crt'), cert), writeFile(join(folder, 'tls.key'), key)]);
}

/** What went wrong, besides requests for what the site as built does not have: it has dead links, and prefetches them. */
export function faultsOf({ failures, complaints }: Reader, site: BuiltSite): string[] {
  const failed = failures.filter(({ path }) => site.fileAt(path) !== null);
  return [...failed.map(({ path, why }) => `${path}: ${why}`), ...complaints];
}
