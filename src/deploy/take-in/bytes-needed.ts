import type { ArchiveEntry, ExtractedFile, FindSame } from '../../archive/index.ts';
import { isPage, OWN_FOLDER } from '../../domain/release.ts';

/** A file system block: the least that a file takes. */
const BLOCK_BYTES = 4096;
const CARRIED_VECTORS = `${OWN_FOLDER}search/vectors-`;
const INDEX_PART = 2.1;

/**
 * The files; with search also the index, 1.3 times the bytes of the pages, what was read of them, .5 times, and the vectors of their
 * text, .3 times (PostgreSQL's manual, measured), or those that the bundle carries.
 */
export function bytesNeeded(
  { entries, totalBytes }: { readonly entries: Iterable<ArchiveEntry>; readonly totalBytes: number },
  isIndexed: boolean,
): number {
  const sums = { entries: 0, pages: 0, vectors: 0 };
  for (const { name, size } of entries) {
    sums.entries += 1;
    if (isPage(name)) sums.pages += size;
    if (name.includes(CARRIED_VECTORS)) sums.vectors += size;
  }
  const files = totalBytes + sums.entries * BLOCK_BYTES;
  return isIndexed ? Math.ceil(files + INDEX_PART * sums.pages + sums.vectors) : files;
}

/** Of files that another release has, but for one: a large one is written before it becomes a link. */
export function linkedBytes(files: Iterable<ExtractedFile>, findSame: FindSame): number {
  let [bytes, most] = [0, 0];
  for (const { sha256, size } of files) {
    if (size === 0 || findSame(sha256) === null) continue;
    bytes += size + BLOCK_BYTES;
    most = Math.max(most, size + BLOCK_BYTES);
  }
  return bytes - most;
}
