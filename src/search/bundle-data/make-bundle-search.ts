import { createHash } from 'node:crypto';
import { appendFile, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileEntry, isPage, OWN_FOLDER, type TrailingSlash } from '../../domain/release.ts';
import { unlessAborted } from '../../files/lanes.ts';
import { yieldToReaders } from '../../threads/index.ts';
import { TrailingSlashVotes } from '../../web/index.ts';
import { readSections } from '../indexing/read-pages.ts';
import type { SiteSections } from '../indexing/site-sections.ts';
import type { BundleSearchFacts, BundleSearchOrder } from '../orders.ts';
import type { Embedder, EmbedProgress } from '../ports.ts';
import { embedRelease, type PassageText, passageText } from '../semantic/embed-release.ts';
import { sweepVectors } from '../semantic/sweep-vectors.ts';
import type { Vectors } from '../semantic/vector-file.ts';
import { type CutSection, SECTIONS_MAX } from './bundle-format.ts';
import { encodeBundleSearch } from './encode-bundle-search.ts';

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
 * interrupted export goes on from the cache. Memory: 60 bytes a section, with vectors a kilobyte a passage.
 * @throws DocshelfError `model_invalid`, `embedder_failed`, `bad_search_data` over the format's bounds; the signal's reason
 */
export async function makeBundleSearch(
  order: BundleSearchOrder,
  model: LoadableModel | null,
  onProgress: (progress: EmbedProgress) => void,
  signal: AbortSignal,
): Promise<BundleSearchFacts> {
  yieldToReaders();
  using sections = await unlessAborted(sectionsOf(order), signal);
  const vectors = model === null ? null : await embed(order, sections, model, onProgress, signal);
  for (const { path, bytes } of encodeBundleSearch({ sections: cutSections(sections), vectors })) {
    signal.throwIfAborted();
    await appendFile(join(order.into, path.slice(`${OWN_FOLDER}search/`.length)), bytes);
  }
  return { sections: sections.count, vectors: vectors?.sections.length ?? 0 };
}

async function sectionsOf({ siteDir, files, into }: BundleSearchOrder): Promise<SiteSections> {
  const inOrder = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  const trailingSlash = await trailingSlashOf(siteDir, inOrder);
  return readSections({ siteDir, files: inOrder, trailingSlash }, join(into, '.sections'), SECTIONS_MAX);
}

function* cutSections(sections: SiteSections): Generator<CutSection> {
  for (const { section, passages } of sections.all()) yield { section, prior: section.prior ?? 0, passages };
}

/** As decided when the bundle is unpacked: the paths of sections depend on it. */
async function trailingSlashOf(siteDir: string, files: readonly FileEntry[]): Promise<TrailingSlash> {
  const votes = new TrailingSlashVotes(new Set(files.map(({ path }) => path)));
  for (const { path } of files) {
    if (isPage(path)) votes.addPage(path, await readFile(join(siteDir, path), 'latin1'));
  }
  return votes.decide();
}

async function embed(
  { files, into, cacheDir }: BundleSearchOrder,
  sections: SiteSections,
  model: LoadableModel,
  onProgress: (progress: EmbedProgress) => void,
  signal: AbortSignal,
): Promise<Vectors> {
  const embedder = await model.load();
  const file = join(into, '.vectors.bin');
  try {
    const vectors = await embedRelease({
      passages: () => passageTexts(sections, embedder),
      embedder,
      release: USE_PREFIX + digestOf(files),
      cacheDir,
      file,
      signal,
      onProgress,
    });
    await sweepCache(join(cacheDir, model.digest), embedder.dims).catch(() => undefined);
    return vectors;
  } finally {
    await rm(file, { force: true });
    await embedder.close?.();
  }
}

function* passageTexts(sections: SiteSections, embedder: Embedder): Generator<PassageText> {
  let number = 0;
  for (const { section, passages } of sections.all()) {
    if (section.language === null || embedder.reads(section.language)) {
      for (const passage of passages) yield { section: number, text: passageText(section, passage) };
    }
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
