import { contentRoot } from '../../web/content/content-root.ts';
import { readPageTree } from '../../web/content/index.ts';
import { isUnlisted, otherTitle, type PageFacts, pageTitle, TITLE_LENGTH_MAX } from '../../web/content/page-facts.ts';
import type { Section } from '../ports.ts';
import { type ContentPart, ContentReader } from './content-reader.ts';
import { memberNames } from './definitions.ts';
import { PageAddress, withFragment } from './reader-url.ts';

interface PageInput {
  readonly path: string;
  readonly html: string;
  readonly url: string;
  readonly version?: string | null;
}

export interface ExtractedPage {
  readonly page: string;
  readonly canonical: string | null;
  readonly title: string;
  readonly language: string | null;
  readonly version: string | null;
  readonly tags: readonly string[];
  readonly sections: readonly Section[];
  readonly links: readonly string[];
}

/** Returns null for `noindex`, errors, redirects, print pages, indexes, listings, and pages without content. */
export function extractPage(input: PageInput): ExtractedPage | null {
  const tree = readPageTree(input.path, input.html);
  if (tree === null || isUnlisted(input, tree.html, tree.facts)) return null;
  const { document, body, facts: stated } = tree;
  const facts = { ...stated, version: stated.version ?? input.version ?? null, tags: [...new Set(stated.tags)] };
  if (body === null) return null;
  const address = new PageAddress(input.url, facts.base, facts.canonical);
  const parts = new ContentReader(document, contentRoot(body, facts.documentTitle), address).read();
  const { title, sections } = toSections(input.url, parts, facts);
  if (sections.length === 0) return null;
  const { language, version, tags } = facts;
  const { canonical, links } = address;
  return { page: input.url, canonical, title, language, version, tags, sections, links };
}

interface Placed {
  readonly part: ContentPart;
  readonly headings: readonly string[];
  readonly fragment: string | null;
  readonly children: string[];
}

/**
 * Creates sections with text. A heading without text gets the names of its child pages or subheadings as text. Without these, the
 * first heading gets the description or title of the page, and other headings are dropped. Text above the main heading moves
 * below it.
 */
function toSections(url: string, parts: readonly ContentPart[], facts: PageFacts) {
  const mainHeading = parts.find(({ level }) => level === 1)?.heading ?? '';
  const firstHeading = parts.find(({ level }) => level > 0)?.heading ?? '';
  const title = pageTitle(facts, mainHeading, firstHeading) || url.slice(0, TITLE_LENGTH_MAX);
  const documentTitle = otherTitle(facts, title, firstHeading);
  const placed = placeParts(parts, title);
  const first = placed.find(({ part }) => part.level > 0);
  const preamble = first?.part.level === 1 ? (placed[0]?.part.text.toString() ?? '') : '';
  const sections = placed.flatMap((place): Section[] => {
    if (place.part.level === 0 && preamble !== '') return [];
    const own = place.part.text.toString();
    const list = own === '' ? place.part.childPages.toString() || place.children.join('\n') : '';
    const below = own || list || (place === first ? facts.description || title : '');
    const text = place === first && preamble !== '' ? `${below}\n\n${preamble}` : below;
    if (text === '') return [];
    const { headings, fragment } = place;
    const { heading } = place.part;
    const names = place.part.names.length > 0 ? place.part.names : memberNames(title, heading, place.part.fragment);
    const { language, version, tags } = facts;
    const { code } = place.part.text;
    const section = { path: withFragment(url, fragment), title, headings, text, code, language, version, tags };
    const isList = list !== '' || (own !== '' && !place.part.text.hasProse);
    return [{ ...section, ...(names.length > 0 && { names }), ...(isList && { isList }) }];
  });
  const [own, ...others] = sections;
  if (own === undefined || documentTitle === null) return { title, sections };
  return { title, sections: [{ ...own, documentTitle }, ...others] };
}

function placeParts(parts: readonly ContentPart[], title: string): Placed[] {
  const above: { level: number; placed: Placed }[] = [];
  const first = parts.find(({ level }) => level > 0);
  return parts.map((part) => {
    // Treat a first heading that equals the title as level 1, because DocBook pages begin at another level.
    const level = part === first && part.heading === title ? 1 : part.level;
    while ((above.at(-1)?.level ?? -1) >= level) above.pop();
    const parent = above.at(-1)?.placed;
    const placed: Placed = {
      part,
      headings: part.level === 0 ? [] : [...(parent?.headings ?? []), part.heading],
      fragment: part.fragment ?? parent?.fragment ?? null,
      children: [],
    };
    if (part.level > 0) {
      parent?.children.push(part.heading);
      above.push({ level, placed });
    }
    return placed;
  });
}
