import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type FileEntry, isPage, type ReleaseView } from '../../domain/release.ts';
import { counted } from '../../domain/text.ts';
import { pageStem } from '../../web/resolve.ts';

export type ComparedSite = Pick<ReleaseView, 'siteDir' | 'files'>;

interface NamedPage {
  readonly page: string;
  readonly title: string;
}

interface ChangedPage extends NamedPage {
  /** Added words in the main text, counted with repetitions. Zero for a page that is too large. */
  readonly wordsAdded: number;
  readonly wordsRemoved: number;
}

export interface PagesDiff {
  readonly added: readonly NamedPage[];
  readonly removed: readonly NamedPage[];
  /** Pages with the same words in both versions, but at a new address. */
  readonly moved: readonly (NamedPage & { readonly from: string })[];
  readonly changed: readonly ChangedPage[];
  readonly unchanged: number;
  readonly leftOut: Readonly<Record<'added' | 'removed' | 'moved' | 'changed', number>>;
}

export interface VersionsDiff extends PagesDiff {
  readonly before: string;
  readonly after: string;
}

interface PageText extends NamedPage {
  readonly words: string;
  readonly isTooLarge: boolean;
}

/** Page that only one version has. Stored without its text, to save memory if the versions have no page in common. */
interface LonePage extends NamedPage {
  /** Digest of the text. Null for a page without text, which cannot match a moved page. */
  readonly digest: string | null;
}

type Pair = { readonly [Side in 'before' | 'after']?: FileEntry };

/** Maximum bytes of a page to compare by words. On a busy machine, 2 MB of hostile markup take 16 s (measured). */
const PAGE_BYTES_MAX = 2 * 1024 ** 2;
const TITLE_LENGTH_MAX = 300;

/**
 * Compares the main text of all pages. Excludes menus, because a changed menu would count as a change of every page.
 * @param onProgress receives 0 to 1
 */
export async function diffPages(
  before: ComparedSite,
  after: ComparedSite,
  onProgress: (part: number) => void = () => undefined,
  listMax = Number.POSITIVE_INFINITY,
): Promise<PagesDiff> {
  const pairs = pairsOf({ before, after });
  const added: LonePage[] = [];
  const removed: LonePage[] = [];
  const changed: ChangedPage[] = [];
  let unchanged = 0;
  for (const [at, pair] of pairs.entries()) {
    onProgress(at / pairs.length);
    if (pair.before?.sha256 === pair.after?.sha256) {
      unchanged += 1;
      continue;
    }
    const former = pair.before === undefined ? null : await textOf(before, pair.before);
    const next = pair.after === undefined ? null : await textOf(after, pair.after);
    if (former === null && next !== null) added.push(loneOf(next));
    else if (next === null && former !== null) removed.push(loneOf(former));
    else if (former !== null && next !== null) {
      if (former.words === next.words) unchanged += 1;
      else changed.push({ page: next.page, title: next.title, ...changeOf(former, next) });
    }
  }
  return listed({ ...withMoves(added, removed), changed }, unchanged, listMax);
}

/** Returns `From v1 to v2: 2 added, 0 removed, 1 moved, 7 changed, 120 unchanged pages.` */
export function diffSummary({ before, after, unchanged, leftOut, ...lists }: VersionsDiff): string {
  const kinds = ['added', 'removed', 'moved', 'changed'] as const;
  const counts = kinds.map((kind) => `${lists[kind].length + leftOut[kind]} ${kind}`);
  return `From ${before} to ${after}: ${counts.join(', ')}, ${counted(unchanged, 'unchanged page')}.`;
}

type Lists = Pick<PagesDiff, 'added' | 'removed' | 'moved' | 'changed'>;

function listed({ added, removed, moved, changed }: Lists, unchanged: number, max: number): PagesDiff {
  const beyond = ({ length }: readonly unknown[]): number => Math.max(0, length - max);
  return {
    added: added.slice(0, max),
    removed: removed.slice(0, max),
    moved: moved.slice(0, max),
    changed: changed.slice(0, max),
    unchanged,
    leftOut: { added: beyond(added), removed: beyond(removed), moved: beyond(moved), changed: beyond(changed) },
  };
}

/** Pairs the pages of both versions, sorted by address. `a.html` and `a/index.html` are the same page. */
function pairsOf(sites: Readonly<Record<'before' | 'after', ComparedSite>>): Pair[] {
  const pairs = new Map<string, Pair>();
  for (const side of ['before', 'after'] as const) {
    for (const entry of sites[side].files.values()) {
      const stem = pageStem(entry.path);
      if (isPage(entry.path)) pairs.set(stem, { ...pairs.get(stem), [side]: entry });
    }
  }
  return [...pairs].sort(([one], [other]) => (one < other ? -1 : 1)).map(([, pair]) => pair);
}

/** Title and words of a page. @throws NodeJS.ErrnoException if the page cannot be read */
async function textOf({ siteDir }: ComparedSite, { path: page, size, sha256, type }: FileEntry): Promise<PageText> {
  if (size > PAGE_BYTES_MAX) return { page, title: '', words: sha256, isTooLarge: true };
  const { markdownOf } = await import('../../web/markdown/index.ts');
  const { pageText } = await import('../../web/media-type.ts');
  const html = pageText(await readFile(join(siteDir, page)), type);
  const { title, markdown } = markdownOf({ path: page, html, address: `/${page}` });
  return { page, title: title.slice(0, TITLE_LENGTH_MAX), words: withoutTargets(markdown), isTooLarge: false };
}

/** Removes link targets, because files with a digest in their names have a different name in each version. */
const withoutTargets = (markdown: string): string => markdown.replace(/\]\((?:[^()\\]|\\.|\([^()]*\))*\)/g, ']');

function changeOf(before: PageText, after: PageText): Pick<ChangedPage, 'wordsAdded' | 'wordsRemoved'> {
  if (before.isTooLarge || after.isTooLarge) return { wordsAdded: 0, wordsRemoved: 0 };
  const counts = new Map<string, number>();
  for (const word of wordsIn(after.words)) counts.set(word, (counts.get(word) ?? 0) + 1);
  for (const word of wordsIn(before.words)) counts.set(word, (counts.get(word) ?? 0) - 1);
  let [wordsAdded, wordsRemoved] = [0, 0];
  for (const count of counts.values()) {
    if (count > 0) wordsAdded += count;
    else wordsRemoved -= count;
  }
  return { wordsAdded, wordsRemoved };
}

const wordsIn = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '');

function loneOf({ page, title, words }: PageText): LonePage {
  return { page, title, digest: words === '' ? null : createHash('sha256').update(words).digest('base64') };
}

function withMoves(added: readonly LonePage[], removed: readonly LonePage[]): Omit<Lists, 'changed'> {
  const gone = new Map(removed.filter(({ digest }) => digest !== null).map((lone) => [lone.digest, lone]));
  const moved: (NamedPage & { from: string })[] = [];
  const isMoved = new Set<LonePage>();
  for (const lone of added) {
    const from = gone.get(lone.digest);
    if (from === undefined) continue;
    gone.delete(lone.digest);
    isMoved.add(from).add(lone);
    moved.push({ page: lone.page, title: lone.title, from: from.page });
  }
  const left = (pages: readonly LonePage[]): NamedPage[] =>
    pages.filter((lone) => !isMoved.has(lone)).map(({ page, title }) => ({ page, title }));
  return { added: left(added), removed: left(removed), moved };
}
