import { pipeline, Readable } from 'node:stream';
import { type Extract, extract } from 'tar-stream';
import type { ArchiveLimits } from '../../domain/limits.ts';
import type { ArchiveFile, ReadOptions } from '../archive-file.ts';
import { gunzip } from '../compression/gzip.ts';
import { unzstd } from '../compression/zstd.ts';
import type { ArchiveFormat } from '../listing.ts';
import { isRatioTooHigh, type Refuse } from '../rules.ts';
import { TarGuard, type TarMember } from './guard.ts';

/** tar-stream's `extract` with the option that its types leave out. */
type OpenTar = (options: { readonly allowUnknownFormat: boolean }) => Extract;

/**
 * The tar inside an archive of format `tar`, `tar.gz` or `tar.zst`, bounded in ratio, every checksum verified.
 *
 * @throws DocshelfError `ratio_too_high`, `truncated`, `trailing_garbage`, `wrong_crc`, `wrong_size`,
 *   `window_too_large`, `damaged_archive`
 */
export async function* tarBytes(
  archive: ArchiveFile,
  format: Exclude<ArchiveFormat, 'zip'>,
  limits: ArchiveLimits,
  refuse: Refuse,
  options: ReadOptions,
): AsyncGenerator<Buffer> {
  if (format === 'tar') {
    yield* archive.chunks(options);
    return;
  }
  const plain =
    format === 'tar.gz' ? gunzip(archive, refuse, options) : unzstd(archive.chunks(options), limits, refuse);
  let bytes = 0;
  for await (const chunk of plain) {
    bytes += chunk.length;
    if (isRatioTooHigh(bytes, archive.bytes, limits)) {
      throw refuse('ratio_too_high', `it expands to more than ${limits.ratioMax} times its size`);
    }
    yield chunk;
  }
}

/** Holds a whole tar to the guard's rules, and keeps nothing of it. */
export async function walkTar(
  blocks: AsyncIterable<Buffer>,
  limits: ArchiveLimits,
  refuse: Refuse,
  onMember: (member: TarMember) => void,
): Promise<void> {
  for await (const _chunk of guarded(blocks, new TarGuard(refuse, limits, onMember)));
}

/**
 * Hands out the content of every file of a tar, one after the other.
 *
 * @param take is given members in the archive's order, folders without content; it must read the content to its end
 * @throws DocshelfError what the guard refuses, `damaged_archive`, and what `take` throws
 */
export async function readTar(
  blocks: AsyncIterable<Buffer>,
  limits: ArchiveLimits,
  refuse: Refuse,
  take: (member: TarMember, content: AsyncIterable<Buffer> | null) => Promise<void>,
): Promise<void> {
  // Members that the guard has passed and tar-stream not yet handed out: at most what fits into one chunk.
  const seen: TarMember[] = [];
  let handedOut = 0;
  const guard = new TarGuard(refuse, limits, (member) => seen.push(member));
  // Tars older than 1988 carry no magic; the guard has checked their checksums.
  const reader = (extract as OpenTar)({ allowUnknownFormat: true });
  // The callback is asked for so that a fault is not thrown twice: the loop below is told of it by the reader.
  pipeline(Readable.from(guarded(blocks, guard)), reader, () => {});
  for await (const entry of reader) {
    const member = seen[handedOut];
    handedOut += 1;
    if (handedOut === seen.length) {
      seen.length = 0;
      handedOut = 0;
    }
    if (member === undefined || entry.header.name !== member.rawName || entry.header.size !== member.size) {
      throw refuse('damaged_archive', 'is read in two ways', { entry: entry.header.name });
    }
    await take(member, member.kind === 'file' ? (entry as AsyncIterable<Buffer>) : null);
    entry.resume();
  }
}

async function* guarded(blocks: AsyncIterable<Buffer>, guard: TarGuard): AsyncGenerator<Buffer> {
  for await (const chunk of blocks) {
    guard.push(chunk);
    yield chunk;
  }
  guard.end();
}
