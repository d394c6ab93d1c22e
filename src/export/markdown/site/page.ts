import type { FoundFile } from '../../sources/walk-folder.ts';

export interface Page {
  readonly source: FoundFile;
  readonly path: string;
  /** Its Markdown: `guides/start.md`. */
  readonly twin: string;
  /** `guides/start`, `guides/` for a folder's page, empty for the home page. */
  readonly address: string;
  readonly language: string;
  readonly key: string;
  readonly title: string;
  readonly sidebarTitle: string;
  readonly description: string | null;
  readonly tags: readonly string[];
  readonly version: string | null;
  readonly order: number | null;
  /** True where the exported version is the first that has it. */
  readonly isNew: boolean;
  readonly isHidden: boolean;
  /** Not for search engines, the sitemap and `llms.txt`. */
  readonly isNoindex: boolean;
}

const PAGE_SOURCE = /\.(?:md|markdown)$/i;
const README = /(^|\/)readme$/i;

export function isPageSource(path: string): boolean {
  return PAGE_SOURCE.test(path);
}

/** A `README` is its folder's index page, unless the folder has one. @param hasPage whether a source has that stem */
export function stemOf(path: string, hasPage: (stem: string) => boolean): string {
  const stem = path.replace(PAGE_SOURCE, '');
  const index = stem.replace(README, '$1index');
  return index !== stem && hasPage(index) ? stem : index;
}

export function addressOfStem(stem: string): string {
  return stem.replace(/(^|\/)index$/, '$1');
}

export function isNotFoundStem(stem: string): boolean {
  return /(?:^|\/)404$/.test(stem);
}
