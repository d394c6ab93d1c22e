import { decodeHTMLAttribute } from 'entities/decode';
import { kindOfLink, RAW_TEXT, srcsetSpans } from './rewrite/markup/elements.ts';
import { MarkupScanner } from './rewrite/markup/scanner.ts';

type ReferenceKind = 'link' | 'canonical' | 'asset';

export interface Reference {
  /** Use of the address: readers follow a `link`, the page loads an `asset`, and `canonical` is the page's own address. */
  readonly kind: ReferenceKind;
  readonly tag: string;
  readonly attribute: string;
  readonly url: string;
}

export type PageReferences = { readonly base: string | null; readonly references: readonly Reference[] };

const URL_ATTRIBUTES: Readonly<Record<string, { readonly kind: ReferenceKind; readonly names: readonly string[] }>> = {
  a: { kind: 'link', names: ['href'] },
  area: { kind: 'link', names: ['href'] },
  audio: { kind: 'asset', names: ['src'] },
  embed: { kind: 'asset', names: ['src'] },
  iframe: { kind: 'asset', names: ['src'] },
  image: { kind: 'asset', names: ['href', 'xlink:href'] },
  img: { kind: 'asset', names: ['src'] },
  input: { kind: 'asset', names: ['src'] },
  link: { kind: 'asset', names: ['href'] },
  object: { kind: 'asset', names: ['data'] },
  script: { kind: 'asset', names: ['src'] },
  source: { kind: 'asset', names: ['src'] },
  track: { kind: 'asset', names: ['src'] },
  use: { kind: 'asset', names: ['href', 'xlink:href'] },
  video: { kind: 'asset', names: ['src', 'poster'] },
};

const URL_LISTS: Readonly<Record<string, string>> = { img: 'srcset', source: 'srcset', link: 'imagesrcset' };

function kindOfLinkElement(rel: string): ReferenceKind | null {
  const kind = kindOfLink(rel, '');
  if (kind === 'hint') return null;
  return kind === 'canonical' || kind === 'link' ? kind : 'asset';
}

interface PageOutline extends PageReferences {
  readonly pictures: readonly Reference[];
  /** Possible targets of fragments: each `id`, and the `name` of each `a` (HTML standard, "find a potential indicated element"). */
  readonly anchors: ReadonlySet<string>;
}

/**
 * Reads the tags of a page without building a tree (about 100 MB/s).
 * @param isOutline true to collect pictures and anchors too, which takes longer
 */
function collect(html: string, isOutline: boolean) {
  const found = {
    base: null as string | null,
    references: [] as Reference[],
    pictures: [] as Reference[],
    anchors: new Set<string>(),
  };
  const scanner = new MarkupScanner(html);
  const attributeOf = (name: string): string | null => {
    const written = scanner.attribute(name);
    return written === null ? null : decodeHTMLAttribute(written).trim();
  };
  const addReferences = (tag: string): void => {
    if (tag === 'base') found.base ??= attributeOf('href');
    const rule = URL_ATTRIBUTES[tag];
    if (rule === undefined) return;
    const kind = tag === 'link' ? kindOfLinkElement(attributeOf('rel') ?? '') : rule.kind;
    if (kind === null) return;
    for (const attribute of rule.names) {
      const url = attributeOf(attribute);
      if (url !== null && url !== '') found.references.push({ kind, tag, attribute, url });
    }
  };
  const addPicturesAndAnchors = (tag: string): void => {
    const list = URL_LISTS[tag];
    for (let index = 0; index < scanner.attributeCount; index++) {
      const name = scanner.attributeName(index);
      if (name !== 'id' && name !== list && !(name === 'name' && tag === 'a')) continue;
      const value = decodeHTMLAttribute(scanner.writtenValue(index));
      if (value === '' || scanner.indexOfAttribute(name) !== index) continue;
      if (name !== list) found.anchors.add(value);
      else for (const url of srcsetUrls(value)) found.pictures.push({ kind: 'asset', tag, attribute: name, url });
    }
  };
  scanner.read({
    onStartTag: () => {
      const tag = scanner.tagName;
      if (scanner.attributeCount > 0) {
        addReferences(tag);
        if (isOutline) addPicturesAndAnchors(tag);
      }
      if (!scanner.isHtml) return;
      // Read the content of `noscript` as markup, because browsers without scripts show it.
      if (tag === 'plaintext') scanner.skipAll();
      else if (tag !== 'noscript' && RAW_TEXT.has(tag)) scanner.skipRawText();
    },
  });
  return found;
}

export function findLinks(html: string): PageReferences {
  const { base, references } = collect(html, false);
  return { base, references };
}

export const outlinePage = (html: string): PageOutline => collect(html, true);

export const srcsetUrls = (srcset: string): string[] => srcsetSpans(srcset).map((span) => srcset.slice(...span));
