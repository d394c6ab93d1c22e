import { contentRoot } from '../../web/content/content-root.ts';
import { readPageTree } from '../../web/content/index.ts';
import { isLeftOut } from '../../web/content/page-facts.ts';
import type { Section } from '../section.ts';
import { ContentReader } from './content-reader.ts';
import { toSections } from './sections.ts';
import { PageAddress } from './site-address.ts';

export { sphinxVersion } from '../../web/content/page-facts.ts';
export { Duplicates, fingerprintOf, type PageRank, rankOf } from './duplicates.ts';
export { cutPassages } from './passages.ts';
export { PageForms, type ReaderForm, readerUrl } from './reader-url.ts';

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
  const tree = readPageTree(input.path, input.html);
  if (tree === null || isLeftOut(input, tree.html, tree.facts)) return null;
  const { document, body, facts: said } = tree;
  const facts = {
    ...said,
    version: said.version ?? input.version ?? null,
    tags: [...new Set([...said.tags, ...(input.tags ?? [])])],
  };

  if (body === null) return null;
  const address = new PageAddress(input.url, facts.base, facts.canonical);
  const parts = new ContentReader(document, contentRoot(body, facts.documentTitle), address).read();
  const { title, sections } = toSections(input.url, parts, facts);
  if (sections.length === 0) return null;
  const { language, version, tags } = facts;
  const { canonical, links } = address;
  return { page: input.url, canonical, title, language, version, tags, sections, links };
}
