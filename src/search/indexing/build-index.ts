import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileEntry, OWN_FOLDER, type TrailingSlash } from '../../domain/release.ts';
import type { CutSection } from '../bundle-data/bundle-format.ts';
import { readBundleSections } from '../bundle-data/bundle-sections.ts';
import { KeywordIndexWriter } from '../keyword/index.ts';
import { type Vectors, writeVectors } from '../semantic/vector-file.ts';
import { readSections } from './read-pages.ts';
import { type SectionFact, writeSectionFacts } from './section-facts.ts';
import type { SiteSection } from './site-sections.ts';

export const KEYWORD_FILE = 'keyword.sqlite';
export const VECTOR_FILE = 'vectors.bin';

export interface IndexOrder {
  readonly releaseDir: string;
  readonly trailingSlash: TrailingSlash;
  readonly searchDir: string;
  readonly modelFolder: string | null;
}

interface IndexSource {
  readonly sections: Iterable<SiteSection>;
  readonly vectors: Vectors | null;
}

/** Of the pages, or of what the bundle brings. Vectors that it does not bring are made later. */
export async function buildIndex(order: IndexOrder): Promise<{ sections: number }> {
  const { releaseDir, searchDir } = order;
  await mkdir(searchDir);
  const { files } = JSON.parse(await readFile(join(releaseDir, 'files.json'), 'utf8')) as { files: FileEntry[] };
  const brought = await fromBundle(order, files);
  if (brought !== null) return writeIndex(searchDir, brought);
  const { trailingSlash } = order;
  const site = { siteDir: join(releaseDir, 'site'), files, trailingSlash };
  using sections = await readSections(site, join(searchDir, '.sections'));
  return await writeIndex(searchDir, { sections: sections.all(), vectors: null });
}

async function writeIndex(searchDir: string, { sections, vectors }: IndexSource): Promise<{ sections: number }> {
  const writer = new KeywordIndexWriter(join(searchDir, KEYWORD_FILE));
  const facts: SectionFact[] = [];
  for (const { section, passages } of sections) {
    writer.add(section);
    facts.push({ language: section.language, passages });
  }
  writer.finish();
  await writeSectionFacts(searchDir, facts);
  if (vectors !== null) await writeVectors(join(searchDir, VECTOR_FILE), vectors);
  return { sections: facts.length };
}

async function fromBundle(
  { releaseDir, trailingSlash, modelFolder }: IndexOrder,
  files: readonly FileEntry[],
): Promise<IndexSource | null> {
  const digest = modelFolder === null ? null : await modelDigestOf(modelFolder);
  const brought = await readBundleSections(join(releaseDir, OWN_FOLDER), files, trailingSlash, digest);
  if (brought === null) return null;
  return { sections: withPages(brought.sections), vectors: brought.vectors };
}

function* withPages(sections: readonly CutSection[]): Generator<SiteSection> {
  for (const { section, prior = 0, passages } of sections) {
    yield { section: { ...section, page: section.path.replace(/#.*$/, ''), prior }, passages };
  }
}

/** Null for a model that cannot be read, which is reported where it is used. */
async function modelDigestOf(folder: string): Promise<string | null> {
  const { readModelFiles } = await import('../semantic/model-files.ts');
  return readModelFiles(folder).then(
    ({ digest }) => digest,
    () => null,
  );
}
