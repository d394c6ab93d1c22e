import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError, errnoOf, type PlainError, toDocshelfError } from '../../domain/errors.ts';
import { isPage, type TrailingSlash } from '../../domain/release.ts';
import { readFileTable } from '../../files/index.ts';
import { carriedFolder } from '../bundle-data/carried-attempts.ts';
import type { CarriedSearch } from '../bundle-data/read-bundle-search.ts';
import { basePathOf, FormerIndex, KeywordIndexWriter } from '../keyword/index.ts';
import { Numbers } from '../numbers.ts';
import { digestOf } from '../section-digest.ts';
import { VectorTable } from '../semantic/vector-table.ts';
import { KEYWORD_FILE, LEFT_OUT_FILE, PAGES_FILE, VECTOR_FILE } from './index-files.ts';
import { KeptPages } from './kept-pages.ts';
import { LARGE_PAGE_BYTES } from './page-readers.ts';
import { readSections, type SiteFiles } from './read-sections.ts';
import { readSectionFacts, type SectionFacts, SectionFactsWriter } from './section-facts.ts';
import type { SectionEntry } from './site-sections.ts';

export interface IndexOrder {
  readonly releaseDir: string;
  readonly trailingSlash: TrailingSlash;
  readonly searchDir: string;
  readonly modelFolder: string | null;
  /** False where the search data of the bundle were found bad before. */
  readonly usesCarried: boolean;
  /** Paths of pages that ended the process before. */
  readonly leftOut: readonly string[];
  /** True if too many of its large pages ended the process: none of them is read. */
  readonly leavesOutLarge?: boolean;
  /** Search folder of the version before: what is the same in both is neither read nor indexed again. */
  readonly formerDir: string | null;
  /** Its index was found whole when it was opened. */
  readonly isFormerChecked?: boolean;
  /** That read pages beside this one. */
  readonly threadsMax: number;
}

export interface BuiltIndex {
  readonly sections: number;
  /** Of the search data that the bundle carries, where the pages were indexed in their place. */
  readonly refused: PlainError | null;
}

/** Of the pages, or of what the bundle brings. Vectors that it does not bring are made later. */
export async function buildIndex(
  order: IndexOrder,
  onLargePage: (path: string | null) => void = () => undefined,
): Promise<BuiltIndex> {
  const { releaseDir, searchDir, trailingSlash, threadsMax } = order;
  const files = await readFileTable(releaseDir);
  const leftOut = order.leavesOutLarge === true ? largePagesOf(files) : order.leftOut;
  let refused: PlainError | null = null;
  try {
    const carried = order.usesCarried ? await openCarried(order, files) : null;
    if (carried !== null) return { sections: await indexCarried(order, carried), refused };
  } catch (error) {
    if (!(error instanceof DocshelfError) || error.code !== 'bad_search_data') throw error;
    refused = error.toPlain();
    await rm(searchDir, { recursive: true });
  }
  await mkdir(searchDir);
  if (leftOut.length > 0) await writeFile(join(searchDir, LEFT_OUT_FILE), JSON.stringify(leftOut));
  const site = { siteDir: join(releaseDir, 'site'), files, trailingSlash, leftOut: new Set(leftOut), onLargePage };
  const former = await openFormer(order);
  const formerPages = former === null || order.formerDir === null ? null : join(order.formerDir, PAGES_FILE);
  using kept = new KeptPages(join(searchDir, PAGES_FILE), formerPages);
  using sections = await readSections(site, join(searchDir, '.sections'), {
    ...{ kept, threadsMax, expected: former?.index.count },
  });
  kept.finish();
  return { sections: await writeIndex(searchDir, () => sections.entries(), former), refused };
}

function largePagesOf(files: SiteFiles): string[] {
  const large = Iterator.from(files.values()).filter(({ path, size }) => isPage(path) && size > LARGE_PAGE_BYTES);
  return Array.from(large, ({ path }) => path);
}

async function openCarried(
  { releaseDir, trailingSlash, searchDir }: IndexOrder,
  files: SiteFiles,
): Promise<CarriedSearch | null> {
  const folder = carriedFolder(releaseDir);
  if ((await stat(folder).catch(() => null)) === null) return null;
  await mkdir(searchDir);
  // Only bundles of the exporter need it, and ajv takes 35 ms to load (measured).
  const { CarriedSearch } = await import('../bundle-data/read-bundle-search.ts');
  const carried = await CarriedSearch.open(folder, { files, trailingSlash });
  if (carried === null) await rm(searchDir, { recursive: true });
  return carried;
}

async function indexCarried(order: IndexOrder, carried: CarriedSearch): Promise<number> {
  const { searchDir, modelFolder } = order;
  let owners = new Numbers();
  const entries = () => {
    owners = new Numbers();
    return withPages(carried, owners);
  };
  const sections = await writeIndex(searchDir, entries, await openFormer(order));
  const { vectors } = carried.header;
  if (vectors === null || modelFolder === null) return sections;
  const modelDigest = await modelDigestOf(modelFolder);
  if (vectors.modelDigest === modelDigest) writeTable(join(searchDir, VECTOR_FILE), carried, owners.view.slice());
  return sections;
}

/** @param owners gets the section of each vector */
function* withPages(carried: CarriedSearch, owners: Numbers): Generator<SectionEntry> {
  let number = 0;
  for (const { section, prior = 0, passages, embedded } of carried.sections()) {
    if (embedded) for (const _ of passages) owners.push(number);
    const page = section.path.replace(/#.*$/, '');
    yield { page, prior, digest: digestOf(section, page), passages, read: () => ({ section, passages }) };
    number += 1;
  }
}

function writeTable(file: string, carried: CarriedSearch, sections: Uint32Array): void {
  const { vectors } = carried.header;
  if (vectors?.count !== sections.length) throw notOneEach();
  const { modelDigest, dims } = vectors;
  const table = VectorTable.create(file, { modelDigest, dims, key: '' }, sections);
  try {
    let row = 0;
    for (const vector of carried.vectors()) {
      if (row === sections.length) throw notOneEach();
      table.put(row, vector);
      row += 1;
    }
    if (row < sections.length) throw notOneEach();
    table.flush();
  } finally {
    table.close();
  }
}

function notOneEach(): DocshelfError {
  return new DocshelfError('bad_search_data', "Cannot use the bundle's vectors: there is not one for each passage", {
    next: 'The pages are indexed instead. Export again to save that time.',
  });
}

interface Former {
  readonly index: FormerIndex;
  readonly facts: SectionFacts;
}

/** Null where the version before has none of this format. */
async function openFormer({ formerDir, isFormerChecked }: IndexOrder): Promise<Former | null> {
  const index = formerDir === null ? null : FormerIndex.open(join(formerDir, KEYWORD_FILE), isFormerChecked);
  if (index === null || formerDir === null) return null;
  const facts = await readSectionFacts(formerDir, index.count).catch(() => null);
  return facts && { index, facts };
}

/** Of the former one, or whole where too little of that is left. */
async function writeIndex(
  searchDir: string,
  entries: () => Iterable<SectionEntry>,
  former: Former | null,
): Promise<number> {
  const file = join(searchDir, KEYWORD_FILE);
  let facts: SectionFactsWriter | null = null;
  try {
    facts = fillIndex(file, entries(), former);
  } catch (error) {
    // The site may have had the former one built anew, or lost it.
    const isOfFormer = errnoOf(error) === 'ENOENT' || toDocshelfError(error).code === 'index_damaged';
    if (former === null || !isOfFormer) throw error;
  }
  if (facts === null) {
    for (const each of [file, basePathOf(file)]) await rm(each, { force: true });
    return writeIndex(searchDir, entries, null);
  }
  await facts.write(searchDir);
  return facts.count;
}

/** Null where what the former version had is of little use. */
function fillIndex(file: string, entries: Iterable<SectionEntry>, former: Former | null): SectionFactsWriter | null {
  using writer = new KeywordIndexWriter(file, former?.index);
  const facts = new SectionFactsWriter();
  for (const { page, prior, digest, passages, read } of entries) {
    const number = writer.keep(digest, page, prior);
    if (number !== null && former !== null) {
      facts.add(former.facts.language(number), passages ?? former.facts.passages(number));
      continue;
    }
    const cut = read();
    writer.add({ ...cut.section, page, prior }, digest);
    if (writer.isOutgrown) return null;
    facts.add(cut.section.language, cut.passages);
  }
  writer.finish();
  return facts;
}

/** Null for a model that cannot be read, which is reported where it is used. */
async function modelDigestOf(folder: string): Promise<string | null> {
  const { readModelFiles } = await import('../semantic/model-files.ts');
  return readModelFiles(folder).then(
    ({ digest }) => digest,
    () => null,
  );
}
