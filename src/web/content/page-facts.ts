import { attributeOf, type Element, elementsOf, findElement, oneLine, type Parent, rawText } from './tree.ts';

export interface PageFacts {
  readonly language: string | null;
  readonly version: string | null;
  readonly tags: readonly string[];
  /** As written, empty where there is none. */
  readonly documentTitle: string;
  readonly socialTitle: string;
  readonly siteName: string;
  readonly description: string;
  /** `link rel=canonical`, else `og:url`. */
  readonly canonical: string | null;
  readonly base: string | null;
  readonly isNoindex: boolean;
  readonly isRedirect: boolean;
}

const TAGS_MAX = 50;
const TAG_LENGTH_MAX = 100;
const VERSION_LENGTH_MAX = 128;
/** UTF-16 code units: BCP 47 tags in use have 20. */
const LANGUAGE_LENGTH_MAX = 100;

/** The most explicit first. */
const VERSION_NAMES = ['docsearch:version', 'docusaurus_version', 'readthedocs-version-slug', 'doc:version'];
/** `docs-<plugin>-<version>`: the scope that Docusaurus searches in. */
const DOCUSAURUS_TAG = /^docs-.+?-(.+)$/;
const DOCUSAURUS_CLASS = /(?:^|\s)docs-version-(\S+)/;

/** Sphinx before 7 writes its options into each page, later ones into a file of their own. */
const SPHINX_VERSION = /DOCUMENTATION_OPTIONS\b[\s\S]{0,400}?\bVERSION:\s*(['"])(.{0,128}?)\1/;

/** @param script a page's own, or `_static/documentation_options.js` */
export function sphinxVersion(script: string): string | null {
  return SPHINX_VERSION.exec(script)?.[2]?.trim() || null;
}

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
  const language = attributeOf(html, 'lang') ?? attributeOf(html, 'xml:lang') ?? first('docsearch:language');
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

function baseOf(head: Parent): string | null {
  const base = findElement(head, (element) => element.tagName === 'base' && attributeOf(element, 'href') !== null);
  return base === null ? null : attributeOf(base, 'href');
}

function readVersion(html: Element, head: Parent, metadata: Metadata): string | null {
  const named = VERSION_NAMES.flatMap((name) => metadata.get(name) ?? []);
  const scopes = ['docsearch:docusaurus_tag', 'docusaurus_tag'].flatMap((name) => metadata.get(name) ?? []);
  const candidates = [
    // One page may be of several versions, parted by commas: the first is its own.
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

/** What a page gives to a hosted search counts too: its own search filters by that. */
function readTags(metadata: Metadata): string[] {
  const tags = new Set<string>();
  for (const [name, contents] of metadata) {
    const isFacet = name.startsWith('docsearch:') && name !== 'docsearch:language' && name !== 'docsearch:version';
    if (!isFacet && name !== 'keywords' && name !== 'article:tag') continue;
    for (const tag of contents.flatMap((content) => content.split(','))) {
      const clean = oneLine(tag);
      if (clean !== '' && clean.length <= TAG_LENGTH_MAX && tags.size < TAGS_MAX) tags.add(clean);
    }
  }
  return [...tags];
}
