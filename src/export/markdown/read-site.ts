import MarkdownIt from 'markdown-it';
import type { ExportRequest, SiteSink } from '../../domain/job.ts';
import type { FoundFile } from '../sources/walk-folder.ts';
import { findLanguages, type Language, languageOfPage, translationKey } from './languages.ts';
import { countEntries, navigationOf, pagesBelow } from './navigation.ts';
import {
  addressOfStem,
  isNotFoundStem,
  isPageSource,
  MarkdownTargets,
  namesOfPage,
  type Page,
  stemOf,
  titleOfName,
} from './page.ts';
import {
  decodeText,
  type FrontMatter,
  PAGE_BYTES_MAX,
  type PageText,
  readFolder,
  readPage,
  readSource,
} from './read-page.ts';
import { readSettings, SETTINGS_FILE, type SiteSettings, type Tone } from './settings.ts';

interface SiteOptions extends ExportRequest {
  readonly dir: string;
  readonly signal: AbortSignal;
  readonly find: SiteSink['find'];
}

export type LanguageSite = ReturnType<typeof siteOfLanguage>;
export type MarkdownSite = Awaited<ReturnType<typeof readSite>>;

const DEFAULT_TONE: Tone = { hue: 165, tint: 1 };
const FAVICONS = ['favicon.svg', 'favicon.ico', 'favicon.png'];
const COMPONENT_SOURCE = /\.mdx$/i;

export async function readSite(options: SiteOptions) {
  const { find, version } = options;
  const files = await readFolder(options.dir, find, options.signal);
  const settingsFile = files.find(({ path }) => path === SETTINGS_FILE);
  const settingsText =
    settingsFile === undefined ? null : decodeText(await readSource(settingsFile, PAGE_BYTES_MAX)).text;
  const settings = readSettings(settingsText, version, find);
  for (const { path } of files) {
    if (!COMPONENT_SOURCE.test(path)) continue;
    find({
      kind: 'left_out',
      page: path,
      detail: 'docshelf does not render MDX; rename it to .md if it is plain Markdown',
    });
  }
  const assets = files.filter(
    ({ path }) => !isPageSource(path) && path !== SETTINGS_FILE && !COMPONENT_SOURCE.test(path),
  );
  const assetPaths = new Set(assets.map(({ path }) => path));
  const fileOf = (written: string | null | undefined, key: string): string | null => {
    const path = written?.replace(/^(?:\.?\/)+/, '') ?? null;
    if (path === null || assetPaths.has(path)) return path;
    const detail = `"${key}" names "${written}", which does not exist`;
    find({ kind: 'missing_file', page: SETTINGS_FILE, detail });
    return null;
  };
  const drafts = await readDrafts(files, find, options.signal);
  const paths = drafts.map(({ source }) => source.path);
  const named = drafts.flatMap(({ matter }) => matter.language ?? []);
  const languages = findLanguages(settings.languages, settings.language, paths, named);
  const set = makePages(drafts, languages, options, assetPaths);
  const targets = new MarkdownTargets(set.pages, set.excludedNames, assetPaths);
  const sites = languages.map((language) => siteOfLanguage(language, languages, settings, set, targets, find));
  const root = set.pages.find(({ address }) => address === '') ?? sites[0]?.home ?? null;
  const rendered = new Set(set.pages.map(({ path }) => path));
  const byKey = Map.groupBy(set.pages, ({ key }) => key);
  // Placeholder for a missing `url`. Nobody can own a site in the reserved domain `.example` (RFC 2606).
  const standIn = `https://${options.domain}.example`;
  if (settings.url === null) {
    const detail = `"url" is not set, so canonical addresses begin with ${standIn}`;
    find({ kind: 'no_url', page: SETTINGS_FILE, detail });
  }
  const light = fileOf(settings.logo?.light, 'logo');
  const dark = fileOf(settings.logo?.dark, 'logo');
  const logo = light ?? dark;
  return {
    name: settings.name ?? root?.title ?? options.domain,
    description: settings.description ?? root?.description ?? null,
    url: settings.url ?? standIn,
    version,
    tone: settings.tone ?? DEFAULT_TONE,
    logo: logo === null ? null : { light: light ?? logo, dark: dark ?? logo },
    favicon: fileOf(settings.favicon, 'favicon') ?? FAVICONS.find((path) => assetPaths.has(path)) ?? null,
    css: fileOf(settings.css, 'css'),
    links: settings.links,
    footer: settings.footer,
    languages: sites.filter(({ listed, unlisted }, index) => index === 0 || listed.length + unlisted.length > 0),
    pages: sites.flatMap(({ listed, unlisted }) => [...listed, ...unlisted]),
    assets: assets.filter(({ path }) => !rendered.has(path)),
    targets,
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
    entries: countEntries(navigation),
    listed,
    unlisted: pages.filter((page) => !names.has(page)),
    home: pages.find(({ key }) => key === '') ?? listed[0] ?? pages[0] ?? null,
    notFound: set.notFound.get(language.folder) ?? null,
  };
}

interface Draft {
  readonly source: FoundFile;
  readonly stem: string;
  readonly matter: FrontMatter;
  readonly title: string;
}

async function readDrafts(files: readonly FoundFile[], find: SiteSink['find'], signal: AbortSignal) {
  const sources = files.filter(({ path }) => isPageSource(path));
  const stems = new Set(sources.map(({ path }) => path.replace(/\.[^.]*$/, '')));
  const drafts: Draft[] = [];
  const plainTitle = titleReader();
  for (const source of sources) {
    signal.throwIfAborted();
    const page = await readPage(source, find);
    const { matter } = page;
    if (matter.isDraft) {
      find({ kind: 'left_out', page: source.path, detail: 'it is a draft' });
      continue;
    }
    const stem = stemOf(source.path, (index) => stems.has(index));
    drafts.push({
      source,
      stem,
      matter,
      title: matter.title ?? plainTitle(page) ?? titleOfName(stem.replace(/\/index$/, '').replace(/^.*\//, '')),
    });
  }
  return drafts;
}

/** Matches the label in the definition of a reference link, `[label]: address`. */
const DEFINITION = /^ {0,3}\[([^[\]\n]+)\]:/gm;

function titleReader() {
  const markdown = new MarkdownIt({ html: true });
  const { normalizeReference } = markdown.utils;
  return ({ heading, text }: PageText): string | null => {
    const labels = Array.from(text.matchAll(DEFINITION), ([, label = '']) => normalizeReference(label));
    const references = Object.fromEntries(labels.map((label) => [label, { href: '', title: '' }]));
    const [inline] = markdown.parseInline(heading ?? '', { references });
    const texts = (inline?.children ?? []).map(({ type, content }) => (type === 'html_inline' ? '' : content));
    return texts.join('').trim() || null;
  };
}

interface PageSet {
  readonly pages: readonly Page[];
  /** Source paths and alternative names of pages that are not exported: pages for later versions, and pages outside `paths`. */
  readonly excludedNames: ReadonlySet<string>;
  readonly notFound: ReadonlyMap<string, FoundFile>;
}

function makePages(
  drafts: readonly Draft[],
  languages: readonly Language[],
  options: SiteOptions,
  assets: ReadonlySet<string>,
): PageSet {
  const pages: Page[] = [];
  const later: Page[] = [];
  const notFound = new Map<string, FoundFile>();
  const byPath = new Map<string, Page>();
  const report = (page: string, detail: string) => options.find({ kind: 'duplicate_path', page, detail });
  for (const draft of drafts) {
    if (isNotFoundStem(draft.stem)) {
      notFound.set(draft.stem.replace(/404$/, ''), draft.source);
      continue;
    }
    const page = makePage(draft, languages, options.version);
    const taken = byPath.get(page.path)?.source.path;
    if (taken !== undefined) {
      report(draft.source.path, `its page would have the path ${page.path}, which the page of ${taken} already has`);
      continue;
    }
    if (assets.has(page.path))
      report(page.path, `the page of ${draft.source.path} has the same path and replaces this file`);
    byPath.set(page.path, page);
    (isLater(draft.matter.since, options.version) ? later : pages).push(page);
  }
  const chosen = choose(pages, assets, options);
  const kept = new Set(chosen);
  const excluded = [...later, ...pages.filter((page) => !kept.has(page))];
  const excludedNames = excluded.flatMap((page) => [page.source.path, ...namesOfPage(page)]);
  return { pages: chosen, excludedNames: new Set(excludedNames), notFound };
}

function makePage({ source, stem, matter, title }: Draft, languages: readonly Language[], version: string | null) {
  const address = addressOfStem(stem);
  const language = languageOfPage(source.path, matter.language, languages);
  return {
    source,
    path: `${stem}.html`,
    markdownPath: `${stem}.md`,
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

/** True if `since` is a later version or date than `version`. Compares numbers by value, so `v1.10` is later than `v1.9`. */
function isLater(since: string | null, version: string | null): boolean {
  return since !== null && version !== null && new Intl.Collator('en', { numeric: true }).compare(since, version) > 0;
}

function choose(pages: readonly Page[], assets: ReadonlySet<string>, { paths, find }: SiteOptions): readonly Page[] {
  if (paths === null) return pages;
  const targets = new MarkdownTargets(pages, new Set(), assets);
  const chosen = new Set<Page>();
  for (const path of paths) {
    const page = targets.page(path);
    if (page === null || page === 'excluded')
      find({ kind: 'path_not_found', page: path, detail: 'no page of the site has this path' });
    else chosen.add(page);
  }
  return pages.filter((page) => chosen.has(page));
}
