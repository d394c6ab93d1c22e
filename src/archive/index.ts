/**
 * The archive room: inspect a bundle's archive whole, then unpack it. Nothing is written before the whole listing is
 * read and every rule holds; one broken rule refuses the whole archive.
 */
import { join } from 'node:path';
import type { ArchiveLimits } from '../domain/limits.ts';
import { OWN_FOLDER } from '../domain/release.ts';
import { ArchiveFile } from './archive-file.ts';
import { tarBytes } from './decompress.ts';
import { DETECT_BYTES, detectFormat } from './detect.ts';
import { exactly } from './exact-size.ts';
import { type Placement, placeOf } from './layout.ts';
import { type ArchiveEntry, type ArchiveListing, type ExtractedFile, ListingBuilder } from './listing.ts';
import { type Refuse, refusalsOf } from './refuse.ts';
import { extractTar, walkTar } from './tar-extract.ts';
import { FileWriter, makeFolders } from './write-files.ts';
import { extractZip } from './zip-extract.ts';
import { walkZip } from './zip-walk.ts';

export type { PackThreads } from './deflate-threads.ts';
export { encodeManifest, type ManifestWords } from './encode-manifest.ts';
export type { ArchiveEntry, ArchiveFormat, ArchiveListing, ExtractedFile } from './listing.ts';
export { type BundleManifest, checkManifest, parseManifest } from './manifest.ts';
export { signFile, verifyFile } from './minisign.ts';
export { parsePublicKey, parseSecretKey } from './minisign-keys.ts';
export { packTarGz } from './pack.ts';
export { archiveOrder, type PackBundleOptions, type PackedBundle, packBundle } from './pack-bundle.ts';
export type { PackEntry } from './packed-entries.ts';
export { ARCHIVE_RULES, type ArchiveCode, type ArchiveRule } from './rules.ts';

export interface InspectOptions {
  /** What errors call the archive: its file name, never its link. */
  readonly name: string;
  readonly limits: ArchiveLimits;
  /** Whether the data folder takes names that differ only by case for one. */
  readonly foldsCase: boolean;
  readonly signal?: AbortSignal;
  /** `inspectArchive`: bytes of the archive that are read; `extractArchive`: bytes that are unpacked. */
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

export interface ExtractOptions extends InspectOptions {
  /** Where the site's files go. Made if missing; must be empty. */
  readonly siteDir: string;
  /** Where the files of `_docshelf/` go, without that folder. Made if the archive has any; must be empty. */
  readonly ownDir: string;
}

/**
 * Reads a whole archive without writing anything and checks every rule that does not need the content of a zip's
 * entries: for a tar that is one pass through its decompressor, checksums included.
 *
 * @throws DocshelfError a code of `ARCHIVE_RULES`, `cannot_read`; the signal's reason when it is aborted
 */
export async function inspectArchive(file: string, options: InspectOptions): Promise<ArchiveListing> {
  const { limits, signal, onProgress } = options;
  const refuse = refusalsOf(options.name);
  const archive = await ArchiveFile.open(file, options.name);
  try {
    const format = detectFormat(await archive.read(0, DETECT_BYTES), refuse);
    const listing = new ListingBuilder(refuse, limits, options.foldsCase);
    if (format === 'zip') {
      await walkZip(archive, limits, refuse, signal, (entry) => listing.add(plainEntry(entry)));
    } else {
      const onRead = (doneBytes: number) => onProgress?.(doneBytes, archive.bytes);
      const blocks = tarBytes(archive, format, limits, refuse, { signal, onRead });
      await walkTar(blocks, limits, refuse, (member) => listing.add(plainEntry(member)));
    }
    onProgress?.(archive.bytes, archive.bytes);
    return listing.finish(format, archive.bytes);
  } finally {
    await archive.close();
  }
}

/**
 * Unpacks an archive that `inspectArchive` has passed, with the same limits. Files are 0644 and folders 0755. Where it
 * throws, what is written so far stays, nothing is being written any more, and the caller removes both folders.
 * Nothing is flushed to disk.
 *
 * @returns the files that were written, by path
 * @throws DocshelfError `wrong_crc`, `wrong_size`, and what `inspectArchive` throws where the archive has changed since;
 *   the system's own errors where writing fails; the signal's reason when it is aborted
 */
export async function extractArchive(
  file: string,
  listing: ArchiveListing,
  options: ExtractOptions,
): Promise<ExtractedFile[]> {
  const { limits, signal, onProgress } = options;
  const refuse = refusalsOf(options.name);
  const archive = await ArchiveFile.open(file, options.name);
  let doneBytes = 0;
  const writer = new FileWriter(refuse);
  try {
    const expected = new ExpectedEntries(listing, archive.bytes, refuse);
    await makeAllFolders(listing, options);

    const extracted: ExtractedFile[] = [];
    const take = async (entry: ArchiveEntry, content: AsyncIterable<Buffer>) => {
      const exact = exactly(entry, content, refuse);
      const placement = placeOf(entry, listing);
      if (placement === null) {
        // A launcher is read all the same: what does not unpack whole is no sound archive.
        await drain(exact);
      } else {
        const target = { file: pathOf(placement, options), size: entry.size, entryName: entry.name };
        const path = placement.place === 'own' ? OWN_FOLDER + placement.path : placement.path;
        await writer.take(target, exact, (sha256) => extracted.push({ path, size: entry.size, sha256 }));
      }
      doneBytes += entry.size;
      onProgress?.(doneBytes, listing.totalBytes);
    };
    if (listing.format === 'zip') {
      const walked = await walkZip(archive, limits, refuse, signal, (entry) => expected.check(entry));
      expected.checkAllSeen();
      await extractZip(archive, walked, refuse, signal, take);
    } else {
      const blocks = tarBytes(archive, listing.format, limits, refuse, { signal });
      await extractTar(blocks, limits, refuse, async (member, content) => {
        expected.check(member);
        if (content !== null) await take(member, content);
      });
      expected.checkAllSeen();
    }
    await writer.drain();
    return extracted.sort((a, b) => (a.path < b.path ? -1 : 1));
  } finally {
    await writer.settle();
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

/** What the listing keeps of an entry; readers know more of it. */
function plainEntry({ name, kind, size }: ArchiveEntry): ArchiveEntry {
  return { name, kind, size };
}

async function makeAllFolders(listing: ArchiveListing, { siteDir, ownDir }: ExtractOptions): Promise<void> {
  const folders: Record<'site' | 'own', Set<string>> = { site: new Set(), own: new Set() };
  for (const entry of listing.entries) {
    const placement = placeOf(entry, listing);
    if (placement === null) continue;
    const { place, path } = placement;
    folders[place].add(entry.kind === 'folder' ? path : path.slice(0, Math.max(0, path.lastIndexOf('/'))));
  }
  await makeFolders(siteDir, folders.site);
  if (folders.own.size > 0) await makeFolders(ownDir, folders.own);
}

function pathOf(placement: NonNullable<Placement>, { siteDir, ownDir }: ExtractOptions): string {
  return join(placement.place === 'own' ? ownDir : siteDir, placement.path);
}

async function drain(content: AsyncIterable<Buffer>): Promise<void> {
  for await (const _chunk of content);
}
