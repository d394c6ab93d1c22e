import type { Finding } from '../../../domain/job.ts';
import type { FrontMatter } from '../source/front-matter.ts';
import type { SourceFile } from '../source/read-folder.ts';
import { readPage } from '../source/read-page.ts';
import { titleOfName } from './name-title.ts';
import { isPageSource, stemOf } from './page.ts';

/** A page before it is known which pages the site has. */
export interface Draft {
  readonly source: SourceFile;
  /** Where it stands in the site, without extension: `guides/start`, `guides/index`. */
  readonly stem: string;
  readonly matter: FrontMatter;
  readonly title: string;
}

/** Markup inside a title, which has no place in a document's title, a navigation or a sitemap. */
const TITLE_MARKUP =
  /!?\[([^\]]*)\]\([^)]*\)|<[^>]+>|(?<![\p{L}\p{N}\\])[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?![\p{L}\p{N}])|`/gu;

/** Reads every page source's front matter and title. A page that is a draft is one no more. */
export async function readDrafts(
  files: readonly SourceFile[],
  find: (finding: Finding) => void,
  signal: AbortSignal,
): Promise<readonly Draft[]> {
  const sources = files.filter(({ path }) => isPageSource(path));
  const stems = new Set(sources.map(({ path }) => path.replace(/\.[^.]*$/, '')));
  const drafts: Draft[] = [];
  for (const source of sources) {
    signal.throwIfAborted();
    const { matter, heading } = await readPage(source, find);
    if (matter.isDraft) {
      find({ kind: 'left_out', page: source.path, detail: 'it is a draft' });
      continue;
    }
    const stem = stemOf(source.path, (index) => stems.has(index));
    drafts.push({ source, stem, matter, title: matter.title ?? plainTitle(heading) ?? titleOfPath(stem) });
  }
  return drafts;
}

/** A heading's text without its Markdown. */
export function plainTitle(heading: string | null): string | null {
  return (
    heading
      ?.replace(TITLE_MARKUP, '$1')
      .replace(/\\([!-/:-@[-`{-~])/g, '$1')
      .trim() || null
  );
}

function titleOfPath(stem: string): string {
  const segments = stem.split('/');
  const name = segments.at(-1) === 'index' ? (segments.at(-2) ?? 'index') : (segments.at(-1) ?? stem);
  return titleOfName(name);
}
