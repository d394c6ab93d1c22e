import { parse } from 'parse5';
import type { Section } from '../section.ts';
import { ContentReader } from './content-reader.ts';
import { contentRoot } from './content-root.ts';
import { isLeftOut } from './left-out.ts';
import { readableMarkup } from './markup.ts';
import { readFacts } from './page-facts.ts';
import { toSections } from './sections.ts';
import { PageAddress } from './site-address.ts';
import { findElement, isElement, type Parent } from './tree.ts';

export { Duplicates, type PageRank, rankOf } from './duplicates.ts';
export { sphinxVersion } from './page-facts.ts';
export { cutPassages } from './passages.ts';
export { PageForms, readerUrl } from './reader-url.ts';

interface PageInput {
  readonly path: string;
  readonly html: string;
  /** From `readerUrl`: `/guides/start`, `/guides/start/` or `/guides/start.html`. */
  readonly url: string;
  /** For a page that says none: the bundle's manifest's, or that of Sphinx's options file. */
  readonly version?: string | null;
  readonly tags?: readonly string[];
}

export interface ExtractedPage {
  readonly page: string;
  readonly canonical: string | null;
  readonly title: string;
  readonly language: string | null;
  readonly version: string | null;
  readonly tags: readonly string[];
  /** At least one; two may share a path. */
  readonly sections: readonly Section[];
  /** Paths on this site that the content (not the navigation) links to, each once. */
  readonly links: readonly string[];
}

/** Null for `noindex`, errors, redirects, print pages, indexes, listings, and pages without content. */
export function extractPage(input: PageInput): ExtractedPage | null {
  const document = parse(readableMarkup(input.path, input.html));
  const html = document.childNodes.find(isElement);
  if (html === undefined) return null;
  const said = readFacts(html, childOf(html, 'head') ?? html);
  if (isLeftOut(input, html, said)) return null;
  const facts = {
    ...said,
    version: said.version ?? input.version ?? null,
    tags: [...new Set([...said.tags, ...(input.tags ?? [])])],
  };

  const body = childOf(html, 'body');
  if (body === null) return null;
  const address = new PageAddress(input.url, facts.base, facts.canonical);
  const parts = new ContentReader(document, contentRoot(body, facts.documentTitle), address).read();
  const { title, sections } = toSections(input.url, parts, facts);
  if (sections.length === 0) return null;
  const { language, version, tags } = facts;
  const { canonical, links } = address;
  return { page: input.url, canonical, title, language, version, tags, sections, links };
}

function childOf(parent: Parent, tagName: string) {
  return findElement(parent, (element) => element.tagName === tagName && element.parentNode === parent);
}
