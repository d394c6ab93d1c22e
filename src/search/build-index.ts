import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileEntry, OWN_FOLDER, type TrailingSlash } from '../domain/release.ts';
import { readBundleSections } from './bundle-sections.ts';
import { estimateTokens } from './estimate-tokens.ts';
import { cutPassages } from './extract/index.ts';
import { type IndexedSection, KeywordIndexWriter } from './keyword/index.ts';
import { readSections } from './read-pages.ts';
import type { Passage } from './section.ts';
import { writeSectionFacts } from './section-facts.ts';
import { type Vectors, writeVectors } from './semantic/vector-file.ts';

export const KEYWORD_FILE = 'keyword.sqlite';
export const VECTOR_FILE = 'vectors.bin';

/** Which release to index, and where the index goes. Plain data: it crosses a thread. */
export interface IndexOrder {
  /** Holds `site/`, `_docshelf/` and `files.json`. */
  readonly releaseDir: string;
  readonly trailingSlash: TrailingSlash;
  /** Made here; must not be there yet. */
  readonly searchDir: string;
  /** Folder of the model whose vectors the bundle may bring; null where none is in use, or it is not known yet. */
  readonly modelFolder: string | null;
}

export interface IndexFacts {
  readonly sections: number;
}

interface Indexed {
  readonly section: IndexedSection;
  readonly passages: readonly Passage[];
}

/**
 * Builds a release's search index: sections out of the pages, or out of what the bundle brings; keywords and passages out of
 * them. Vectors that the bundle does not bring are made later, from the passages.
 */
export async function buildIndex(order: IndexOrder): Promise<IndexFacts> {
  const { releaseDir, searchDir } = order;
  await mkdir(searchDir);
  const { files } = JSON.parse(await readFile(join(releaseDir, 'files.json'), 'utf8')) as { files: FileEntry[] };
  const { indexed, vectors } = (await fromBundle(order, files)) ?? (await fromPages(order, files));

  const writer = new KeywordIndexWriter(join(searchDir, KEYWORD_FILE));
  for (const { section } of indexed) writer.add(section);
  writer.finish({});
  await writeSectionFacts(
    searchDir,
    indexed.map(({ section, passages }) => ({ language: section.language, passages })),
  );
  if (vectors !== null) await writeVectors(join(searchDir, VECTOR_FILE), vectors);
  return { sections: indexed.length };
}

async function fromPages(
  { releaseDir, trailingSlash }: IndexOrder,
  files: readonly FileEntry[],
): Promise<{ indexed: Indexed[]; vectors: null }> {
  const sections = await readSections({ siteDir: join(releaseDir, 'site'), files, trailingSlash });
  const indexed = sections.map((section) => ({ section, passages: cutPassages(section.text, estimateTokens) }));
  return { indexed, vectors: null };
}

async function fromBundle(
  { releaseDir, trailingSlash, modelFolder }: IndexOrder,
  files: readonly FileEntry[],
): Promise<{ indexed: Indexed[]; vectors: Vectors | null } | null> {
  const digest = modelFolder === null ? null : await modelDigestOf(modelFolder);
  const brought = await readBundleSections(join(releaseDir, OWN_FOLDER), files, trailingSlash, digest);
  if (brought === null) return null;
  const indexed = brought.sections.map(({ section, prior = 0, passages }) => ({
    section: { ...section, page: section.path.replace(/#.*$/, ''), prior },
    passages,
  }));
  return { indexed, vectors: brought.vectors };
}

/** A model that cannot be read is told of where it is used; here it only means that no vectors fit it. */
async function modelDigestOf(folder: string): Promise<string | null> {
  const { readModelFiles } = await import('./semantic/model-files.ts');
  return readModelFiles(folder).then(
    ({ digest }) => digest,
    () => null,
  );
}
