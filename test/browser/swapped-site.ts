import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { BuiltSite } from '../corpus/built-site.ts';
import { makeCertificate } from '../helpers/certificates.ts';
import type { Reader } from './reader.ts';

/** Protocols of the page and its files. Files from the browser's cache have none. */
export const PROTOCOLS =
  "[...new Set([...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')].map((each) => each.nextHopProtocol).filter(Boolean))]";

/** Writes a new key pair as `tls.crt` and `tls.key`. */
export async function writePair(folder: string): Promise<void> {
  const { cert, key } = makeCertificate({ names: ['localhost', '127.0.0.1'] });
  await Promise.all([writeFile(join(folder, 'tls.crt'), cert), writeFile(join(folder, 'tls.key'), key)]);
}

/** Errors, without requests for files that the original site lacks: it has dead links, and prefetches them. */
export function faultsOf({ failures, complaints }: Reader, site: BuiltSite): string[] {
  const failed = failures.filter(({ path }) => site.fileAt(path) !== null);
  return [...failed.map(({ path, why }) => `${path}: ${why}`), ...complaints];
}
