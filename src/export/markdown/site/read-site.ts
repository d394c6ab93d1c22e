import type { ExportRequest, SiteSink } from '../../../domain/job.ts';
import { readFolder, readSource } from '../source/read-folder.ts';
import { decodeText, PAGE_BYTES_MAX } from '../source/read-page.ts';
import { readSettings, SETTINGS_FILE, type SiteSettings } from '../source/settings.ts';
import type { Tone } from '../source/tone.ts';
import { findLanguages, type Language } from './languages.ts';
import { makePages, type PageSet, readDrafts } from './make-pages.ts';
import { navigationOf, pagesBelow } from './navigation.ts';
import { isPageSource, type Page } from './page.ts';
import { MarkdownTargets } from './targets.ts';

interface SiteOptions extends ExportRequest {
  readonly dir: string;
  readonly signal: AbortSignal;
  readonly find: SiteSink['find'];
}

export type LanguageSite = ReturnType<typeof siteOfLanguage>;
export type Site = Awaited<ReturnType<typeof readSite>>;

const DEFAULT_TONE: Tone = { hue: 165, tint: 1 };
const FAVICONS = ['favicon.svg', 'favicon.ico', 'favicon.png'];
/** Sources of other programs, of no use to a reader. */
const COMPONENT_SOURCE = /\.mdx$/i;

/** Reads everything of a folder but the text of its pages. @throws DocshelfError `bad_source` */
export async function readSite(options: SiteOptions) {
  const { find, version } = options;
  const files = await readFolder(options.dir, find, options.signal);
  const settingsFile = files.find(({ path }) => path === SETTINGS_FILE);
  const settingsText =
    settingsFile === undefined ? null : decodeText(await readSource(settingsFile, PAGE_BYTES_MAX)).text;
  const settings = readSettings(settingsText, version, find);
  for (const { path } of files) {
    if (!COMPONENT_SOURCE.test(path)) continue;
    find({ kind: 'left_out', page: path, detail: 'MDX is not rendered: name it .md if it is plain Markdown' });
  }
  const assets = files.filter(
    ({ path }) => !isPageSource(path) && path !== SETTINGS_FILE && !COMPONENT_SOURCE.test(path),
  );
  const assetPaths = new Set(assets.map(({ path }) => path));
  const fileOf = (written: string | null | undefined, key: string): string | null => {
    const path = written?.replace(/^(?:\.?\/)+/, '') ?? null;
    if (path === null || assetPaths.has(path)) return path;
    const detail = `"${key}" names "${written}", and there is no such file`;
    find({ kind: 'missing_file', page: SETTINGS_FILE, detail });
    return null;
  };
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
  // Never resolves (RFC 2606), so that nobody is led to another's site.
  const standIn = `https://${options.domain}.example`;
  if (settings.url === null) {
    const detail = `no "url" is set: canonical addresses begin with ${standIn}`;
    find({ kind: 'no_url', page: SETTINGS_FILE, detail });
  }
  const light = fileOf(settings.logo?.light, 'logo');
  const dark = fileOf(settings.logo?.dark, 'logo');
  const logo = light ?? dark;
  return {
    name: settings.name ?? root?.title ?? options.domain,
    description: settings.description ?? root?.description ?? null,
    /** Canonical addresses begin with it; no slash at its end. */
    url: settings.url ?? standIn,
    version,
    tone: settings.tone ?? DEFAULT_TONE,
    logo: logo === null ? null : { light: light ?? logo, dark: dark ?? logo },
    favicon: fileOf(settings.favicon, 'favicon') ?? FAVICONS.find((path) => assetPaths.has(path)) ?? null,
    css: fileOf(settings.css, 'css'),
    links: settings.links,
    footer: settings.footer,
    /** The default one first. One whose pages are all left out has nothing to switch to. */
    languages: sites.filter(({ listed, unlisted }, index) => index === 0 || listed.length + unlisted.length > 0),
    pages: sites.flatMap(({ listed, unlisted }) => [...listed, ...unlisted]),
    /** Passed on as they are; a rendered page goes before a file of the same path. */
    assets: assets.filter(({ path }) => !rendered.has(path)),
    targets,
    /** The same page in every language that has it, itself among them. */
    translationsOf: (page: Page): readonly Page[] => byKey.get(page.key) ?? [],
  };
}

function siteOfLanguage(
  language: Language,
  languages: readonly Language[],
  settings: SiteSettings,
  set: PageSet,
  targets: MarkdownTargets,
  find: SiteSink['find'],
) {
  const pages = set.pages.filter((page) => page.language === language.code);
  const site = { navigation: settings.navigation, isDefault: language === languages[0] };
  const navigation = navigationOf(language, pages, site, (name) => targets.page(name), find);
  const names = new Set(pagesBelow(navigation).filter((page) => page.language === language.code));
  const listed = [...names];
  return {
    language,
    navigation,
    listed,
    unlisted: pages.filter((page) => !names.has(page)),
    home: pages.find(({ key }) => key === '') ?? listed[0] ?? pages[0] ?? null,
    /** Source of its 404 page; null: the theme's. */
    notFound: set.notFound.get(language.folder) ?? null,
  };
}
