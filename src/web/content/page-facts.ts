import {
  attributeOf,
  type Element,
  elementsOf,
  findElement,
  isElement,
  oneLine,
  type Parent,
  rawText,
} from './tree.ts';

export interface PageFacts {
  readonly language: string | null;
  readonly version: string | null;
  readonly tags: readonly string[];
  readonly documentTitle: string;
  readonly socialTitle: string;
  readonly siteName: string;
  readonly description: string;
  readonly canonical: string | null;
  readonly base: string | null;
  readonly isNoindex: boolean;
  readonly isRedirect: boolean;
}

const TAGS_MAX = 50;
const TAG_LENGTH_MAX = 100;
const VERSION_LENGTH_MAX = 128;
/** Maximum length of a language tag in UTF-16 code units. BCP 47 tags in use have up to 20. */
const LANGUAGE_LENGTH_MAX = 100;

const VERSION_NAMES = ['docsearch:version', 'docusaurus_version', 'readthedocs-version-slug', 'doc:version'];
const DOCUSAURUS_TAG = /^docs-.+?-(.+)$/;
const DOCUSAURUS_CLASS = /(?:^|\s)docs-version-(\S+)/;

/**
 * Matches the version in Sphinx's options, which Sphinx before version 7 writes into each page. Later Sphinx versions write
 * them into a script file.
 */
const SPHINX_VERSION = /DOCUMENTATION_OPTIONS\b[\s\S]{0,400}?\bVERSION:\s*(['"])(.{0,128}?)\1/;

export const sphinxVersion = (script: string): string | null => SPHINX_VERSION.exec(script)?.[2]?.trim() || null;

type Metadata = ReadonlyMap<string, readonly string[]>;

function readMetadata(head: Parent): Metadata {
  const found = elementsOf(head).flatMap((element): [key: string, content: string][] => {
    const content = element.tagName === 'meta' ? attributeOf(element, 'content') : null;
    if (content === null) return [];
    const name = attributeOf(element, 'name') ?? attributeOf(element, 'property') ?? attributeOf(element, 'itemprop');
    return [[(name ?? `http-equiv:${attributeOf(element, 'http-equiv') ?? ''}`).trim().toLowerCase(), content]];
  });
  const byKey = Map.groupBy(found, ([key]) => key);
  return new Map(Array.from(byKey, ([key, entries]) => [key, entries.map(([, content]) => content)]));
}

export function readFacts(html: Element, head: Parent): PageFacts {
  const metadata = readMetadata(head);
  const first = (name: string): string => oneLine(metadata.get(name)?.[0] ?? '');
  const title = findElement(head, ({ tagName }) => tagName === 'title');
  const canonical = findElement(
    head,
    (element) => element.tagName === 'link' && /(?:^|\s)canonical(?:\s|$)/i.test(attributeOf(element, 'rel') ?? ''),
  );
  const language =
    attributeOf(html, 'lang') ??
    attributeOf(html, 'xml:lang') ??
    (languageOfBody(html) || first('docsearch:language') || first('http-equiv:content-language'));
  return {
    language: language.trim().slice(0, LANGUAGE_LENGTH_MAX) || null,
    version: readVersion(html, head, metadata),
    tags: readTags(metadata),
    documentTitle: title === null ? '' : oneLine(rawText(title)),
    socialTitle: first('og:title'),
    siteName: first('og:site_name'),
    description: first('description') || first('og:description'),
    canonical: (canonical === null ? null : attributeOf(canonical, 'href')) ?? (first('og:url') || null),
    base: baseOf(head),
    isNoindex: (metadata.get('robots') ?? []).some((content) =>
      /(?:^|[\s,])(?:noindex|none)(?:[\s,]|$)/i.test(content),
    ),
    isRedirect: (metadata.get('http-equiv:refresh') ?? []).some((content) => /url\s*=/i.test(content)),
  };
}

/** Some templates write the `lang` attribute on the body, or on the body's only child. */
function languageOfBody(html: Element): string | null {
  const body = html.childNodes.filter(isElement).find(({ tagName }) => tagName === 'body');
  const [own = null, ...others] = body?.childNodes.filter(isElement) ?? [];
  return (body && attributeOf(body, 'lang')) ?? (own !== null && others.length === 0 ? attributeOf(own, 'lang') : null);
}

function baseOf(head: Parent): string | null {
  const base = findElement(head, (element) => element.tagName === 'base' && attributeOf(element, 'href') !== null);
  return base === null ? null : attributeOf(base, 'href');
}

function readVersion(html: Element, head: Parent, metadata: Metadata): string | null {
  const named = VERSION_NAMES.flatMap((name) => metadata.get(name) ?? []);
  const scopes = ['docsearch:docusaurus_tag', 'docusaurus_tag'].flatMap((name) => metadata.get(name) ?? []);
  const candidates = [
    // The metadata of a page may list several versions, separated by commas. The first of them is the version of the page.
    ...named.map((content) => content.split(',')[0]),
    ...scopes.map((scope) => DOCUSAURUS_TAG.exec(scope)?.[1]),
    DOCUSAURUS_CLASS.exec(attributeOf(html, 'class') ?? '')?.[1],
  ];
  const isVersion = (version: string) => version !== '' && version.length <= VERSION_LENGTH_MAX;
  const version = candidates.map((candidate) => oneLine(candidate ?? '')).find(isVersion);
  if (version !== undefined) return version;
  const options = findElement(
    head,
    (element) => element.tagName === 'script' && rawText(element).includes('DOCUMENTATION_OPTIONS'),
  );
  return options === null ? null : sphinxVersion(rawText(options));
}

function readTags(metadata: Metadata): string[] {
  const tags = new Set<string>();
  for (const [name, contents] of metadata) {
    const isFacet = name.startsWith('docsearch:') && !/:(?:language|version|docusaurus_tag)$/.test(name);
    if (!isFacet && name !== 'keywords' && name !== 'article:tag') continue;
    for (const tag of contents.flatMap((content) => content.split(','))) {
      const clean = oneLine(tag);
      if (clean !== '' && clean.length <= TAG_LENGTH_MAX && tags.size < TAGS_MAX) tags.add(clean);
    }
  }
  return [...tags];
}

/** Separators of title and site name. Excludes the hyphen, which may be part of a title: `Tutorial - Basics`. */
const SEPARATOR = / (?:\||–|—|·|»|::) /g;
const SEPARATOR_OR_HYPHEN = / (?:\||–|—|·|»|::|-) /g;

export const TITLE_LENGTH_MAX = 300;

/** Returns the first `h1` of the page, or else `og:title` or `<title>` without the site's name, or else the first heading. */
export function pageTitle(facts: PageFacts, mainHeading: string, firstHeading: string): string {
  const written = facts.socialTitle || facts.documentTitle;
  const title = mainHeading || withoutSiteName(written, facts.siteName, firstHeading) || firstHeading;
  return title.slice(0, TITLE_LENGTH_MAX).toWellFormed();
}

export function otherTitle(facts: PageFacts, title: string, firstHeading: string): string | null {
  const other = withoutSiteName(facts.documentTitle, facts.siteName, firstHeading);
  return other === '' || other === title ? null : other.slice(0, TITLE_LENGTH_MAX).toWellFormed();
}

function withoutSiteName(written: string, siteName: string, firstHeading: string): string {
  if (written.split(SEPARATOR_OR_HYPHEN).includes(firstHeading)) return firstHeading;
  const separators = [...written.matchAll(siteName === '' ? SEPARATOR : SEPARATOR_OR_HYPHEN)];
  const first = separators[0];
  const last = separators.at(-1);
  if (first === undefined || last === undefined) return written;
  if (siteName === '' || written.slice(last.index + last[0].length) === siteName) return written.slice(0, last.index);
  return written.slice(0, first.index) === siteName ? written.slice(first.index + first[0].length) : written;
}

const NOT_FOUND_PATH = /(?:^|\/)(?:404|_not-found)(?:\.x?html?|\/index\.x?html?)$/i;

/** Matches pages that contain all pages of a site, for printing: mdBook's `print.html`, MkDocs' `print_page/`. */
const PRINT_PATH = /(?:^|\/)print(?:[_-](?:page|site))?(?:\.x?html?|\/index\.x?html?)$/i;

const SEARCH_PATH = /(?:^|\/)search(?:\.html|\/index\.html)$/;

/** Matches Sphinx's listings of source code. Sphinx's own search also omits these listings. */
const SOURCE_PATH = /(?:^|\/)_modules\//;

const INDEX_CLASSES = /(?:^|\s)(?:genindex-jumpbox|modindex-jumpbox|indexdiv)(?:\s|$)/;

const LISTING_CLASSES =
  /(?:^|\s)(?:blog-list-page|blog-tags-list-page|blog-tags-post-list-page|blog-authors-list-page|blog-authors-posts-page|search-page-wrapper|search-page)(?:\s|$)/;

export function isUnlisted(
  { path, html: text }: { readonly path: string; readonly html: string },
  html: Element,
  facts: PageFacts,
): boolean {
  if (facts.isNoindex || facts.isRedirect) return true;
  if (NOT_FOUND_PATH.test(path) || LISTING_CLASSES.test(attributeOf(html, 'class') ?? '')) return true;
  return isPrintPage(path, html) || isIndexPage(path, text, html);
}

/**
 * True if the page contains the whole book, for printing. In a subfolder, a page named `print` may be about printing, so it
 * also needs several first-level headings.
 */
function isPrintPage(path: string, html: Element): boolean {
  if (!PRINT_PATH.test(path)) return false;
  if (/^[^/]+(?:\/index\.x?html?)?$/i.test(path)) return true;
  const headings = elementsOf(html).filter(({ tagName }) => tagName === 'h1');
  return headings.take(2).toArray().length === 2;
}

function isIndexPage(path: string, text: string, html: Element): boolean {
  const mayBeIndex = /genindex-jumpbox|modindex-jumpbox|indexdiv/.test(text);
  const mayBeSearch = SEARCH_PATH.test(path);
  const mayBeSource = SOURCE_PATH.test(path);
  if (!mayBeIndex && !mayBeSearch && !mayBeSource) return false;
  for (const element of elementsOf(html)) {
    if (element.tagName === 'div' && INDEX_CLASSES.test(attributeOf(element, 'class') ?? '')) return true;
    // Recognize Sphinx's search page by its empty element for results, which a script fills.
    if (mayBeSearch && attributeOf(element, 'id') === 'search-results' && rawText(element).trim() === '') return true;
    if (mayBeSource && attributeOf(element, 'src')?.includes('documentation_options.js')) return true;
  }
  return false;
}
