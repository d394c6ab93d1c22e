import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isPage, type ReleaseView } from '../../domain/release.ts';
import { pageStem } from '../../web/page-stem.ts';

export type ComparedSite = Pick<ReleaseView, 'siteDir' | 'files'>;

export interface NamedPage {
  readonly page: string;
  readonly title: string;
}

export interface ChangedPage extends NamedPage {
  /** Words of its main text, each as often as it comes. */
  readonly wordsAdded: number;
  readonly wordsRemoved: number;
}

export interface PagesDiff {
  readonly added: readonly NamedPage[];
  readonly removed: readonly NamedPage[];
  /** The same words at another address. */
  readonly moved: readonly (NamedPage & { readonly from: string })[];
  readonly changed: readonly ChangedPage[];
  /** With the same main text. */
  readonly unchanged: number;
}

interface PageText extends NamedPage {
  readonly words: string;
}

interface Pair {
  readonly before: string | undefined;
  readonly after: string | undefined;
}

/** By the main text of pages, as search and Markdown have it: a menu that is another on each page changes none. @param onProgress 0 to 1 */
export async function diffPages(
  before: ComparedSite,
  after: ComparedSite,
  onProgress: (part: number) => void,
): Promise<PagesDiff> {
  const pairs = [...pairsOf(before, after).values()];
  const added: PageText[] = [];
  const removed: PageText[] = [];
  const changed: ChangedPage[] = [];
  let unchanged = 0;
  for (const [at, pair] of pairs.entries()) {
    onProgress(at / pairs.length);
    if (isSameFile(pair, before, after)) {
      unchanged += 1;
      continue;
    }
    const former = pair.before === undefined ? null : await textOf(before, pair.before);
    const next = pair.after === undefined ? null : await textOf(after, pair.after);
    if (former === null && next !== null) added.push(next);
    else if (next === null && former !== null) removed.push(former);
    else if (former !== null && next !== null) {
      if (former.words === next.words) unchanged += 1;
      else changed.push({ page: next.page, title: next.title, ...changeOf(former.words, next.words) });
    }
  }
  return { ...withMoves(added, removed), changed, unchanged };
}

/** By the address that `a.html` and `a/index.html` share, in its order. */
function pairsOf(before: ComparedSite, after: ComparedSite): Map<string, Pair> {
  const pairs = new Map<string, Pair>();
  const pagesOf = ({ files }: ComparedSite): string[] => Array.from(files.values(), ({ path }) => path).filter(isPage);
  for (const path of pagesOf(before)) pairs.set(pageStem(path), { before: path, after: undefined });
  for (const path of pagesOf(after)) {
    pairs.set(pageStem(path), { before: pairs.get(pageStem(path))?.before, after: path });
  }
  return new Map([...pairs].sort(([one], [other]) => (one < other ? -1 : 1)));
}

function isSameFile(pair: Pair, before: ComparedSite, after: ComparedSite): boolean {
  const former = pair.before === undefined ? undefined : before.files.get(pair.before);
  const next = pair.after === undefined ? undefined : after.files.get(pair.after);
  return former !== undefined && former.sha256 === next?.sha256;
}

async function textOf({ siteDir, files }: ComparedSite, page: string): Promise<PageText> {
  const { markdownOf } = await import('../../web/markdown/index.ts');
  const { pageText } = await import('../../web/page-text.ts');
  const html = pageText(await readFile(join(siteDir, page)), files.get(page)?.type ?? 'text/html');
  const { title, markdown } = markdownOf({ path: page, html, address: `/${page}` });
  return { page, title, words: withoutTargets(markdown) };
}

/** Files with a digest in their names have another one in each version. */
const withoutTargets = (markdown: string): string => markdown.replace(/\]\((?:[^()\\]|\\.|\([^()]*\))*\)/g, ']');

function changeOf(before: string, after: string): Pick<ChangedPage, 'wordsAdded' | 'wordsRemoved'> {
  const counts = new Map<string, number>();
  for (const word of wordsIn(after)) counts.set(word, (counts.get(word) ?? 0) + 1);
  for (const word of wordsIn(before)) counts.set(word, (counts.get(word) ?? 0) - 1);
  let [wordsAdded, wordsRemoved] = [0, 0];
  for (const count of counts.values()) {
    if (count > 0) wordsAdded += count;
    else wordsRemoved -= count;
  }
  return { wordsAdded, wordsRemoved };
}

const wordsIn = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');

function withMoves(
  added: readonly PageText[],
  removed: readonly PageText[],
): Pick<PagesDiff, 'added' | 'removed' | 'moved'> {
  const gone = new Map(removed.filter(({ words }) => words !== '').map((text) => [text.words, text]));
  const moved: (NamedPage & { from: string })[] = [];
  const isMoved = new Set<PageText>();
  for (const text of added) {
    const from = gone.get(text.words);
    if (from === undefined) continue;
    gone.delete(text.words);
    isMoved.add(from).add(text);
    moved.push({ page: text.page, title: text.title, from: from.page });
  }
  const left = (texts: readonly PageText[]): NamedPage[] =>
    texts.filter((text) => !isMoved.has(text)).map(({ page, title }) => ({ page, title }));
  return { added: left(added), removed: left(removed), moved };
}
