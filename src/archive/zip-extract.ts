import { crc32 } from 'node:zlib';
import unzipper, { type CentralDirectory, type File } from 'unzipper';
import type { ArchiveFile } from './archive-file.ts';
import { Lanes } from './lanes.ts';
import type { Refuse } from './refuse.ts';
import type { ZipEntry } from './zip-central.ts';
import { END_BYTES } from './zip-end.ts';
import { ZipSlice } from './zip-slice.ts';
import type { WalkedZip } from './zip-walk.ts';

/** Entries that are inflated at once: zlib works on the thread pool, of four threads unless told otherwise. */
const INFLATING_MAX = 4;
/** Entries that unzipper knows at once. It needs some 5 kB for each: 200,000 at once took 1 GB. */
const SLICE_ENTRIES = 1000;

/** `Open.custom` with the options that unzipper 0.12 takes and its types leave out. */
type OpenCustom = (
  source: Pick<ZipSlice, 'size' | 'stream'>,
  options: {
    /** Bytes from the end in which unzipper looks for the end record. */
    readonly tailSize: number;
    /** Bytes that a local header may have more than the central one. */
    readonly padding: number;
  },
) => Promise<CentralDirectory>;

/**
 * Hands out the content of every file of a zip that `walkZip` has passed, several at once.
 *
 * @throws DocshelfError `wrong_crc`, `damaged_archive`, and what `take` throws
 */
export async function extractZip(
  archive: ArchiveFile,
  { entries, localHeaderBytesMax }: WalkedZip,
  refuse: Refuse,
  signal: AbortSignal | undefined,
  take: (entry: ZipEntry, content: AsyncIterable<Buffer>) => Promise<void>,
): Promise<void> {
  for (let at = 0; at < entries.length; at += SLICE_ENTRIES) {
    const slice = new ZipSlice(archive, entries.slice(at, at + SLICE_ENTRIES), signal);
    const lanes = new Lanes(INFLATING_MAX);
    try {
      const files = await openSlice(slice, localHeaderBytesMax, refuse);
      for (const [index, entry] of slice.entries.entries()) {
        if (entry.kind === 'folder') continue;
        await lanes.run(() => take(entry, contentOf(entry, files[index], slice, refuse)));
      }
      await lanes.drain();
    } finally {
      await lanes.settle();
      slice.close();
    }
  }
}

async function openSlice(slice: ZipSlice, padding: number, refuse: Refuse): Promise<readonly File[]> {
  try {
    const open = unzipper.Open.custom as OpenCustom;
    return (await open(slice, { tailSize: END_BYTES, padding })).files;
  } catch (cause) {
    slice.throwReadError();
    throw refuse('damaged_archive', 'two readings of its directory disagree', { cause });
  }
}

async function* contentOf(
  entry: ZipEntry,
  file: File | undefined,
  slice: ZipSlice,
  refuse: Refuse,
): AsyncGenerator<Buffer> {
  if (file?.offsetToLocalFileHeader !== entry.localStart || file.compressedSize !== entry.compressedBytes) {
    throw refuse('damaged_archive', 'is read in two ways', { entry: entry.name });
  }
  let crc = 0;
  let bytes = 0;
  // Without data unzipper would go looking for a descriptor, which need not have a signature.
  if (entry.compressedBytes > 0) {
    const stream = file.stream();
    // It may report a second fault after the first, which nobody reads any more.
    stream.on('error', () => {});
    try {
      for await (const chunk of stream as AsyncIterable<Buffer>) {
        crc = crc32(chunk, crc);
        bytes += chunk.length;
        yield chunk;
      }
    } catch (cause) {
      slice.throwReadError();
      throw refuse('damaged_archive', 'has damaged data', { entry: entry.name, cause });
    }
  }
  // Of another size it has another checksum too, and the reader names the size.
  if (bytes === entry.size && crc !== entry.crc) {
    throw refuse('wrong_crc', 'has a wrong checksum', { entry: entry.name });
  }
}
