import { contentRoot } from '../content/content-root.ts';
import { readPageTree } from '../content/index.ts';
import { isUnlisted, pageTitle } from '../content/page-facts.ts';
import { BlockReader } from './block-reader.ts';
import { linkResolver } from './phrases.ts';
import { type Block, plainText, textOf, writeMarkdown } from './write.ts';

export interface MarkdownInput {
  /** Path of the page in the site, such as `guides/start.html`. */
  readonly path: string;
  readonly html: string;
  /** Address from the root of the host, percent-encoded, such as `/docs/guides/start`. */
  readonly address: string;
}

/** Maximum nodes of a page to convert. Lower than the maximum for search, because writing Markdown takes ten times as long. */
const NODES_MAX = 100_000;

/** Converts a page to Markdown. The only first-level heading is the page's title, if the page has a title. */
export function markdownOf(input: MarkdownInput) {
  const tree = readPageTree(input.path, input.html, NODES_MAX);
  if (tree === null || tree.body === null) return { title: '', description: '', markdown: '', isLeftOut: true };
  const { facts, body, html } = tree;
  const root = contentRoot(body, facts.documentTitle);
  const blocks = new BlockReader(root, linkResolver(input.address, facts.base, facts.canonical)).read();
  const headings = blocks.filter((block) => block.type === 'heading');
  const main = headings.find(({ depth }) => depth === 1);
  const title = pageTitle(
    facts,
    main === undefined ? '' : plainText(main),
    headings[0] === undefined ? '' : plainText(headings[0]),
  );
  // True for pages that search omits too: `noindex`, errors, redirects, print pages, indexes and listings.
  const isLeftOut = isUnlisted(input, html, facts);
  return { title, description: facts.description, markdown: writeMarkdown(titled(blocks, title)), isLeftOut };
}

function titled(blocks: Block[], title: string): Block[] {
  const at = blocks.findIndex(({ type }) => type === 'heading');
  const first = blocks[at];
  if (first?.type === 'heading' && (first.depth === 1 || plainText(first) === title))
    return [{ ...first, depth: 1 }, ...blocks.toSpliced(at, 1)];
  return title === '' ? blocks : [{ type: 'heading', depth: 1, children: [textOf(title)] }, ...blocks];
}
