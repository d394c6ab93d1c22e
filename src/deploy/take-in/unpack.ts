import { createReadStream } from 'node:fs';
import { mkdir, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ArchiveListing,
  BundleManifest,
  type ExtractedFiles,
  extractArchive,
  type FindSame,
  inspectArchive,
  type ManifestHead,
  NAMED_MAX,
  verifyArchive,
} from '../../archive/index.ts';
import { DocshelfError } from '../../domain/errors.ts';
import type { ArchiveLimits } from '../../domain/limits.ts';
import { type FileEntry, isPage, MANIFEST_PATH, OWN_FOLDER, type TrailingSlash } from '../../domain/release.ts';
import { StoredDigests, writeFileTable } from '../../files/index.ts';
import { bytesNeeded, linkedBytes } from './bytes-needed.ts';
import { describeFiles } from './describe-files.ts';

export interface UnpackOrder {
  readonly archive: string;
  readonly name: string;
  /** Empty, in staging: gets `site/`, `_docshelf/` and its file table. */
  readonly releaseDir: string;
  readonly limits: ArchiveLimits;
  /** True if a digest or signature has shown that the archive is complete. */
  readonly isVerified?: boolean;
  readonly foldsCase: boolean;
  /** True where search makes an index of it. */
  readonly isIndexed: boolean;
  /** Folders of complete releases: files of the same bytes become links to theirs. */
  readonly linkTo: readonly string[];
}

export interface UnpackSummary {
  readonly archiveBytes: number;
  readonly pages: number;
  readonly files: number;
  readonly bytes: number;
  readonly trailingSlash: TrailingSlash;
  /** Base path that the pages were built for, with its last slash. */
  readonly builtFor: string;
  readonly manifest: {
    readonly domain: string | null;
    readonly version: string | null;
    readonly createdAt: string;
  } | null;
  readonly notes: readonly string[];
}

export type UnpackPhase = 'inspecting' | 'unpacking';
export type UnpackProgress = (phase: UnpackPhase, doneBytes: number, totalBytes: number) => void;

/**
 * Unpacks after the whole listing was judged. What was written on a fault is the caller's to remove.
 * @throws DocshelfError an archive code, `not_enough_space`, `bad_manifest`, `manifest_mismatch`
 */
export async function unpack(order: UnpackOrder, onProgress: UnpackProgress): Promise<UnpackSummary> {
  const { archive, name, limits, isVerified = false, foldsCase, releaseDir } = order;
  const options = { name, limits, isVerified, foldsCase };

  const listing = await inspectArchive(archive, {
    ...options,
    onProgress: (done, total) => onProgress('inspecting', done, total),
  });
  using stored = new StoredDigests(order.linkTo);
  const findSame: FindSame = (sha256) => stored.find(sha256);
  await checkFreeSpace(listing, order, findSame);

  const siteDir = join(releaseDir, 'site');
  const ownDir = join(releaseDir, OWN_FOLDER);
  await mkdir(siteDir);
  await mkdir(ownDir);
  const extracted = await extractArchive(archive, listing, {
    ...options,
    siteDir,
    ownDir,
    findSame,
    onProgress: (done, total) => onProgress('unpacking', done, total),
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

/** A listing has no digests: only where all files would be too much, the archive is read for those that will be links. */
async function checkFreeSpace(listing: ArchiveListing, order: UnpackOrder, findSame: FindSame): Promise<void> {
  const { archive, name, releaseDir, limits, isVerified = false, foldsCase, isIndexed, linkTo } = order;
  const { bavail, bsize } = await statfs(releaseDir);
  const freeBytes = bavail * bsize;
  const allBytes = bytesNeeded(listing, isIndexed);
  if (allBytes <= freeBytes) return;
  const read = async () => (await verifyArchive(archive, listing, { name, limits, isVerified, foldsCase })).files;
  const neededBytes = allBytes - linkedBytes(linkTo.length > 0 ? await read() : [], findSame);
  if (neededBytes <= freeBytes) return;
  throw new DocshelfError(
    'not_enough_space',
    `Cannot unpack "${name}": it needs ${toMiB(neededBytes)} MiB and the data folder has ${toMiB(freeBytes)} MiB free`,
    {
      next: 'Free space on the volume of storage.dir, lower staticExport.keep, or give it a larger volume.',
      fields: { neededBytes, freeBytes },
    },
  );
}

const toMiB = (bytes: number): number => Math.ceil(bytes / 1024 ** 2);

async function readManifest(
  manifest: BundleManifest,
  extracted: ExtractedFiles,
  ownDir: string,
): Promise<ManifestHead | null> {
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
      `Names that differ only by case: "${conflict[0]}" and "${conflict[1]}"${more > 0 ? ` and ${count} more pairs` : ''}; a data folder on a volume that folds case would refuse them.`,
    );
  }
  if (listing.launchers.length > 0)
    notes.push(`Left out as launchers, not part of the site: ${listing.launchers.join(', ')}.`);
  return notes;
}
