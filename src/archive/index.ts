/** Inspects a whole archive, then unpacks it. docshelf writes no file before the whole listing has passed every rule. */
import { createHash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { counted } from '../domain/text.ts';
import { ArchiveFile, type OpenOptions } from './archive-file.ts';
import { isSkippableMagic, isZeros, ZSTD_MAGIC } from './compression.ts';
import { type ArchiveEntry, isByProduct, type Placement, placeOf } from './layout.ts';
import { type ArchiveFormat, type ArchiveListing, ExtractedFiles, ListingBuilder } from './listing.ts';
import { BundleManifest, checkManifestSize } from './manifest.ts';
import { type Refuse, refusalsOf } from './rules.ts';
import { isTarHeader, readTar, TAR_BLOCK_BYTES, walkTar } from './tar.ts';
import { FileWriter, type FindSame, makeFolders } from './write-files.ts';
import { guardZip, readZip, ZipDirectory, type ZipRecord } from './zip/guard.ts';

export { type ArchiveEntry, isByProduct, NAMED_MAX } from './layout.ts';
export { type ArchiveListing, type ExtractedFile, ExtractedFiles } from './listing.ts';
export { BundleManifest } from './manifest.ts';
export { type SignedFacts, signedComment, signFile, verifyFile } from './minisign.ts';
export type { FindSame } from './write-files.ts';

interface InspectOptions extends OpenOptions {
  readonly foldsCase: boolean;
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

interface ExtractOptions extends InspectOptions {
  /** Folder for the files of the site, created if missing. Must be empty. */
  readonly siteDir: string;
  /** Folder for the files of `_docshelf/`, created if the archive has any. Must be empty. */
  readonly ownDir: string;
  readonly findSame?: FindSame;
}

/** Checks an archive without writing any file. @throws DocshelfError with a code of `ARCHIVE_RULES`, `bad_manifest` or `cannot_read` */
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
  // Verify the content before reporting missing pages. If the archive is hostile or damaged, the error then names this cause.
  await verifyArchive(file, listed, options);
  throw archive.refuse('no_pages', 'it contains no HTML page');
}

/**
 * Unpacks the files without flushing them to disk. After an error, the caller must remove `siteDir` and `ownDir`.
 * @throws DocshelfError `wrong_crc`, `wrong_size`
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
  await makeFolders(options.siteDir, foldersOf(listing, 'site'));
  if (listing.ownRoot !== '') await makeFolders(options.ownDir, foldersOf(listing, 'own'));
  await readEntries(file, listing, options, async ({ name, size }, placement, content, index) => {
    const dir = placement.place === 'own' ? options.ownDir : options.siteDir;
    const target = { file: join(dir, placement.path), size, entryName: name };
    await writer.write(target, content, (sha256) => extracted.add(index, sha256));
  });
  await writer.drain();
  return extracted;
}

/**
 * Verifies the content of an archive, and its manifest if present.
 * @throws DocshelfError codes of `extractArchive`, `bad_manifest`, `manifest_mismatch`
 */
export async function verifyArchive(file: string, listing: ArchiveListing, options: InspectOptions) {
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

function* foldersOf(listing: ArchiveListing, place: 'site' | 'own'): Generator<string> {
  for (const entry of listing.entries) {
    const placement = placeOf(entry, listing);
    if (placement?.place === place) yield entry.kind === 'folder' ? placement.path : dirname(placement.path);
  }
}

interface ReadEntriesOptions extends OpenOptions {
  /** Names of the entries to read. docshelf skips other entries of a zip, but reads a tar to its end. */
  readonly only?: ReadonlySet<string>;
  readonly onProgress?: (doneBytes: number, totalBytes: number) => void;
}

type TakeEntry = (
  entry: ArchiveEntry,
  placement: Placement,
  content: AsyncIterable<Buffer>,
  index: number,
) => Promise<void>;

/**
 * Reads a tar to its end, because a part after the last requested entry can be damaged.
 * @throws DocshelfError `wrong_crc`, `wrong_size`, `damaged_archive`
 */
async function readEntries(file: string, listing: ArchiveListing, options: ReadEntriesOptions, take: TakeEntry) {
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

/**
 * Returns the content of site files by path, and omits missing files. The content is null if a file has more than `bytesMax`
 * bytes.
 * @throws DocshelfError codes of `readEntries`
 */
export async function readArchiveFiles(
  file: string,
  listing: ArchiveListing,
  { paths, bytesMax, ...options }: OpenOptions & { readonly paths: readonly string[]; readonly bytesMax: number },
): Promise<ReadonlyMap<string, Uint8Array | null>> {
  const names = new Set<string>();
  for (const entry of listing.entries) {
    const placement = entry.kind === 'file' ? placeOf(entry, listing) : null;
    if (placement?.place === 'site' && paths.includes(placement.path)) names.add(entry.name);
  }
  const found = new Map<string, Uint8Array | null>();
  if (names.size === 0) return found;
  await readEntries(file, listing, { ...options, only: names }, async ({ name, size }, { path }, content) => {
    const isKept = names.has(name) && size <= bytesMax;
    const chunks: Buffer[] = [];
    for await (const chunk of content) if (isKept) chunks.push(Buffer.from(chunk));
    if (names.has(name)) found.set(path, isKept ? Buffer.concat(chunks) : null);
  });
  return found;
}

export function* sitePaths(listing: ArchiveListing): Generator<string> {
  for (const entry of listing.entries) {
    const placement = entry.kind === 'file' ? placeOf(entry, listing) : null;
    if (placement?.place === 'site') yield placement.path;
  }
}

const DETECT_BYTES = TAR_BLOCK_BYTES;

const ANOTHER_FORMAT = 'Unpack the archive, and pack it again as .tar.gz, .tar.zst or .zip.';
const NOT_THE_BUNDLE =
  'Open the link in a browser. Check whether a proxy or a sign-in page responds instead of the server.';

const NO_BYTES =
  'Check the file or link, and the program that wrote the archive. With "docker exec" or "kubectl exec", pass -i.';

const starts = (...bytes: number[]) => Buffer.from(bytes);

const LOOKALIKES: readonly (readonly [looks: string, begins: Buffer | RegExp, next: string])[] = [
  ['an HTML page', /^\uFEFF?\s*<(?:!doctype\s+html|html|head|body|!--)/i, NOT_THE_BUNDLE],
  ['an XML document', /^\uFEFF?\s*<\?xml|^\s*<Error>/i, NOT_THE_BUNDLE],
  ['a JSON document', /^\uFEFF?\s*[{[]/, NOT_THE_BUNDLE],
  ['a Git LFS pointer', /^version https:\/\/git-lfs/, 'Run "git lfs pull" to fetch the file itself.'],
  ['an xz archive', starts(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00), ANOTHER_FORMAT],
  ['a bzip2 archive', /^BZh[1-9]/, ANOTHER_FORMAT],
  ['a 7z archive', starts(0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c), ANOTHER_FORMAT],
  ['a rar archive', /^Rar!/, ANOTHER_FORMAT],
  ['an lz4 archive', starts(0x04, 0x22, 0x4d, 0x18), ANOTHER_FORMAT],
  ['a compress (.Z) archive', starts(0x1f, 0x9d), ANOTHER_FORMAT],
];

function detectFormat(head: Buffer, refuse: Refuse): ArchiveFormat {
  if (head.length === 0) throw refuse('unknown_format', 'it is empty', { next: NO_BYTES });
  if (head.length >= 4) {
    if (head[0] === 0x1f && head[1] === 0x8b) return 'tar.gz';
    const magic = head.readUInt32LE(0);
    if (magic === ZSTD_MAGIC || isSkippableMagic(magic)) return 'tar.zst';
    // A zip begins with `PK` and the type of its first record: a local header, the end record of an empty zip, or the marker of a
    // split zip.
    if (magic === 0x04034b50 || magic === 0x06054b50 || magic === 0x08074b50) return 'zip';
  }
  if (head.length >= TAR_BLOCK_BYTES && (isTarHeader(head) || isZeros(head))) return 'tar';

  const text = head.toString('utf8');
  for (const [looks, begins, next] of LOOKALIKES) {
    const matches = begins instanceof RegExp ? begins.test(text) : head.subarray(0, begins.length).equals(begins);
    if (matches) throw refuse('unknown_format', `it is ${looks}, not a tar, tar.gz, tar.zst or zip archive`, { next });
  }
  throw refuse('unknown_format', 'it is not a tar, tar.gz, tar.zst or zip archive');
}
