import { counted } from '../domain/text.ts';
import { ArchiveFile, type OpenOptions } from './archive-file.ts';
import { type ArchiveEntry, isByProduct, type Placement, placeOf } from './layout.ts';
import type { ArchiveListing } from './listing.ts';
import type { Refuse } from './rules.ts';
import { readTar } from './tar/read.ts';
import { ZipDirectory, type ZipRecord } from './zip/guard.ts';
import { readZip } from './zip/read.ts';

interface ReadEntriesOptions extends OpenOptions {
  /** Names of those that are wanted alone: a zip is then read where they are. */
  readonly only?: ReadonlySet<string>;
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

/** @param index its number in the listing */
type TakeEntry = (
  entry: ArchiveEntry,
  placement: Placement,
  content: AsyncIterable<Buffer>,
  index: number,
) => Promise<void>;

/**
 * Reads all content in the archive's order, launchers too: an archive is sound only as a whole.
 * @throws DocshelfError `wrong_crc`, `wrong_size`; `damaged_archive` and the rules' codes where it has changed since;
 *   what `take` throws; the signal's reason
 */
export async function readEntries(
  file: string,
  listing: ArchiveListing,
  options: ReadEntriesOptions,
  take: TakeEntry,
): Promise<void> {
  await using archive = await ArchiveFile.open(file, options);
  const { refuse } = archive;
  const { entries } = listing;
  const changed = () => refuse('damaged_archive', 'it has changed since it was inspected');
  if (archive.bytes !== listing.archiveBytes) throw changed();
  let seen = 0;
  const check = ({ name, kind, size }: ArchiveEntry): void => {
    if (seen === entries.length) throw changed();
    const expected = entries.at(seen);
    seen += 1;
    if (expected.name !== name || expected.kind !== kind || expected.size !== size) throw changed();
  };
  let doneBytes = 0;
  const read = async (entry: ArchiveEntry, index: number, content: AsyncIterable<Buffer>): Promise<void> => {
    const exact = exactly(entry, content, refuse);
    const placement = placeOf(entry, listing);
    if (placement === null) await drain(exact);
    else await take(entry, placement, exact, index);
    if (!isByProduct(entry.name)) doneBytes += entry.size;
    options.onProgress?.(doneBytes, listing.totalBytes);
  };
  if (listing.format === 'zip') {
    const directory = await ZipDirectory.read(archive, check);
    if (seen !== entries.length) throw changed();
    await readZip(archive, wanted(directory.records(), options.only), ({ entry, index }, content) =>
      read(entry, index, content),
    );
  } else {
    await readTar(archive, listing.format, async (member, content) => {
      check(member);
      if (content !== null) await read(member, seen - 1, content);
    });
    if (seen !== entries.length) throw changed();
  }
}

async function* wanted(records: AsyncIterable<ZipRecord>, only: ReadonlySet<string> | undefined) {
  for await (const record of records) if (only === undefined || only.has(record.entry.name)) yield record;
}

async function drain(content: AsyncIterable<Buffer>): Promise<void> {
  for await (const _chunk of content);
}

async function* exactly(entry: ArchiveEntry, content: AsyncIterable<Buffer>, refuse: Refuse): AsyncGenerator<Buffer> {
  const wrong = (state: string) => refuse('wrong_size', state, { entry: entry.name });
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > entry.size) throw wrong(`has more than the ${counted(entry.size, 'byte')} that it declares`);
    yield chunk;
  }
  if (bytes !== entry.size) throw wrong(`has ${counted(bytes, 'byte')} and declares ${entry.size}`);
}
