import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError } from '../../domain/errors.ts';
import { isPage, type TrailingSlash } from '../../domain/release.ts';
import { readFileTable } from '../../files/index.ts';
import { KeywordIndexWriter } from '../keyword/index-writer.ts';
import { detectLanguage, ENGLISH, languageOf, SAMPLE_LENGTH, type WordLanguage } from '../keyword/languages.ts';
import { KEYWORD_FILE, LEFT_OUT_FILE, REFUSED_FILE, SEARCH_FOLDER } from './index-files.ts';
import { LARGE_PAGE_BYTES, readSections, type SiteFiles, type SiteSections } from './read-sections.ts';

export interface BuildIndexRequest {
  readonly releaseDir: string;
  readonly trailingSlash: TrailingSlash;
  readonly searchDir: string;
  readonly leftOut: readonly string[];
  readonly leavesOutLarge?: boolean;
}

export async function buildIndex(
  request: BuildIndexRequest,
  onLargePage: (path: string | null) => void = () => undefined,
): Promise<number> {
  const { releaseDir, searchDir, trailingSlash } = request;
  const files = await readFileTable(releaseDir);
  const leftOut = request.leavesOutLarge === true ? largePagesOf(files) : request.leftOut;
  await mkdir(searchDir);
  if (leftOut.length > 0) await writeFile(join(searchDir, LEFT_OUT_FILE), JSON.stringify(leftOut));
  await checkCarried(releaseDir, searchDir);
  const site = { siteDir: join(releaseDir, 'site'), files, trailingSlash, leftOut: new Set(leftOut), onLargePage };
  using sections = await readSections(site, join(searchDir, '.sections'));
  using writer = new KeywordIndexWriter(join(searchDir, KEYWORD_FILE), firstLanguage(sections));
  for (const { section, passages } of sections.all()) writer.add(section, passages);
  writer.finish();
  return sections.count;
}

/** Language of the first page whose language is clear. The index writer assumes this language for earlier pages. */
export function firstLanguage(sections: SiteSections): WordLanguage {
  let sample = '';
  for (const { section } of sections.all()) {
    const { language, text } = section;
    if (language !== null) return languageOf(language);
    sample = sample.length > SAMPLE_LENGTH ? text : `${sample} ${text}`;
    const found = detectLanguage(text) ?? detectLanguage(sample);
    if (found !== null) return found;
  }
  return ENGLISH;
}

function largePagesOf(files: SiteFiles): string[] {
  const large = Iterator.from(files.values()).filter(({ path, size }) => isPage(path) && size > LARGE_PAGE_BYTES);
  return Array.from(large, ({ path }) => path);
}

async function checkCarried(releaseDir: string, searchDir: string): Promise<void> {
  if ((await stat(join(releaseDir, SEARCH_FOLDER)).catch(() => null)) === null) return;
  // Load this module only if needed, because few bundles have vectors, and ajv takes 35 ms to load.
  const { BundleVectors } = await import('../bundle-data/bundle-vectors.ts');
  try {
    BundleVectors.open(releaseDir);
  } catch (error) {
    if (!(error instanceof DocshelfError)) throw error;
    await writeFile(join(searchDir, REFUSED_FILE), JSON.stringify(error.toPlain()));
  }
}
