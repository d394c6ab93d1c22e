import type { OpenOptions } from './archive-file.ts';
import { placeOf } from './layout.ts';
import type { ArchiveListing } from './listing.ts';
import { readEntries } from './read-entries.ts';

/**
 * A few files of the site, by path; null for one over the limit. The archive is read only where it has one of them.
 * @throws DocshelfError as `readEntries`
 */
export async function readArchiveFiles(
  file: string,
  listing: ArchiveListing,
  { paths, bytesMax, ...options }: OpenOptions & { readonly paths: readonly string[]; readonly bytesMax: number },
): Promise<ReadonlyMap<string, Uint8Array | null>> {
  const names = new Set<string>();
  for (const entry of listing.entries) {
    const placement = entry.kind === 'file' ? placeOf(entry, listing) : null;
    if (placement?.place === 'site' && paths.includes(placement.path)) names.add(entry.name);
  }
  const found = new Map<string, Uint8Array | null>();
  if (names.size === 0) return found;
  await readEntries(file, listing, { ...options, only: names }, async ({ name, size }, { path }, content) => {
    const isKept = names.has(name) && size <= bytesMax;
    const chunks: Buffer[] = [];
    for await (const chunk of content) if (isKept) chunks.push(Buffer.from(chunk));
    if (names.has(name)) found.set(path, isKept ? Buffer.concat(chunks) : null);
  });
  return found;
}

/** Paths of the site's files. */
export function* sitePaths(listing: ArchiveListing): Generator<string> {
  for (const entry of listing.entries) {
    const placement = entry.kind === 'file' ? placeOf(entry, listing) : null;
    if (placement?.place === 'site') yield placement.path;
  }
}
