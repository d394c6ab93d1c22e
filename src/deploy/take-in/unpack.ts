import { mkdir, readFile, statfs } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type ArchiveListing,
  type BundleManifest,
  checkManifest,
  type ExtractedFile,
  extractArchive,
  inspectArchive,
  parseManifest,
  verifyArchive,
} from '../../archive/index.ts';
import { DocshelfError } from '../../domain/errors.ts';
import type { ArchiveLimits } from '../../domain/limits.ts';
import { type FileEntry, isPage, MANIFEST_PATH, OWN_FOLDER, type TrailingSlash } from '../../domain/release.ts';
import { readBeginning, readFileTable, writeFileTable } from '../../files/index.ts';
import {
  CHARSET_HEAD_BYTES,
  findLinks,
  mediaTypeOfFile,
  namesItsCharset,
  TrailingSlashVotes,
} from '../../web/index.ts';
import { BasePathVotes } from '../../web/mount/base-path-votes.ts';

export interface UnpackOrder {
  readonly archive: string;
  readonly name: string;
  /** Empty, in staging: gets `site/`, `_docshelf/` and its file table. */
  readonly releaseDir: string;
  readonly limits: ArchiveLimits;
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

const NO_BYTES = Buffer.alloc(0);
const NO_FILES: { readonly files: readonly ExtractedFile[] } = { files: [] };

/** A file system block: the least that a file takes. */
const BLOCK_BYTES = 4096;

/**
 * Unpacks after the whole listing was judged. What was written on a fault is the caller's to remove.
 * @throws DocshelfError an archive code, `not_enough_space`, `bad_manifest`, `manifest_mismatch`
 */
export async function unpack(order: UnpackOrder, onProgress: UnpackProgress): Promise<UnpackSummary> {
  const { archive, name, limits, foldsCase, releaseDir } = order;
  const options = { name, limits, foldsCase };

  const listing = await inspectArchive(archive, {
    ...options,
    onProgress: (done, total) => onProgress('inspecting', done, total),
  });
  const findSame = await sameIn(order.linkTo);
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

  const manifest = await readManifest(extracted, ownDir, name);
  const siteFiles = extracted.filter((file) => !file.path.startsWith(OWN_FOLDER));
  const { files, ...form } = await describeFiles(siteFiles, siteDir, manifest);
  await writeFileTable(releaseDir, files);

  return {
    archiveBytes: listing.archiveBytes,
    pages: files.filter((file) => isPage(file.path)).length,
    files: files.length,
    bytes: files.reduce((sum, file) => sum + file.size, 0),
    ...form,
    manifest: manifest && { domain: manifest.domain, version: manifest.version, createdAt: manifest.createdAt },
    notes: notesOf(listing),
  };
}

/** 60 MiB of digests and paths; releases after that are not linked to. */
const SAME_MAX = 250_000;

type FindSame = (sha256: string) => string | null;

async function sameIn(releaseDirs: readonly string[]): Promise<FindSame> {
  const files = new Map<string, string>();
  for (const releaseDir of releaseDirs) {
    const table = await readFileTable(releaseDir).catch(() => null);
    if (table === null || files.size + table.size > SAME_MAX) continue;
    for (const { path, sha256 } of table.values()) files.set(sha256, join(releaseDir, 'site', path));
  }
  return (sha256) => files.get(sha256) ?? null;
}

/** A listing has no digests: only where all files would be too much, the archive is read for those that will be links. */
async function checkFreeSpace(listing: ArchiveListing, order: UnpackOrder, findSame: FindSame): Promise<void> {
  const { archive, name, releaseDir, limits, foldsCase, isIndexed, linkTo } = order;
  const { bavail, bsize } = await statfs(releaseDir);
  const freeBytes = bavail * bsize;
  const allBytes = bytesNeeded(listing, isIndexed);
  if (allBytes <= freeBytes) return;
  const { files } = linkTo.length > 0 ? await verifyArchive(archive, listing, { name, limits, foldsCase }) : NO_FILES;
  const neededBytes = allBytes - linkedBytes(files, findSame);
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

/**
 * The files; with search also the index, 1.3 times the bytes of the pages, what was read of them, .5 times, and the vectors of their
 * text, .3 times (PostgreSQL's manual, measured), or those that the bundle carries.
 */
export function bytesNeeded(
  { entries, totalBytes }: Pick<ArchiveListing, 'entries' | 'totalBytes'>,
  isIndexed: boolean,
): number {
  const files = totalBytes + entries.length * BLOCK_BYTES;
  if (!isIndexed) return files;
  const sum = (isCounted: (name: string) => boolean): number =>
    entries.reduce((bytes, { name, size }) => bytes + (isCounted(name) ? size : 0), 0);
  const carried = `${OWN_FOLDER}search/vectors-`;
  return Math.ceil(files + INDEX_PART * sum(isPage) + sum((name) => name.includes(carried)));
}

/** Of files that another release has, but for one: a large one is written before it becomes a link. */
export function linkedBytes(files: readonly ExtractedFile[], findSame: FindSame): number {
  const linked = files.filter(({ sha256, size }) => size > 0 && findSame(sha256) !== null);
  const bytes = linked.map(({ size }) => size + BLOCK_BYTES);
  return bytes.reduce((sum, each) => sum + each, 0) - bytes.reduce((most, each) => Math.max(most, each), 0);
}

const INDEX_PART = 2.1;

const toMiB = (bytes: number): number => Math.ceil(bytes / 1024 ** 2);

async function readManifest(
  extracted: readonly ExtractedFile[],
  ownDir: string,
  name: string,
): Promise<BundleManifest | null> {
  if (!extracted.some((file) => file.path === MANIFEST_PATH)) return null;
  const bytes = await readFile(join(ownDir, MANIFEST_PATH.slice(OWN_FOLDER.length)));
  const manifest = parseManifest(bytes, name);
  checkManifest(manifest, extracted, name);
  return manifest;
}

/** One pass over the pages: types and the votes on addresses need their text. */
async function describeFiles(
  extracted: readonly ExtractedFile[],
  siteDir: string,
  manifest: BundleManifest | null,
): Promise<{ files: FileEntry[]; trailingSlash: TrailingSlash; builtFor: string }> {
  const declaredTypes = new Map(manifest?.files.map((file) => [file.path, file.type]));
  const table = new Set(extracted.map((file) => file.path));
  const slashes = new TrailingSlashVotes(table);
  const basePaths = new BasePathVotes(table);
  const files: FileEntry[] = [];
  for (const file of extracted) {
    const path = join(siteDir, file.path);
    let type = declaredTypes.get(file.path);
    if (isPage(file.path)) {
      const bytes = await readFile(path);
      type ??= mediaTypeOfFile(file.path, bytes);
      // Links are ASCII in every encoding of the web but UTF-16.
      const references = findLinks(bytes.toString('latin1'));
      slashes.addReferences(file.path, references);
      basePaths.addReferences(references);
    }
    type ??= mediaTypeOfFile(
      file.path,
      namesItsCharset(file.path) ? await readBeginning(path, CHARSET_HEAD_BYTES) : NO_BYTES,
    );
    files.push({ path: file.path, size: file.size, sha256: file.sha256, type });
  }
  files.sort((a, b) => (a.path < b.path ? -1 : 1));
  const builtFor = basePaths.decide();
  // Its links say nothing before it is known below which path they lie.
  const trailingSlash = builtFor === '/' ? slashes.decide() : await slashesBelow(builtFor, siteDir, table);
  return { files, trailingSlash, builtFor };
}

async function slashesBelow(basePath: string, siteDir: string, paths: ReadonlySet<string>): Promise<TrailingSlash> {
  const votes = new TrailingSlashVotes(paths, basePath);
  for (const path of paths) {
    if (isPage(path)) votes.addPage(path, await readFile(join(siteDir, path), 'latin1'));
  }
  return votes.decide();
}

function notesOf(listing: ArchiveListing): string[] {
  const notes: string[] = [];
  const [conflict] = listing.caseConflicts;
  if (conflict !== undefined) {
    const more = listing.caseConflicts.length - 1;
    notes.push(
      `Names that differ only by case: "${conflict[0]}" and "${conflict[1]}"${more > 0 ? ` and ${more} more pairs` : ''}; a data folder on a volume that folds case would refuse them.`,
    );
  }
  if (listing.launchers.length > 0)
    notes.push(`Left out as launchers, not part of the site: ${listing.launchers.join(', ')}.`);
  return notes;
}
