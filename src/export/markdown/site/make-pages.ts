import type { SiteSink } from '../../../domain/job.ts';
import type { FoundFile } from '../../sources/walk-folder.ts';
import type { FrontMatter } from '../source/front-matter.ts';
import { readPage } from '../source/read-page.ts';
import { titleOfName } from './address.ts';
import { type Language, languageOfPage, translationKey } from './languages.ts';
import { addressOfStem, isNotFoundStem, isPageSource, type Page, stemOf } from './page.ts';
import { MarkdownTargets, namesOfPage } from './targets.ts';

export interface PageSet {
  readonly pages: readonly Page[];
  /** All names of the pages that it leaves out: pages of later versions, and pages not in `paths`. */
  readonly excludedNames: ReadonlySet<string>;
  /** Sources of 404 pages, by their folder (`fr/`, or empty). */
  readonly notFound: ReadonlyMap<string, FoundFile>;
}

interface PageSelection {
  readonly version: string | null;
  readonly paths: readonly string[] | null;
  readonly find: SiteSink['find'];
}

export function makePages(
  drafts: readonly Draft[],
  languages: readonly Language[],
  selection: PageSelection,
  assets: ReadonlySet<string>,
): PageSet {
  const pages: Page[] = [];
  const later: Page[] = [];
  const notFound = new Map<string, FoundFile>();
  const byPath = new Map<string, Page>();
  const report = (page: string, detail: string) => selection.find({ kind: 'duplicate_path', page, detail });
  for (const draft of drafts) {
    if (isNotFoundStem(draft.stem)) {
      notFound.set(draft.stem.replace(/404$/, ''), draft.source);
      continue;
    }
    const page = makePage(draft, languages, selection.version);
    const taken = byPath.get(page.path)?.source.path;
    if (taken !== undefined) {
      report(draft.source.path, `it would be ${page.path}, as ${taken} is already`);
      continue;
    }
    if (assets.has(page.path)) report(page.path, `${draft.source.path} is rendered to it`);
    byPath.set(page.path, page);
    (isLater(draft.matter.since, selection.version) ? later : pages).push(page);
  }
  const chosen = choose(pages, assets, selection);
  const kept = new Set(chosen);
  const excluded = [...later, ...pages.filter((page) => !kept.has(page))];
  const excludedNames = excluded.flatMap((page) => [page.source.path, ...namesOfPage(page)]);
  return { pages: chosen, excludedNames: new Set(excludedNames), notFound };
}

function makePage(
  { source, stem, matter, title }: Draft,
  languages: readonly Language[],
  version: string | null,
): Page {
  const address = addressOfStem(stem);
  const language = languageOfPage(source.path, matter.language, languages);
  return {
    source,
    path: `${stem}.html`,
    twin: `${stem}.md`,
    address,
    language: language.code,
    key: translationKey(address, language),
    title,
    sidebarTitle: matter.sidebarTitle ?? title,
    description: matter.description,
    tags: matter.tags,
    version: matter.version ?? version,
    order: matter.order,
    isNew: matter.since !== null && matter.since === version,
    isHidden: matter.isHidden,
    isNoindex: matter.isNoindex,
  };
}

/** Labels are compared as people read them: dates as dates, `v1.9` before `v1.10`. */
function isLater(since: string | null, version: string | null): boolean {
  return since !== null && version !== null && new Intl.Collator('en', { numeric: true }).compare(since, version) > 0;
}

function choose(pages: readonly Page[], assets: ReadonlySet<string>, { paths, find }: PageSelection): readonly Page[] {
  if (paths === null) return pages;
  const targets = new MarkdownTargets(pages, new Set(), assets);
  const chosen = new Set<Page>();
  for (const path of paths) {
    const page = targets.page(path);
    if (page === null || page === 'excluded')
      find({ kind: 'path_not_found', page: path, detail: 'no page of the site answers this path' });
    else chosen.add(page);
  }
  return pages.filter((page) => chosen.has(page));
}

interface Draft {
  readonly source: FoundFile;
  /** Its path in the site without extension: `guides/start`, `guides/index`. */
  readonly stem: string;
  readonly matter: FrontMatter;
  readonly title: string;
}

const TITLE_MARKUP =
  /!?\[([^\]]*)\]\([^)]*\)|<[^>]+>|(?<![\p{L}\p{N}\\])[*_]{1,3}(?=\S)|(?<=\S)[*_]{1,3}(?![\p{L}\p{N}])|`/gu;

export async function readDrafts(
  files: readonly FoundFile[],
  find: SiteSink['find'],
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

export function plainTitle(heading: string | null): string | null {
  return (
    heading
      ?.replace(TITLE_MARKUP, '$1')
      .replace(/\\([!-/:-@[-`{-~])/g, '$1')
      .trim() || null
  );
}

function titleOfPath(stem: string): string {
  return titleOfName(stem.replace(/\/index$/, '').replace(/^.*\//, ''));
}
