import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { extractArchive, inspectArchive } from '../../archive/index.ts';
import { layoutOf, placeOf } from '../../archive/layout.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { badSource, type SiteSink, type SiteSource } from '../../domain/job.ts';
import type { ArchiveLimits } from '../../domain/limits.ts';
import { isPage } from '../../domain/release.ts';
import { Lanes } from '../../files/lanes.ts';
import { percentDecode } from '../../web/escape.ts';
import { fileAt } from '../../web/resolve.ts';
import { type FoundFile, leftOut, OWN, statSource, walkFolder } from './walk-folder.ts';

type FolderSourceOptions = { readonly path: string; readonly workDir: string; readonly limits: ArchiveLimits };

const IN_FLIGHT_MAX = 16;
const LAUNCHER = 'it only opens the bundle without docshelf, and is not part of the site';

/** Collects a built site, byte for byte. Omits a folder that wraps the whole site, and launchers such as `serve.js`. */
export async function collectFolder(
  options: FolderSourceOptions,
  ...[request, sink, signal]: Parameters<SiteSource>
): Promise<void> {
  signal.throwIfAborted();
  const { path, limits } = options;
  const unpacked = await openFolder(options, sink, signal);
  const found = await walkFolder(unpacked.dir, limits, signal);
  for (const finding of found.leftOut) sink.find(finding);

  const site = siteOf(found.files, sink);
  const files = request.paths === null ? site : limitTo(request.paths, site, path, sink);
  if (!files.some((file) => isPage(file.path))) {
    const next = 'Set path or output of the source to the folder of the built site, not to its sources.';
    throw badSource(path, 'it contains no HTML page', next);
  }
  await give(files, sink, unpacked.bytes, signal);
}

async function openFolder(options: FolderSourceOptions, sink: SiteSink, signal: AbortSignal) {
  const { path } = options;
  const next = 'Set the path of the source to the folder of the built site, readable for docshelf.';
  const info = await statSource(path, next);
  if (info.isDirectory()) return { dir: path, bytes: 0 };
  if (info.isFile()) return unpackArchive(options, sink, signal);
  const either = 'Set the path of the source to the folder of the built site, or to an archive of it.';
  throw badSource(path, 'it is neither a folder nor a file', either);
}

/** Selects the files that an import of the bundle would accept, so that the bundle and its manifest list the same files. */
function siteOf(found: readonly FoundFile[], sink: SiteSink): readonly FoundFile[] {
  const entries = found.map((file) => ({ ...file, name: file.path, kind: 'file' as const }));
  const layout = layoutOf(entries);
  for (const page of layout.launchers) sink.find(leftOut(page, LAUNCHER));
  return entries.flatMap((entry) => {
    const placed = placeOf(entry, layout);
    return placed === null ? [] : [{ path: placed.path, file: entry.file, size: entry.size }];
  });
}

async function give(files: readonly FoundFile[], sink: SiteSink, unpackedBytes: number, signal: AbortSignal) {
  const totalBytes = unpackedBytes + files.reduce((sum, { size }) => sum + size, 0);
  let doneBytes = unpackedBytes;
  await using lanes = new Lanes(IN_FLIGHT_MAX);
  for (const { path, file, size } of files) {
    await lanes.run(async () => {
      signal.throwIfAborted();
      await addFile(sink, path, file);
      doneBytes += size;
      sink.progress(doneBytes, totalBytes);
    });
  }
  await lanes.drain();
}

async function addFile(sink: SiteSink, path: string, file: string): Promise<void> {
  try {
    await sink.add(path, { file });
  } catch (error) {
    if (!(error instanceof DocshelfError) || error.code !== 'cannot_read') throw error;
    const next =
      'Make the file readable for the user that docshelf runs as, and do not rebuild the site during the export.';
    throw badSource(file, 'it cannot be read', next, error);
  }
}

const NOT_FOUND_PAGE = /(?:^|\/)404(?:\/index)?\.x?html?$/i;

const OWN_ORIGIN = 'http://site.invalid';

/** Selects pages by paths such as `/guides/start`, `guides/start.html` or `/guides/`. Keeps 404 pages, and files that are not pages. */
function limitTo(paths: readonly string[], site: readonly FoundFile[], source: string, sink: SiteSink) {
  const table = new Set(site.map(({ path }) => path));
  const wanted = new Set<string>();
  for (const path of paths) {
    const address = decodedPath(path);
    const file = address === null ? null : fileAt(table, address, 'never');
    if (file !== null && isPage(file)) wanted.add(file);
    else if (file === null)
      sink.find({ kind: 'path_not_found', page: path, detail: 'no page of the site has this path' });
  }
  if (wanted.size === 0) {
    const next = 'Use paths as readers see them, such as /guides/start.';
    throw badSource(source, 'no requested path has a page', next);
  }
  return site.filter(({ path }) => !isPage(path) || wanted.has(path) || NOT_FOUND_PAGE.test(path));
}

function decodedPath(path: string): string | null {
  const url = URL.parse(path.startsWith('/') ? path : `/${path}`, OWN_ORIGIN);
  return url === null || url.origin !== OWN_ORIGIN ? null : (percentDecode(url.pathname)?.slice(1) ?? null);
}

/** @throws DocshelfError `bad_source` if the archive is unreadable or has no page; a code of `ARCHIVE_RULES` if it breaks a rule */
async function unpackArchive(
  { path: file, workDir, limits }: FolderSourceOptions,
  sink: SiteSink,
  signal: AbortSignal,
): Promise<{ readonly dir: string; readonly bytes: number }> {
  const options = { name: basename(file), limits, foldsCase: false, signal };
  let bytes = 0;
  const onProgress = (done: number, total: number): void => {
    bytes = total;
    sink.progress(done, 2 * total);
  };
  const listing = await inspectArchive(file, options).catch((error: unknown) => {
    throw asBadSource(file, error);
  });
  const dir = join(workDir, 'site');
  const ownDir = join(workDir, 'own');
  await mkdir(workDir, { recursive: true });
  await extractArchive(file, listing, { ...options, siteDir: dir, ownDir, onProgress });
  for (const name of listing.launchers) sink.find(leftOut(name, LAUNCHER));
  if (listing.ownRoot !== '') sink.find(leftOut(listing.ownRoot, OWN));
  return { dir, bytes };
}

/** Reports `no_pages` and `cannot_read` as `bad_source`, with advice on the configured source. */
function asBadSource(file: string, error: unknown): unknown {
  if (!(error instanceof DocshelfError)) return error;
  if (error.code === 'no_pages')
    return badSource(file, 'it contains no HTML page', 'Pack the built site, not its sources.', error);
  if (error.code === 'cannot_read')
    return badSource(file, 'it cannot be read', 'Make the archive readable for the user that docshelf runs as.', error);
  return error;
}
