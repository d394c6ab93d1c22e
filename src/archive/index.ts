/** Inspects a whole archive, then unpacks it: nothing is written before every rule holds for the whole listing. */
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { ArchiveFile, type OpenOptions } from './archive-file.ts';
import { DETECT_BYTES, detectFormat } from './detect.ts';
import { ExtractedFiles } from './extracted-files.ts';
import { type ArchiveEntry, placeOf } from './layout.ts';
import { type ArchiveListing, ListingBuilder } from './listing.ts';
import { BundleManifest, checkManifestSize, type ManifestHead } from './manifest.ts';
import { readEntries } from './read-entries.ts';
import { refusalsOf } from './rules.ts';
import { walkTar } from './tar/read.ts';
import { FileWriter, type FindSame, makeFolders } from './write-files.ts';
import { guardZip } from './zip/guard.ts';

export { SharedTexts } from './compact.ts';
export { type ExtractedFile, ExtractedFiles } from './extracted-files.ts';
export { type ArchiveEntry, isByProduct, NAMED_MAX } from './layout.ts';
export type { ArchiveFormat, ArchiveListing } from './listing.ts';
export { BundleManifest, type ManifestHead } from './manifest.ts';
export { readSignedComment, type SignedWords, signedComment } from './minisign/comment.ts';
export { parsePublicKey, parseSecretKey } from './minisign/format.ts';
export { signFile, verifyFile } from './minisign/index.ts';
export { archiveOrder, type PackBundleOptions, type PackedArchive, packBundle } from './pack/bundle.ts';
export type { PackEntry } from './pack/entries.ts';
export { encodeManifest, type ManifestWords } from './pack/manifest.ts';
export { readArchiveFiles, sitePaths } from './read-files.ts';
export { ARCHIVE_RULES, type ArchiveCode, type ArchiveRule } from './rules.ts';
export type { FindSame } from './write-files.ts';

export interface InspectOptions extends OpenOptions {
  /** True where the data folder takes names that differ only by case for one. */
  readonly foldsCase: boolean;
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

export interface ExtractOptions extends InspectOptions {
  /** Receives the site's files. Made if missing; must be empty. */
  readonly siteDir: string;
  /** Receives the files of `_docshelf/`, without that folder. Made if the archive has any; must be empty. */
  readonly ownDir: string;
  /** Files of the same bytes elsewhere on the file system, which are linked to. */
  readonly findSame?: FindSame;
}

/**
 * Checks every rule that does not need the content of a zip's entries; of a tar checksums too. Writes nothing. An archive
 * without a page is read whole.
 * @throws DocshelfError a code of `ARCHIVE_RULES`, `bad_manifest`, `cannot_read`; the signal's reason when it is aborted
 */
export async function inspectArchive(file: string, options: InspectOptions): Promise<ArchiveListing> {
  const { limits, onProgress } = options;
  await using archive = await ArchiveFile.open(file, options);
  archive.onRead = (doneBytes) => onProgress?.(doneBytes, archive.bytes);
  const format = detectFormat(await archive.read(0, DETECT_BYTES), archive.refuse);
  const listing = new ListingBuilder(archive.refuse, limits, options.foldsCase);
  const add = ({ name, kind, size }: ArchiveEntry) => listing.add({ name, kind, size });
  if (format === 'zip') await guardZip(archive, add);
  else await walkTar(archive, format, add);
  onProgress?.(archive.bytes, archive.bytes);
  const listed = listing.finish(format, archive.bytes);
  checkManifestSize(listed, options.name);
  if (listed.pages > 0) return listed;
  // The last word: a hostile or damaged archive is called by its own fault.
  await verifyArchive(file, listed, options);
  throw archive.refuse('no_pages', 'it holds no HTML page');
}

/**
 * Unpacks what `inspectArchive` has passed, unflushed, as 0644 and 0755. On a fault the caller removes both folders.
 * @throws DocshelfError `wrong_crc`, `wrong_size`, what `inspectArchive` throws; system errors; the signal's reason
 */
export async function extractArchive(
  file: string,
  listing: ArchiveListing,
  options: ExtractOptions,
): Promise<ExtractedFiles> {
  await using writer = new FileWriter(
    refusalsOf(options.name),
    options.findSame ?? (() => null),
    `${options.siteDir}.link-`,
  );
  const extracted = new ExtractedFiles(listing);
  await makeAllFolders(listing, options);
  await readEntries(file, listing, options, async ({ name, size }, placement, content, index) => {
    const dir = placement.place === 'own' ? options.ownDir : options.siteDir;
    const target = { file: join(dir, placement.path), size, entryName: name };
    await writer.take(target, content, (sha256) => extracted.add(index, sha256));
  });
  await writer.drain();
  return extracted;
}

/**
 * Finds every fault of unpacking what `inspectArchive` has passed, without writing; a manifest may be missing.
 * @throws DocshelfError what `extractArchive` throws; `bad_manifest`, `manifest_mismatch`
 */
export async function verifyArchive(
  file: string,
  listing: ArchiveListing,
  options: InspectOptions,
): Promise<{ readonly files: ExtractedFiles; readonly manifest: ManifestHead | null }> {
  const files = new ExtractedFiles(listing);
  const manifest = new BundleManifest(listing, options.name, options.act);
  await readEntries(file, listing, options, async (_entry, _placement, content, index) => {
    const hash = createHash('sha256');
    for await (const chunk of content) {
      hash.update(chunk);
      if (index === manifest.index) manifest.push(chunk);
    }
    files.add(index, hash.digest('hex'));
  });
  return { files, manifest: manifest.index < 0 ? null : manifest.check(files) };
}

async function makeAllFolders(listing: ArchiveListing, { siteDir, ownDir }: ExtractOptions): Promise<void> {
  await makeFolders(siteDir, foldersOf(listing, 'site'));
  if (listing.ownRoot !== '') await makeFolders(ownDir, foldersOf(listing, 'own'));
}

function* foldersOf(listing: ArchiveListing, place: 'site' | 'own'): Generator<string> {
  for (const entry of listing.entries) {
    const placement = placeOf(entry, listing);
    if (placement?.place === place) yield entry.kind === 'folder' ? placement.path : dirname(placement.path);
  }
}
