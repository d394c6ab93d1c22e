import type { ArchiveLimits } from '../domain/limits.ts';
import type { ArchiveFile } from './archive-file.ts';
import { isRatioTooHigh } from './decompress.ts';
import { ReadWindow } from './read-window.ts';
import type { Refuse } from './refuse.ts';
import { centralEntries, type ZipEntry } from './zip-central.ts';
import { readZipEnd } from './zip-end.ts';
import { checkLocalHeader, type ZipRange } from './zip-local.ts';

export interface WalkedZip {
  /** In the directory's order. */
  readonly entries: readonly ZipEntry[];
  /** Bytes of the largest local header with its name and extra field. */
  readonly localHeaderBytesMax: number;
}

/**
 * Reads every record of a zip and holds the rules that need no inflating: unzipper checks none of them and believes
 * every number. What passes has each of its bytes in exactly one record.
 *
 * @param onEntry called in the directory's order; it may refuse
 */
export async function walkZip(
  archive: ArchiveFile,
  limits: ArchiveLimits,
  refuse: Refuse,
  signal: AbortSignal | undefined,
  onEntry: (entry: ZipEntry) => void,
): Promise<WalkedZip> {
  const end = await readZipEnd(archive, refuse);
  if (end.entries > limits.entriesMax)
    throw refuse('too_many_entries', `it has more than ${limits.entriesMax} entries`);

  const window = new ReadWindow(archive);
  const entries: ZipEntry[] = [];
  let totalBytes = 0;
  for await (const entry of centralEntries(window, end, limits, refuse)) {
    signal?.throwIfAborted();
    onEntry(entry);
    entries.push(entry);
    totalBytes += entry.size;
  }
  if (isRatioTooHigh(totalBytes, archive.bytes, limits)) {
    throw refuse('ratio_too_high', `it expands to more than ${limits.ratioMax} times its size`);
  }

  const ranges: ZipRange[] = [];
  for (const entry of entries.toSorted((a, b) => a.localStart - b.localStart)) {
    signal?.throwIfAborted();
    ranges.push(await checkLocalHeader(window, entry, end.directoryStart, refuse));
  }
  checkRanges(ranges, end.directoryStart, refuse);
  return { entries, localHeaderBytesMax: ranges.reduce((most, { headerBytes }) => Math.max(most, headerBytes), 0) };
}

/** Ranges in the order of their starts must follow each other from the first byte to the central directory. */
function checkRanges(ranges: readonly ZipRange[], directoryStart: number, refuse: Refuse): void {
  let at = 0;
  for (const { entry, end } of ranges) {
    if (entry.localStart < at) throw refuse('zip_overlap', 'shares bytes with another entry', { entry: entry.name });
    if (entry.localStart > at)
      throw refuse('trailing_garbage', 'has bytes before it that belong to no entry', { entry: entry.name });
    at = end;
  }
  if (at !== directoryStart)
    throw refuse('trailing_garbage', 'it has bytes between its entries and its central directory');
}
