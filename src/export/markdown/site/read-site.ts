import type { ExportRequest, Finding } from '../../../domain/job.ts';
import type { FoundFile } from '../../sources/walk-folder.ts';
import { readFolder, readSource } from '../source/read-folder.ts';
import { decodeText, PAGE_BYTES_MAX } from '../source/read-page.ts';
import { readSettings, SETTINGS_FILE, type SiteLink, type SiteSettings } from '../source/settings.ts';
import type { Tone } from '../source/tone.ts';
import { findLanguages, type Language } from './languages.ts';
import { makePages, type PageSet, readDrafts } from './make-pages.ts';
import { type NavigationNode, navigationOf, pagesIn } from './navigation.ts';
import { isPageSource, type Page } from './page.ts';
import { MarkdownTargets } from './targets.ts';

export interface SiteOptions extends ExportRequest {
  readonly dir: string;
  readonly signal: AbortSignal;
  find(finding: Finding): void;
}

/** The part of a site that is in one language. */
export interface LanguageSite {
  readonly language: Language;
  readonly navigation: readonly NavigationNode[];
  /** In a reader's order: those of the navigation, which lead from one to the next. */
  readonly listed: readonly Page[];
  /** The pages that the navigation does not name. */
  readonly unlisted: readonly Page[];
  /** The language's first page. */
  readonly home: Page | null;
  /** Source of its page for what is not there, or null where the theme's is used. */
  readonly notFound: FoundFile | null;
}

/** Everything of a site but the text of its pages. */
export interface Site {
  readonly name: string;
  readonly description: string | null;
  /** Its public address without a trailing slash; canonical addresses begin with it. */
  readonly url: string;
  readonly version: string | null;
  readonly tone: Tone;
  /** Paths of files of the site. */
  readonly logo: { readonly light: string; readonly dark: string } | null;
  readonly favicon: string | null;
  readonly css: string | null;
  readonly links: readonly SiteLink[];
  readonly footer: string | null;
  /** The default language first. */
  readonly languages: readonly LanguageSite[];
  /** All pages, in the order of the languages and their readers. */
  readonly pages: readonly Page[];
  /** The files that are passed on as they are. */
  readonly assets: readonly FoundFile[];
  readonly targets: MarkdownTargets;
  /** The same page in every language that has it, itself among them. */
  translationsOf(page: Page): readonly Page[];
}

/** docshelf's own green. */
const DEFAULT_TONE: Tone = { hue: 165, tint: 1 };
const FAVICONS = ['favicon.svg', 'favicon.ico', 'favicon.png'];
/** Sources of what other programs make pages from; a reader cannot use them as they are. */
const COMPONENT_SOURCE = /\.mdx$/i;

/** Reads a folder whole, apart from the text of its pages. @throws DocshelfError `bad_source` */
export async function readSite(options: SiteOptions): Promise<Site> {
  const { find, version } = options;
  const files = await readFolder(options.dir, find, options.signal);
  const settings = readSettings(await readSettingsText(files), version, find);
  const assets = files.filter(({ path }) => !isPageSource(path) && path !== SETTINGS_FILE && !isComponent(path, find));
  const assetPaths = new Set(assets.map(({ path }) => path));

  const drafts = await readDrafts(files, find, options.signal);
  const languages = findLanguages({
    declared: settings.languages,
    defaultCode: settings.language,
    pages: drafts.map(({ source }) => source.path),
    named: drafts.flatMap(({ matter }) => matter.language ?? []),
  });
  const set = makePages(drafts, languages, options, assetPaths);
  const targets = new MarkdownTargets(set.pages, set.excludedNames, assetPaths);
  const sites = languages.map((language) => siteOfLanguage(language, languages, settings, set, targets, find));
  const root = set.pages.find(({ address }) => address === '') ?? sites[0]?.home ?? null;
  const rendered = new Set(set.pages.map(({ path }) => path));
  const byKey = Map.groupBy(set.pages, ({ key }) => key);
  if (settings.url === null) {
    find({
      kind: 'no_url',
      page: SETTINGS_FILE,
      detail: `no "url" is set: canonical addresses begin with ${standInUrl(options)}`,
    });
  }
  return {
    name: settings.name ?? root?.title ?? options.domain,
    description: settings.description ?? root?.description ?? null,
    url: settings.url ?? standInUrl(options),
    version,
    tone: settings.tone ?? DEFAULT_TONE,
    logo: logoOf(settings, assetPaths, find),
    favicon: faviconOf(settings, assetPaths, find),
    css: fileOf(settings.css, 'css', assetPaths, find),
    links: settings.links,
    footer: settings.footer,
    // A language whose pages are all left out has nothing to switch to.
    languages: sites.filter(({ listed, unlisted }, index) => index === 0 || listed.length + unlisted.length > 0),
    pages: sites.flatMap(({ listed, unlisted }) => [...listed, ...unlisted]),
    // A rendered page goes before a file of the same path.
    assets: assets.filter(({ path }) => !rendered.has(path)),
    targets,
    translationsOf: (page) => byKey.get(page.key) ?? [],
  };
}

/** Never resolves (RFC 2606), so that nobody is led to another's site. */
function standInUrl({ domain }: SiteOptions): string {
  return `https://${domain}.example`;
}

async function readSettingsText(files: readonly FoundFile[]): Promise<string | null> {
  const source = files.find(({ path }) => path === SETTINGS_FILE);
  return source === undefined ? null : decodeText(await readSource(source, PAGE_BYTES_MAX)).text;
}

function isComponent(path: string, find: (finding: Finding) => void): boolean {
  if (!COMPONENT_SOURCE.test(path)) return false;
  find({ kind: 'left_out', page: path, detail: 'MDX is not rendered: name it .md if it is plain Markdown' });
  return true;
}

function siteOfLanguage(
  language: Language,
  languages: readonly Language[],
  settings: SiteSettings,
  set: PageSet,
  targets: MarkdownTargets,
  find: (finding: Finding) => void,
): LanguageSite {
  const pages = set.pages.filter((page) => page.language === language.code);
  const site = { navigation: settings.navigation, isDefault: language === languages[0] };
  const navigation = navigationOf(language, pages, site, (name) => targets.page(name), find);
  const listed = pagesIn(navigation).filter((page) => page.language === language.code);
  const names = new Set(listed);
  return {
    language,
    navigation,
    listed,
    unlisted: pages.filter((page) => !names.has(page)),
    home: pages.find(({ key }) => key === '') ?? listed[0] ?? pages[0] ?? null,
    notFound: set.notFound.get(language.folder) ?? null,
  };
}

function logoOf(settings: SiteSettings, files: ReadonlySet<string>, find: (finding: Finding) => void): Site['logo'] {
  const light = fileOf(settings.logo?.light ?? null, 'logo', files, find);
  const dark = fileOf(settings.logo?.dark ?? null, 'logo', files, find);
  const either = light ?? dark;
  return either === null ? null : { light: either, dark: dark ?? either };
}

function faviconOf(
  settings: SiteSettings,
  files: ReadonlySet<string>,
  find: (finding: Finding) => void,
): string | null {
  return fileOf(settings.favicon, 'favicon', files, find) ?? FAVICONS.find((path) => files.has(path)) ?? null;
}

function fileOf(
  written: string | null,
  key: string,
  files: ReadonlySet<string>,
  find: (finding: Finding) => void,
): string | null {
  const path = written?.replace(/^(?:\.?\/)+/, '') ?? null;
  if (path === null || files.has(path)) return path;
  find({ kind: 'missing_file', page: SETTINGS_FILE, detail: `"${key}" names "${written}", and there is no such file` });
  return null;
}
