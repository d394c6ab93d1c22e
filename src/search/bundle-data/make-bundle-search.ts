import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileEntry, isPage, type TrailingSlash } from '../../domain/release.ts';
import { unlessAborted } from '../../files/lanes.ts';
import { yieldToReaders } from '../../threads/index.ts';
import { TrailingSlashVotes } from '../../web/index.ts';
import { readSections } from '../indexing/read-sections.ts';
import type { SiteSections } from '../indexing/site-sections.ts';
import type { BundleSearchFacts, BundleSearchOrder } from '../orders.ts';
import type { Embedder, EmbedProgress } from '../ports.ts';
import { embedRelease, type PassageText, passageText } from '../semantic/embed-release.ts';
import { sweepVectors } from '../semantic/sweep-vectors.ts';
import { ROWS_MAX, VectorTable } from '../semantic/vector-table.ts';
import { type CarriedSection, SECTIONS_MAX } from './bundle-format.ts';
import { BundleSearchWriter } from './write-bundle-search.ts';

interface LoadableModel {
  readonly digest: string;
  readonly load: () => Promise<Embedder>;
}

/** Of exports' lists of the vectors that they use. */
const USE_PREFIX = 'export-';
/** The newest are kept: each is of one state of one site, and 20,000 passages take 8 MB. */
const USES_KEPT_MAX = 50;

/**
 * The sections, passages and vectors that the deployment side would make; the same site gives the same bytes. An
 * interrupted export goes on from the cache. Memory: 60 bytes a section, as many a passage with vectors.
 * @throws DocshelfError `model_invalid`, `embedder_failed`, `bad_search_data` over the format's bounds; the signal's reason
 */
export async function makeBundleSearch(
  order: BundleSearchOrder,
  model: LoadableModel | null,
  onProgress: (progress: EmbedProgress) => void,
  signal: AbortSignal,
): Promise<BundleSearchFacts> {
  yieldToReaders();
  const late = AbortSignal.timeout(order.vectorsWithinMs);
  using sections = await unlessAborted(sectionsOf(order), signal);
  const embedder = (await model?.load()) ?? null;
  const file = join(order.into, '.vectors.bin');
  try {
    const pageBytes = order.files.reduce((sum, { path, size }) => sum + (isPage(path) ? size : 0), 0);
    const writer = new BundleSearchWriter(order.into, pageBytes);
    const passages = writer.writeSections(unlessStopped(carriedSections(sections, embedder), signal));
    // What a table cannot hold is not begun.
    const mayEmbed = embedder !== null && passages <= ROWS_MAX;
    const isEmbedded = mayEmbed && (await embed(order, sections, embedder, file, onProgress, signal, late));
    const vectors = isEmbedded ? tableOf(file, embedder) : null;
    try {
      writer.finish(vectors);
    } finally {
      vectors?.table.close();
    }
    return { sections: sections.count, vectors: vectors?.table.count ?? null };
  } finally {
    await rm(file, { force: true });
    await embedder?.close?.();
  }
}

async function sectionsOf({ siteDir, files, into }: BundleSearchOrder): Promise<SiteSections> {
  const inOrder = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const byPath = new Map(inOrder.map((entry) => [entry.path, entry]));
  const trailingSlash = await trailingSlashOf(siteDir, byPath);
  return readSections({ siteDir, files: byPath, trailingSlash }, join(into, '.sections'), {
    sectionsMax: SECTIONS_MAX,
  });
}

function* carriedSections(sections: SiteSections, embedder: Embedder | null): Generator<CarriedSection> {
  for (const { section, passages } of sections.all()) {
    yield { section, prior: section.prior ?? 0, passages, embedded: embedder !== null && isRead(section, embedder) };
  }
}

function isRead({ language }: { readonly language: string | null }, embedder: Embedder): boolean {
  return language === null || embedder.reads(language);
}

function* unlessStopped<Item>(items: Iterable<Item>, signal: AbortSignal): Generator<Item> {
  for (const item of items) {
    signal.throwIfAborted();
    yield item;
  }
}

/** As decided when the bundle is unpacked: the paths of sections depend on it. */
async function trailingSlashOf(siteDir: string, files: ReadonlyMap<string, FileEntry>): Promise<TrailingSlash> {
  const votes = new TrailingSlashVotes(files);
  for (const path of files.keys()) {
    if (isPage(path)) votes.addPage(path, await readFile(join(siteDir, path), 'latin1'));
  }
  return votes.decide();
}

/** False where it is too late: vectors that were made are in the cache. */
async function embed(
  { files, cacheDir, lanesMax }: BundleSearchOrder,
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
      lanes: () => lanesMax,
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

function tableOf(file: string, { digest, dims }: Embedder) {
  const table = VectorTable.open(file, digest);
  if (table === null) throw new Error('the table of vectors is gone');
  const all = (function* () {
    for (const [, vector] of table.rows()) yield vector;
  })();
  return { table, modelDigest: digest, dims, all };
}

function* passageTexts(sections: SiteSections, embedder: Embedder): Generator<PassageText> {
  let number = 0;
  for (const { section, passages } of sections.all()) {
    if (isRead(section, embedder))
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
  // Lists of releases are not ours to judge.
  await sweepVectors(folder, dims, new Set(names.filter((name) => !gone.has(name))), Date.now());
}

function digestOf(files: readonly FileEntry[]): string {
  const hash = createHash('sha256');
  for (const { path, sha256 } of files) if (isPage(path)) hash.update(`${sha256} ${path}\n`);
  return hash.digest('hex');
}
