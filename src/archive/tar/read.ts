import { pipeline, Readable } from 'node:stream';
import { type Extract, extract } from 'tar-stream';
import { DocshelfError } from '../../domain/errors.ts';
import type { ArchiveFile } from '../archive-file.ts';
import { gunzip } from '../compression/gzip.ts';
import { unzstd } from '../compression/zstd.ts';
import type { ArchiveFormat } from '../listing.ts';
import { checkRatio } from '../rules.ts';
import { TarGuard, type TarMember } from './guard.ts';

/** tar-stream's `extract` with the option that its types leave out. */
type OpenTar = (options: { readonly allowUnknownFormat: boolean }) => Extract;

type TarFormat = Exclude<ArchiveFormat, 'zip'>;

/**
 * Bounded in ratio, every checksum verified. @throws DocshelfError `ratio_too_high`, `truncated`, `trailing_garbage`,
 * `wrong_crc`, `wrong_size`, `window_too_large`, `damaged_archive`
 */
async function* tarBytes(archive: ArchiveFile, format: TarFormat): AsyncGenerator<Buffer> {
  const { limits, refuse } = archive;
  if (format === 'tar') return yield* archive.chunks();
  let bytes = 0;
  for await (const chunk of format === 'tar.gz' ? gunzip(archive) : unzstd(archive.chunks(), limits, refuse)) {
    bytes += chunk.length;
    checkRatio(bytes, archive.bytes, limits, refuse);
    yield chunk;
  }
}

/** True if something other than its end blocks shows that a tar is not cut off, as the end of a compressed stream does. */
const isKnownWhole = (archive: ArchiveFile, format: TarFormat): boolean => format !== 'tar' || archive.isVerified;

/** @throws DocshelfError what the guard refuses and, before what it calls damage, the fault of the compressed data that is behind it */
export async function walkTar(
  archive: ArchiveFile,
  format: TarFormat,
  onMember: (member: TarMember) => void,
): Promise<void> {
  const guard = new TarGuard(archive, onMember);
  let damage: unknown = null;
  let bytes = 0;
  for await (const chunk of tarBytes(archive, format)) {
    bytes += chunk.length;
    if (damage === null) {
      try {
        guard.push(chunk);
      } catch (error) {
        if (!isDamage(error)) throw error;
        // The checksum of compressed data is at their end; of a small archive it is judged before its first block.
        damage = error;
      }
    } else if (bytes > archive.limits.totalBytesMax) break;
  }
  if (damage !== null) throw damage;
  guard.end(isKnownWhole(archive, format));
}

const isDamage = (error: unknown): boolean =>
  error instanceof DocshelfError && (error.code === 'unknown_format' || error.code === 'damaged_archive');

const HANDED_OUT_MAX = 256;

/**
 * @param take must read the content to its end; folders have none
 * @throws DocshelfError what the guard refuses, `damaged_archive`, and what `take` throws
 */
export async function readTar(
  archive: ArchiveFile,
  format: TarFormat,
  take: (member: TarMember, content: AsyncIterable<Buffer> | null) => Promise<void>,
): Promise<void> {
  // Members that the guard has passed and tar-stream not yet handed out: what fits into the few chunks that are under way.
  const seen: TarMember[] = [];
  let handedOut = 0;
  const guard = new TarGuard(archive, (member) => seen.push(member));
  // Tars older than 1988 carry no magic; the guard has checked their checksums.
  const reader = (extract as OpenTar)({ allowUnknownFormat: true });
  pipeline(Readable.from(guarded(archive, format, guard)), reader, () => {});
  for await (const entry of reader) {
    const member = seen[handedOut];
    handedOut += 1;
    // The next chunk may be read before the last member of this one is handed out: there is no moment when none is waiting.
    if (handedOut === HANDED_OUT_MAX) {
      seen.splice(0, handedOut);
      handedOut = 0;
    }
    if (member === undefined || entry.header.name !== member.rawName || entry.header.size !== member.size) {
      throw archive.refuse('damaged_archive', 'is read in two ways', { entry: entry.header.name });
    }
    await take(member, member.kind === 'file' ? (entry as AsyncIterable<Buffer>) : null);
    entry.resume();
  }
}

async function* guarded(archive: ArchiveFile, format: TarFormat, guard: TarGuard): AsyncGenerator<Buffer> {
  for await (const chunk of tarBytes(archive, format)) {
    guard.push(chunk);
    yield chunk;
  }
  guard.end(isKnownWhole(archive, format));
}
