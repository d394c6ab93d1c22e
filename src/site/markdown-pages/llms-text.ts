import { encodeSegments } from '../../web/escape.ts';
import { pageStem } from '../../web/resolve.ts';
import { markdownPathOf } from '../page-paths.ts';

export interface ListedPage {
  readonly path: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly language: string | null;
}

export interface SiteOutline {
  readonly pages: readonly ListedPage[];
  readonly navigation: readonly string[];
  readonly basePath: string;
  readonly title: string | null;
}

export interface ListAnswer {
  readonly text: string;
  readonly order: readonly string[];
}

const LIST_LENGTH_MAX = 2 * 1024 ** 2;
export const MORE_PAGES = '\nThis list is too long, so it omits some pages.\n';
const SECTION_DEPTH = 2;
const START_PAGE = /^index\.x?html?$/i;

export function sectionOf(path: string): string {
  const stem = pageStem(path);
  return stem.split('/').slice(0, -1).slice(0, SECTION_DEPTH).join('/');
}

/** Sorts sections and pages in the order of the navigation, but pages in another language than the start page come last. */
export function orderPages({ pages, navigation }: SiteOutline) {
  const rank = new Map(navigation.map((path, at) => [path, at]));
  const rankOf = ({ path }: ListedPage): number => (START_PAGE.test(path) ? -1 : (rank.get(path) ?? navigation.length));
  const start = pages.find(({ path }) => START_PAGE.test(path));
  const isOther = ({ language }: ListedPage): number =>
    Number(start?.language != null && language !== null && language !== start.language);
  const sorted = pages.toSorted((a, b) => isOther(a) - isOther(b) || rankOf(a) - rankOf(b));
  const sections = Map.groupBy(sorted, ({ path }) => sectionOf(path));
  return Array.from(sections, ([folder, inside]) => ({ folder, pages: inside }));
}

/** Writes `llms.txt` in the format of llmstxt.org. */
export function llmsText(site: SiteOutline): string {
  const sections = orderPages(site);
  const start = sections.flatMap(({ pages }) => pages).find(({ path }) => START_PAGE.test(path));
  const title = oneLine(site.title ?? start?.title ?? 'Documentation');
  const byStem = new Map(site.pages.map((page) => [pageStem(page.path), page]));
  let text = `# ${title}\n`;
  if (start?.description) text += `\n> ${oneLine(start.description)}\n`;
  for (const { folder, pages } of sections) {
    text += `\n## ${oneLine((folder === '' ? null : byStem.get(folder)?.title) ?? titleOf(folder))}\n\n`;
    for (const page of pages) {
      if (text.length > LIST_LENGTH_MAX) return text + MORE_PAGES;
      text += lineOf(page, site.basePath);
    }
  }
  return text;
}

function lineOf({ path, title, description }: ListedPage, basePath: string): string {
  const label = oneLine(title ?? pageStem(path)).replace(/[[\]\\]/g, '\\$&');
  const address = basePath + encodeSegments(markdownPathOf(path));
  const about = description === null ? '' : `: ${oneLine(description)}`;
  return `- [${label}](${address.replace(/[()]/g, (sign) => (sign === '(' ? '%28' : '%29'))})${about}\n`;
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

function titleOf(folder: string): string {
  const words = folder.split('/').map((name) => name.replace(/[-_]+/g, ' '));
  return words.map((name) => name.charAt(0).toUpperCase() + name.slice(1)).join(' / ') || 'Pages';
}
