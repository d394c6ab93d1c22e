import type { ReleaseView } from '../domain/release.ts';
import { asciiHtml, NO_ADDITIONS, type PageAdditions, startTag } from '../web/additions/page-additions.ts';
import { failing, type OwnSearch } from '../web/own-search/survey.ts';
import { encodeAddress } from '../web/percent-encode.ts';
import { ENGLISH, PAGE_LANGUAGES, type PageLanguage } from '../web/words/index.ts';
import type { SiteLanguages } from './notices/site-languages.ts';
import type { SamePages } from './versions/same-page.ts';

/** The search box as the config has it; plain data. */
export interface SearchBoxForm {
  /** Addresses of its scripts, as pages name them. */
  readonly scripts: Readonly<Record<'loader' | 'replacing', string>>;
  /** True if it replaces a search box of the site that finds nothing here. */
  readonly replaces: boolean;
  /** True if readers may search all sites, too. */
  readonly isOfShelf: boolean;
}

/** Addresses of the files of the version switcher, as pages name them; plain data. */
export type SwitcherFiles = Readonly<Record<'script' | 'style', string>>;

/** Other versions, as far as the switcher depends on them. */
export interface VersionSurvey {
  /** True if readers may read another version. */
  readonly hasOthers: boolean;
  /** Folders of versions that the bundle contains itself. */
  readonly own: readonly string[];
}

/** Labels of a version and of the active one. */
interface VersionLabels {
  readonly version: string;
  readonly active: string;
}

/** @param version that the box searches. Null searches the active one */
export function searchBoxAdditions(
  form: SearchBoxForm | null,
  own: readonly OwnSearch[],
  version: string | null = null,
): PageAdditions {
  if (form === null) return NO_ADDITIONS;
  const replaced = form.replaces ? failing(own) : [];
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
  return { head: [...replaced.map(({ head }) => head), Object.fromEntries(scripts)], body: [] };
}

/** The switcher, unless the bundle contains versions and so has a switcher itself. */
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
  /** Base path of the site. */
  readonly basePath: string;
  readonly pages: SamePages;
}

/** To each page of a version that is not active, a notice that links to the same page of the active one. */
export function versionNotice(files: SwitcherFiles, { release, active, languages, basePath, pages }: VersionPair) {
  const labels = { version: release.version, active: active.version };
  return async (path: string): Promise<PageAdditions> => {
    const page = await pages.find(addressAsked(path), release, active);
    return noticeIn(await languages.at(path), files, labels, basePath + encodeAddress(page));
  };
}

/** Address of a file as readers request it. A 404 page is shown at any address, so its address is the root. */
function addressAsked(path: string): string {
  return path.replace(/(?:^|(?<=\/))index\.html?$/i, '').replace(/^(?:.*\/)?404(?:\.html|\/)$/, '');
}

function noticeIn(
  { tag, direction, words: { versions: words } }: PageLanguage,
  { style }: SwitcherFiles,
  { version, active }: VersionLabels,
  address: string,
): PageAdditions {
  const text = (sentence: string, label: string): string => asciiHtml(sentence.replace('{version}', () => label));
  const host = startTag('docshelf-versions', {
    role: 'navigation',
    'aria-label': words.list,
    lang: tag,
    dir: direction,
  });
  // Client-side routers ignore a link with a target.
  const link = `${startTag('a', { href: address, target: '_self' })}${text(words.lead, active)}</a>`;
  return {
    head: [startTag('link', { rel: 'stylesheet', href: style })],
    body: [
      `${host}<p>${text(words.notice, version)} ${link}</p><span>${text(words.version, version)}</span></docshelf-versions>`,
    ],
  };
}

/** Notices for operators about search boxes of a version's pages that find nothing here. */
export function ownSearchNotices(version: string, own: readonly OwnSearch[], form: SearchBoxForm | null): string[] {
  return failing(own).map(({ kind, state, needs }) => {
    const lack = state === 'hosted' ? `asks a service elsewhere, ${needs}` : `lacks its index, ${needs}`;
    const then = form?.replaces
      ? "docshelf's stands in its place"
      : `"search.widget: replace" puts docshelf's in its place`;
    return `The search box of version "${version}" (${kind}) ${lack}: ${then}.`;
  });
}

/** Notice for operators if the bundle contains versions itself. */
export function switcherNotice(version: string, { own }: VersionSurvey): string | null {
  if (own.length === 0) return null;
  const [first, second, ...others] = own;
  const named = [first, second].filter((folder) => folder !== undefined).join(', ');
  const more = others.length === 0 ? '' : ` and ${others.length} more`;
  return `The pages of version "${version}" have no switcher of docshelf's: the bundle holds versions of its own (${named}${more}).`;
}
