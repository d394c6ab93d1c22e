import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { ReleaseView } from '../domain/release.ts';
import { escapeToAscii, NO_ADDITIONS, type PageAdditions, startTag } from '../web/additions/page-additions.ts';
import { encodeAddress } from '../web/escape.ts';
import { type BundledSearch, failingSearches } from '../web/own-search.ts';
import { ENGLISH, PAGE_LANGUAGES, type PageLanguage } from '../web/words/index.ts';
import { oncePerRelease, readHead, type SiteLanguages } from './first-pages.ts';
import type { SamePages } from './versions/same-page.ts';

export interface SearchBoxForm {
  readonly scripts: Readonly<Record<'loader' | 'replacing', string>>;
  readonly page: string;
  readonly replaces: boolean;
  readonly isOfShelf: boolean;
}

export type SwitcherFiles = Readonly<Record<'script' | 'style', string>>;

export interface VersionSurvey {
  readonly hasOthers: boolean;
  /** Folders of the bundle that contain other versions of the site. */
  readonly own: readonly string[];
}

interface VersionLabels {
  readonly version: string;
  readonly active: string;
}

export function searchBoxAdditions(
  form: SearchBoxForm,
  own: readonly BundledSearch[],
  version: string | null = null,
): PageAdditions {
  const replaced = form.replaces ? failingSearches(own) : [];
  const attributes = {
    type: 'module',
    src: form.scripts[replaced.length > 0 ? 'replacing' : 'loader'],
    'data-replace': replaced.map(({ boxes }) => boxes).join() || null,
    'data-version': version,
    'data-shelf': form.isOfShelf,
  };
  const scripts = PAGE_LANGUAGES.map((language) => {
    const label = language === ENGLISH ? null : language.words.searchBox.open;
    return [language.tag, `${startTag('script', { ...attributes, 'data-label': label })}</script>`] as const;
  });
  // In browsers without scripts, each page ends with a link to the results page. The link is in the middle, because the fixed side
  // columns of some themes (Starlight, VitePress) would cover it at the edge.
  const links = PAGE_LANGUAGES.map(({ tag, words: { searchBox } }) => {
    const link = `${startTag('a', { href: version === null ? form.page : `${form.page}?version=${encodeURIComponent(version)}` })}${escapeToAscii(searchBox.open)}</a><style>docshelf-search{display:block;text-align:center}@media print{docshelf-search{display:none}}</style>`;
    return [tag, `<noscript><docshelf-search>${link}</docshelf-search></noscript>`] as const;
  });
  return {
    head: [...replaced.map(({ head }) => head), Object.fromEntries(scripts)],
    body: [Object.fromEntries(links)],
  };
}

/** Adds no switcher if the bundle contains several versions, because pages of such a bundle already have a switcher. */
export function switcherAdditions(
  { script }: SwitcherFiles,
  { version, active }: VersionLabels,
  { hasOthers, own }: VersionSurvey,
): PageAdditions {
  if (!hasOthers || own.length > 0) return NO_ADDITIONS;
  const attributes = { type: 'module', src: script, 'data-version': version };
  return { head: [`${startTag('script', { ...attributes, 'data-active': active })}</script>`], body: [] };
}

interface VersionPair {
  readonly release: ReleaseView;
  readonly active: ReleaseView;
  readonly languages: SiteLanguages;
  readonly basePath: string;
  readonly pages: SamePages;
}

export function versionNotice(files: SwitcherFiles, { release, active, languages, basePath, pages }: VersionPair) {
  const labels = { version: release.version, active: active.version };
  return async (path: string): Promise<PageAdditions> => {
    const page = await pages.find(addressAsked(path), release, active);
    return noticeIn(await languages.at(path), files, labels, basePath + encodeAddress(page));
  };
}

function addressAsked(path: string): string {
  return path.replace(/(?:^|(?<=\/))index\.html?$/i, '').replace(/^(?:.*\/)?404(?:\.html|\/)$/, '');
}

function noticeIn(
  { tag, direction, words: { versions: words } }: PageLanguage,
  { style }: SwitcherFiles,
  { version, active }: VersionLabels,
  address: string,
): PageAdditions {
  const text = (sentence: string, label: string): string => escapeToAscii(sentence.replace('{version}', () => label));
  const host = startTag('docshelf-versions', {
    role: 'navigation',
    'aria-label': words.list,
    lang: tag,
    dir: direction,
  });
  // Set a target, because client-side routers ignore links with a target. The browser then loads the page of the other version.
  const link = `${startTag('a', { href: address, target: '_self' })}${text(words.lead, active)}</a>`;
  return {
    head: [startTag('link', { rel: 'stylesheet', href: style })],
    body: [
      `${host}<p>${text(words.notice, version)} ${link}</p><span>${text(words.version, version)}</span></docshelf-versions>`,
    ],
  };
}

export function ownSearchNotices(version: string, own: readonly BundledSearch[], form: SearchBoxForm | null): string[] {
  return failingSearches(own).map(({ kind, state, needs }) => {
    const lack = state === 'hosted' ? `needs an external service, ${needs}` : `has no index, ${needs}`;
    const then = form?.replaces
      ? 'docshelf replaces it with its own search box'
      : 'to replace it, set "search.widget: replace"';
    return `The search box of version "${version}" (${kind}) ${lack}; ${then}.`;
  });
}

const NAMED_MAX = 2;

export function switcherNotice(version: string, { own }: VersionSurvey): string | null {
  if (own.length === 0) return null;
  const named = own.slice(0, NAMED_MAX).join(', ');
  const more = own.length <= NAMED_MAX ? '' : ` and ${own.length - NAMED_MAX} more`;
  return `docshelf adds no version switcher to version "${version}", because the bundle itself contains several versions (${named}${more}).`;
}

/** Number of file table entries to read before docshelf handles other requests. */
const ENTRIES_A_TURN = 2_048;

export type OwnSearches = (release: ReleaseView) => Promise<readonly BundledSearch[]>;

/** Lists the built-in searches of a bundle. Empty if pages cannot be read, because docshelf must still serve the version. */
export const ownSearches = (): OwnSearches => oncePerRelease<readonly BundledSearch[]>(readOwnSearches, []);

async function readOwnSearches({ files, pages, siteDir }: ReleaseView): Promise<readonly BundledSearch[]> {
  const { BundledSearchSurvey } = await import('../web/own-search.ts');
  const survey = new BundledSearchSurvey(pages);
  let turn = 0;
  for (const { path } of files.values()) {
    turn = (turn + 1) % ENTRIES_A_TURN;
    if (turn === 0) await setImmediate();
    survey.add(path);
  }
  const texts: string[] = [];
  for (const path of survey.pages) texts.push((await readHead(join(siteDir, path))).toString('latin1'));
  return survey.judge(texts);
}
