import { createHash, hash } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileEntry, isPage, type TrailingSlash } from '../../domain/release.ts';
import { unlessAborted } from '../../files/lanes.ts';
import { TrailingSlashVotes } from '../../web/trailing-slash.ts';
import { fingerprintIn } from '../fingerprint.ts';
import { readSections, type SiteSections } from '../indexing/read-sections.ts';
import type { Embedder, EmbedProgress, KnownModel, ModelChoice } from '../ports.ts';
import { embedRelease, type PassageText, passageText } from '../semantic/embed-release.ts';
import { sweepVectors } from '../semantic/vector-cache.ts';
import { VectorTable } from '../semantic/vector-table.ts';
import { BundleVectorWriter } from './bundle-vectors.ts';

export interface BundleSearchRequest {
  readonly siteDir: string;
  readonly files: readonly FileEntry[];
  readonly into: string;
  readonly cacheDir: string;
  readonly model: ModelChoice;
  readonly vectorsWithinMs: number;
  readonly lanesMax: number;
}

const USE_PREFIX = 'export-';
/** Maximum exports whose vectors stay in the cache. An export with 20,000 passages takes 8 MB. */
const USES_KEPT_MAX = 50;

/**
 * Computes the vectors at export, so that the daemon that imports the bundle need not. Returns false if the time runs out.
 * @throws DocshelfError `model_invalid`, `embedder_failed`; the signal's reason if it aborts
 */
export async function makeBundleSearch(
  request: BundleSearchRequest,
  model: KnownModel,
  onProgress: (progress: EmbedProgress) => void,
  signal: AbortSignal,
): Promise<boolean> {
  const late = AbortSignal.timeout(request.vectorsWithinMs);
  using sections = await unlessAborted(sectionsOf(request), signal);
  const embedder = await model.load();
  const file = join(request.into, '.vectors.bin');
  try {
    if (!(await embed(request, sections, embedder, file, onProgress, signal, late))) return false;
    writeVectors(request.into, file, embedder, passageTexts(sections, embedder));
    return true;
  } finally {
    await rm(file, { force: true });
    await embedder.close?.();
  }
}

function writeVectors(into: string, file: string, embedder: Embedder, passages: Iterable<PassageText>): void {
  const { digest: modelDigest, dims } = embedder;
  const table = VectorTable.open(file, modelDigest);
  if (table === null) throw new Error('the vectors of the export are not where they were written');
  try {
    const writer = new BundleVectorWriter(into, { modelDigest, dims });
    const seen = new Set<string>();
    let row = -1;
    for (const { text } of passages) {
      row += 1;
      if (row === table.count) break;
      const key = hash('sha256', text, 'buffer');
      const print = fingerprintIn(key);
      if (seen.has(print)) continue;
      seen.add(print);
      const vector = table.get(row);
      if (vector !== null) writer.add({ key, vector });
    }
    writer.finish();
  } finally {
    table.close();
  }
}

async function sectionsOf({ siteDir, files, into }: BundleSearchRequest): Promise<SiteSections> {
  const inOrder = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const byPath = new Map(inOrder.map((entry) => [entry.path, entry]));
  const trailingSlash = await trailingSlashOf(siteDir, byPath);
  return readSections({ siteDir, files: byPath, trailingSlash }, join(into, '.sections'));
}

async function trailingSlashOf(siteDir: string, files: ReadonlyMap<string, FileEntry>): Promise<TrailingSlash> {
  const votes = new TrailingSlashVotes(files);
  for (const path of files.keys()) {
    if (isPage(path)) votes.addPage(path, await readFile(join(siteDir, path), 'latin1'));
  }
  return votes.decide();
}

async function embed(
  { files, cacheDir, lanesMax }: BundleSearchRequest,
  sections: SiteSections,
  embedder: Embedder,
  file: string,
  onProgress: (progress: EmbedProgress) => void,
  signal: AbortSignal,
  late: AbortSignal,
): Promise<boolean> {
  try {
    await embedRelease({
      passages: () => passageTexts(sections, embedder),
      ...{ embedder, release: USE_PREFIX + digestOf(files), cacheDir, file, onProgress },
      lanes: lanesMax,
      signal: AbortSignal.any([signal, late]),
    });
  } catch (error) {
    signal.throwIfAborted();
    if (!late.aborted) throw error;
    return false;
  }
  await sweepCache(join(cacheDir, embedder.digest), embedder.dims).catch(() => undefined);
  return true;
}

function* passageTexts(sections: SiteSections, embedder: Embedder): Generator<PassageText> {
  let number = 0;
  for (const { section, passages } of sections.all()) {
    if (embedder.reads(section.language))
      for (const passage of passages) yield { section: number, text: passageText(section, passage) };
    number += 1;
  }
}

async function sweepCache(folder: string, dims: number): Promise<void> {
  const uses = join(folder, 'uses');
  const names = await readdir(uses);
  const exported = names.filter((name) => name.startsWith(USE_PREFIX));
  const timeOf = async (name: string) => ({ name, ms: (await stat(join(uses, name))).mtimeMs });
  const newestFirst = (await Promise.all(exported.map(timeOf))).sort((a, b) => b.ms - a.ms);
  const gone = new Set(newestFirst.slice(USES_KEPT_MAX).map(({ name }) => name));
  // Each file in `uses` lists the vectors of a release. Remove only old lists of exports, because the releases of other lists may
  // still exist.
  await sweepVectors(folder, dims, new Set(names.filter((name) => !gone.has(name))), Date.now());
}

function digestOf(files: readonly FileEntry[]): string {
  const hash = createHash('sha256');
  for (const { path, sha256 } of files) if (isPage(path)) hash.update(`${sha256} ${path}\n`);
  return hash.digest('hex');
}
