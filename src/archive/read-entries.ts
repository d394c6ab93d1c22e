import type { ArchiveLimits } from '../domain/limits.ts';
import { ArchiveFile } from './archive-file.ts';
import { type Placement, placeOf } from './layout.ts';
import type { ArchiveEntry, ArchiveListing } from './listing.ts';
import { type Refuse, refusalsOf } from './rules.ts';
import { readTar, tarBytes } from './tar/read.ts';
import { guardZip } from './zip/guard.ts';
import { readZip } from './zip/read.ts';

export interface ReadEntriesOptions {
  /** The archive's name in errors. */
  readonly name: string;
  readonly limits: ArchiveLimits;
  readonly signal?: AbortSignal;
  /** Bytes of content that are read. */
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

/** Takes a file of the site or of `_docshelf/`; its content throws where it differs from the entry. */
export type TakeEntry = (entry: ArchiveEntry, placement: Placement, content: AsyncIterable<Buffer>) => Promise<void>;

/**
 * Reads the content of an archive that has been listed, in its order. Launchers, which are no part of
 * the site, are read all the same: an archive is sound only as a whole.
 *
 * @throws DocshelfError `wrong_crc`, `wrong_size`; `damaged_archive` and the codes of the rules where the archive has changed
 *   since it was listed; what `take` throws; the signal's reason when it is aborted
 */
export async function readEntries(
  file: string,
  listing: ArchiveListing,
  { name, limits, signal, onProgress }: ReadEntriesOptions,
  take: TakeEntry,
): Promise<void> {
  const refuse = refusalsOf(name);
  const archive = await ArchiveFile.open(file, name);
  let doneBytes = 0;
  try {
    const expected = new ExpectedEntries(listing, archive.bytes, refuse);
    const read = async (entry: ArchiveEntry, content: AsyncIterable<Buffer>): Promise<void> => {
      const exact = exactly(entry, content, refuse);
      const placement = placeOf(entry, listing);
      if (placement === null) await drain(exact);
      else await take(entry, placement, exact);
      doneBytes += entry.size;
      onProgress?.(doneBytes, listing.totalBytes);
    };
    if (listing.format === 'zip') {
      const walked = await guardZip(archive, limits, refuse, signal, (entry) => expected.check(entry));
      expected.checkAllSeen();
      await readZip(archive, walked, refuse, signal, read);
    } else {
      const blocks = tarBytes(archive, listing.format, limits, refuse, { signal });
      await readTar(blocks, limits, refuse, async (member, content) => {
        expected.check(member);
        if (content !== null) await read(member, content);
      });
      expected.checkAllSeen();
    }
  } finally {
    await archive.close();
  }
}

/** Holds the archive to the listing that was checked: its file may have been replaced since. */
class ExpectedEntries {
  readonly #listing: ArchiveListing;
  readonly #refuse: Refuse;
  #seen = 0;

  constructor(listing: ArchiveListing, archiveBytes: number, refuse: Refuse) {
    this.#listing = listing;
    this.#refuse = refuse;
    if (archiveBytes !== listing.archiveBytes) throw this.#changed();
  }

  check(entry: ArchiveEntry): void {
    const expected = this.#listing.entries[this.#seen];
    this.#seen += 1;
    if (expected?.name !== entry.name || expected.kind !== entry.kind || expected.size !== entry.size) {
      throw this.#changed();
    }
  }

  checkAllSeen(): void {
    if (this.#seen !== this.#listing.entries.length) throw this.#changed();
  }

  #changed() {
    return this.#refuse('damaged_archive', 'it has changed since it was inspected');
  }
}

async function drain(content: AsyncIterable<Buffer>): Promise<void> {
  for await (const _chunk of content);
}

/** The content as it comes, held to the size that the archive declares: `wrong_size` at the first byte too many, or at the end. */
async function* exactly(entry: ArchiveEntry, content: AsyncIterable<Buffer>, refuse: Refuse): AsyncGenerator<Buffer> {
  const wrong = (state: string) => refuse('wrong_size', state, { entry: entry.name });
  let bytes = 0;
  for await (const chunk of content) {
    bytes += chunk.length;
    if (bytes > entry.size) throw wrong(`has more than the ${entry.size} bytes that it declares`);
    yield chunk;
  }
  if (bytes !== entry.size) throw wrong(`has ${bytes} bytes and declares ${entry.size}`);
}
