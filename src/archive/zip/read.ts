import { Readable } from 'node:stream';
import { crc32 } from 'node:zlib';
// The door of unzipper opens archives by their directory, of which it holds 5 kB an entry: 1 GB for 200,000.
import unzip from 'unzipper/lib/Open/unzip.js';
import { Lanes } from '../../files/lanes.ts';
import type { ArchiveFile } from '../archive-file.ts';
import type { ZipRecord } from './guard.ts';

/** Entries that are inflated at once: zlib works on the thread pool, of four threads unless told otherwise. */
const INFLATING_MAX = 4;

/** Several at once. @throws DocshelfError `wrong_crc`, `damaged_archive`, and what `take` throws */
export async function readZip(
  archive: ArchiveFile,
  records: AsyncIterable<ZipRecord>,
  take: (record: ZipRecord, content: AsyncIterable<Buffer>) => Promise<void>,
): Promise<void> {
  await using lanes = new Lanes(INFLATING_MAX);
  for await (const record of records) {
    if (record.entry.kind === 'file') await lanes.run(() => take(record, contentOf(archive, record)));
  }
  await lanes.drain();
}

/** Content of another size than declared is for the reader to judge: its checksum differs too. */
async function* contentOf(archive: ArchiveFile, record: ZipRecord): AsyncGenerator<Buffer> {
  const { entry } = record;
  let crc = 0;
  let bytes = 0;
  for await (const chunk of unzipped(archive, record)) {
    crc = crc32(chunk, crc);
    bytes += chunk.length;
    yield chunk;
  }
  if (bytes === entry.size && crc !== entry.crc) {
    throw archive.refuse('wrong_crc', 'has a wrong checksum', { entry: entry.name });
  }
}

async function* unzipped(archive: ArchiveFile, { entry, dataEnd }: ZipRecord): AsyncGenerator<Buffer> {
  // Without data unzipper would go looking for a descriptor, which need not have a signature.
  if (entry.compressedBytes === 0) return;
  let fault: { readonly error: unknown } | null = null;
  // unzipper does not listen for a fault of its source: the source ends, which it reports, and the fault is told here.
  const source = Readable.from(
    (async function* () {
      try {
        yield* archive.chunks(entry.localStart, dataEnd);
      } catch (error) {
        fault = { error };
      }
    })(),
  );
  const facts = {
    flags: 0,
    compressionMethod: entry.method,
    compressedSize: entry.compressedBytes,
    uncompressedSize: entry.size,
  };
  const content = unzip({ stream: () => source }, entry.localStart, null, facts, dataEnd - entry.localStart);
  // It may report a second fault after the first, which nobody reads any more.
  content.on('error', () => {});
  try {
    yield* content as AsyncIterable<Buffer>;
  } catch (cause) {
    if (fault !== null) throw (fault as { readonly error: unknown }).error;
    throw archive.refuse('damaged_archive', 'has damaged data', { entry: entry.name, cause });
  } finally {
    source.destroy();
  }
}
