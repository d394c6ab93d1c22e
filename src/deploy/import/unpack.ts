import { createReadStream, readFileSync } from 'node:fs';
import { mkdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ArchiveEntry,
  type ArchiveListing,
  BundleManifest,
  type ExtractedFile,
  type ExtractedFiles,
  extractArchive,
  type FindSame,
  inspectArchive,
  NAMED_MAX,
  verifyArchive,
} from '../../archive/index.ts';
import { DocshelfError } from '../../domain/errors.ts';
import type { ArchiveLimits } from '../../domain/limits.ts';
import {
  type FileEntry,
  isPage,
  MANIFEST_PATH,
  OWN_FOLDER,
  type ReleaseInfo,
  type TrailingSlash,
} from '../../domain/release.ts';
import { readBeginning, storedDigests, writeFileTable } from '../../files/index.ts';
import { CHARSET_HEAD_BYTES, mediaTypeOfFile, namesItsCharset } from '../../web/media-type.ts';
import { BasePathVotes } from '../../web/mount/base-path.ts';
import { findLinks } from '../../web/references.ts';
import { TrailingSlashVotes } from '../../web/trailing-slash.ts';

export interface UnpackRequest {
  readonly archive: string;
  readonly name: string;
  /** Staging folder without files, which receives `site/`, `_docshelf/` and the file table. */
  readonly releaseDir: string;
  readonly limits: ArchiveLimits;
  /** True if the SHA-256 or the signature of the archive was checked. */
  readonly isVerified: boolean;
  readonly foldsCase: boolean;
  readonly isIndexed: boolean;
  /** Folders of complete releases. If one of them contains an equal file, the extracted file becomes a hard link. */
  readonly linkTo: readonly string[];
}

export interface UnpackSummary
  extends Pick<ReleaseInfo, 'archiveBytes' | 'pages' | 'files' | 'bytes' | 'trailingSlash' | 'notes'> {
  readonly builtFor: string;
  readonly manifest: (NonNullable<ReleaseInfo['manifest']> & { readonly createdAt: string }) | null;
}

export interface UnpackProgress {
  readonly phase: 'inspecting' | 'unpacking';
  readonly doneBytes: number;
  readonly totalBytes: number;
}

/**
 * Unpacks an archive. Checks all entries of the archive before it writes the first file.
 * @throws DocshelfError archive codes, `not_enough_space`, `bad_manifest`
 */
export async function unpack(
  request: UnpackRequest,
  onProgress: (progress: UnpackProgress) => void,
): Promise<UnpackSummary> {
  const { archive, name, releaseDir } = request;

  const listing = await inspectArchive(archive, {
    ...request,
    onProgress: (doneBytes, totalBytes) => onProgress({ phase: 'inspecting', doneBytes, totalBytes }),
  });
  const stored = await storedDigests(request.linkTo);
  const findSame: FindSame = (sha256) => stored.get(sha256) ?? null;
  await checkFreeSpace(listing, request, findSame);

  const siteDir = join(releaseDir, 'site');
  const ownDir = join(releaseDir, OWN_FOLDER);
  await mkdir(siteDir);
  await mkdir(ownDir);
  const extracted = await extractArchive(archive, listing, {
    ...request,
    siteDir,
    ownDir,
    findSame,
    onProgress: (doneBytes, totalBytes) => onProgress({ phase: 'unpacking', doneBytes, totalBytes }),
  });

  const bundleManifest = new BundleManifest(listing, name);
  const manifest = await readManifest(bundleManifest, extracted, ownDir);
  const { files, ...form } = await describeFiles(extracted, siteDir, bundleManifest);
  await writeFileTable(releaseDir, files);

  return {
    archiveBytes: listing.archiveBytes,
    ...sumsOf(files),
    ...form,
    manifest: manifest && { domain: manifest.domain, version: manifest.version, createdAt: manifest.createdAt },
    notes: notesOf(listing),
  };
}

function sumsOf(entries: Iterable<FileEntry>): Pick<UnpackSummary, 'pages' | 'files' | 'bytes'> {
  const sums = { pages: 0, files: 0, bytes: 0 };
  for (const { path, size } of entries) {
    sums.pages += Number(isPage(path));
    sums.files += 1;
    sums.bytes += size;
  }
  return sums;
}

/**
 * Checks that the disk has enough space. If not, reads the whole archive to find files that can become hard links, because an
 * archive's listing has no digests.
 */
async function checkFreeSpace(listing: ArchiveListing, request: UnpackRequest, findSame: FindSame): Promise<void> {
  const { archive, name, releaseDir, isIndexed, linkTo } = request;
  const { bavail, bsize } = await statfs(releaseDir);
  const freeBytes = bavail * bsize;
  const allBytes = bytesNeeded(listing, isIndexed);
  if (allBytes <= freeBytes) return;
  const files = linkTo.length > 0 ? (await verifyArchive(archive, listing, request)).files : [];
  const neededBytes = allBytes - linkedBytes(files, findSame);
  if (neededBytes <= freeBytes) return;
  throw new DocshelfError(
    'not_enough_space',
    `Cannot unpack "${name}": it needs ${toMiB(neededBytes)} MiB and the data folder has ${toMiB(freeBytes)} MiB free`,
    {
      next: 'Free space on the volume of storage.dir, enlarge the volume, or lower staticExport.keep.',
      fields: { neededBytes, freeBytes },
    },
  );
}

const toMiB = (bytes: number): number => Math.ceil(bytes / 1024 ** 2);

async function readManifest(manifest: BundleManifest, extracted: ExtractedFiles, ownDir: string) {
  if (manifest.index < 0) return null;
  const file = join(ownDir, MANIFEST_PATH.slice(OWN_FOLDER.length));
  for await (const bytes of createReadStream(file)) manifest.push(bytes);
  return manifest.check(extracted);
}

function notesOf(listing: ArchiveListing): string[] {
  const notes: string[] = [];
  const [conflict] = listing.caseConflicts;
  if (conflict !== undefined) {
    const more = listing.caseConflicts.length - 1;
    const count = more + 1 === NAMED_MAX ? 'many' : more;
    notes.push(
      `The names "${conflict[0]}" and "${conflict[1]}"${more > 0 ? `, and ${count} more pairs,` : ''} differ only by case. docshelf rejects this archive if the file system of the data folder ignores case.`,
    );
  }
  if (listing.launchers.length > 0)
    notes.push(
      `docshelf ignored these files, which only open the bundle without docshelf: ${listing.launchers.join(', ')}.`,
    );
  return notes;
}

const BLOCK_BYTES = 4096;
const CARRIED_VECTORS = `${OWN_FOLDER}search/vectors-`;
const INDEX_PART = 2.1;

/** Search adds 2.1 times the bytes of the pages: index 1.3, page texts 0.5, vectors 0.3 (measured with PostgreSQL's manual). */
export function bytesNeeded(
  { entries, totalBytes }: { readonly entries: Iterable<ArchiveEntry>; readonly totalBytes: number },
  isIndexed: boolean,
): number {
  const sums = { entries: 0, pages: 0, vectors: 0 };
  for (const { name, size } of entries) {
    sums.entries += 1;
    if (isPage(name)) sums.pages += size;
    if (name.includes(CARRIED_VECTORS)) sums.vectors += size;
  }
  const files = totalBytes + sums.entries * BLOCK_BYTES;
  return isIndexed ? Math.ceil(files + INDEX_PART * sums.pages + sums.vectors) : files;
}

/**
 * Disk bytes that hard links save. Excludes the largest linked file, because docshelf writes each file to disk before
 * replacing it by a link.
 */
export function linkedBytes(files: Iterable<ExtractedFile>, findSame: FindSame): number {
  let [bytes, most] = [0, 0];
  for (const { sha256, size } of files) {
    if (size === 0 || findSame(sha256) === null) continue;
    bytes += size + BLOCK_BYTES;
    most = Math.max(most, size + BLOCK_BYTES);
  }
  return bytes - most;
}

const NO_BYTES = Buffer.alloc(0);
/** Maximum size of a page whose links docshelf reads to detect base path and trailing slashes. Limits the memory for the links. */
const VOTING_PAGE_BYTES_MAX = 8 * 1024 ** 2;

/**
 * Detects media types, base path and trailing slashes. Reads each page once and synchronously, because libuv's thread pool
 * doubled the time (10,000 pages: 5.6 s, now 2.3 s).
 */
async function describeFiles(extracted: ExtractedFiles, siteDir: string, manifest: BundleManifest) {
  const slashes = new TrailingSlashVotes(extracted);
  const basePaths = new BasePathVotes(extracted);
  const indexes = extracted.indexes().filter((index) => !extracted.at(index).path.startsWith(OWN_FOLDER));
  const types: string[] = [];
  // Share the text of equal types, because a site can have a million files.
  const known = new Map<string, string>();
  for (const index of indexes) {
    const { path, size } = extracted.at(index);
    const file = join(siteDir, path);
    let type = manifest.typeOf(index);
    if (isVoting(path, size)) {
      const bytes = readFileSync(file);
      type ??= mediaTypeOfFile(path, bytes);
      // Decode pages as Latin-1, because links are ASCII in every encoding of the web except UTF-16.
      const references = findLinks(bytes.toString('latin1'));
      slashes.addReferences(path, references);
      basePaths.addReferences(references);
    }
    type ??= mediaTypeOfFile(path, namesItsCharset(path) ? await readBeginning(file, CHARSET_HEAD_BYTES) : NO_BYTES);
    const shared = known.get(type) ?? type;
    known.set(shared, shared);
    types.push(shared);
  }
  const builtFor = basePaths.decide();
  // The counts of trailing slashes assume the base path `/`. For another base path, read the pages again.
  const trailingSlash = builtFor === '/' ? slashes.decide() : slashesBelow(builtFor, siteDir, extracted);
  const files = {
    *[Symbol.iterator](): Generator<FileEntry> {
      for (const [n, index] of indexes.entries()) yield { ...extracted.at(index), type: types[n] as string };
    },
  };
  return { files, trailingSlash, builtFor };
}

const isVoting = (path: string, size: number): boolean => isPage(path) && size <= VOTING_PAGE_BYTES_MAX;

function slashesBelow(basePath: string, siteDir: string, files: ExtractedFiles): TrailingSlash {
  const votes = new TrailingSlashVotes(files, basePath);
  for (const { path, size } of files) {
    if (isVoting(path, size)) votes.addPage(path, readFileSync(join(siteDir, path), 'latin1'));
  }
  return votes.decide();
}
