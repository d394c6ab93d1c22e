import { pipeline, Readable } from 'node:stream';
import { type Extract, extract } from 'tar-stream';
import type { ArchiveLimits } from '../domain/limits.ts';
import type { Refuse } from './refuse.ts';
import { TarGuard, type TarMember } from './tar-guard.ts';

/** tar-stream's `extract` with the option that its types leave out. */
type OpenTar = (options: { readonly allowUnknownFormat: boolean }) => Extract;

/** Reads a tar to its end without keeping anything: every rule of the guard, every member told. */
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
export async function extractTar(
  blocks: AsyncIterable<Buffer>,
  limits: ArchiveLimits,
  refuse: Refuse,
  take: (member: TarMember, content: AsyncIterable<Buffer> | null) => Promise<void>,
): Promise<void> {
  // What the guard has seen and tar-stream not yet handed out: at most what fits into one chunk.
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
