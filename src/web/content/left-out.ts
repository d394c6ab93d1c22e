import type { PageFacts } from './page-facts.ts';
import { attributeOf, type Element, elementsOf, rawText } from './tree.ts';

/** `404.html`, `de/404/index.html`, and Next.js's `_not-found.html`. */
const NOT_FOUND_PATH = /(?:^|\/)(?:404|_not-found)(?:\.x?html?|\/index\.x?html?)$/i;

/** The whole book on one page: mdBook's `print.html`, MkDocs' `print_page/`. */
const PRINT_PATH = /(?:^|\/)print(?:[_-](?:page|site))?(?:\.x?html?|\/index\.x?html?)$/i;

const SEARCH_PATH = /(?:^|\/)search(?:\.html|\/index\.html)$/;

/** Sphinx's listings of source code, which its own search leaves out too. */
const SOURCE_PATH = /(?:^|\/)_modules\//;

/** Indexes by letter, of Sphinx and DocBook. */
const INDEX_CLASSES = /(?:^|\s)(?:genindex-jumpbox|modindex-jumpbox|indexdiv)(?:\s|$)/;

/** Docusaurus's lists of posts, and its search page. */
const LISTING_CLASSES =
  /(?:^|\s)(?:blog-list-page|blog-tags-list-page|blog-tags-post-list-page|blog-authors-list-page|blog-authors-posts-page|search-page-wrapper|search-page)(?:\s|$)/;

export function isLeftOut(
  { path, html: text }: { readonly path: string; readonly html: string },
  html: Element,
  facts: PageFacts,
): boolean {
  if (facts.isNoindex || facts.isRedirect) return true;
  if (NOT_FOUND_PATH.test(path) || LISTING_CLASSES.test(attributeOf(html, 'class') ?? '')) return true;
  return isPrintPage(path, html) || isIndexPage(path, text, html);
}

/** A page named `print` below the root may be about printing: the print page has every chapter's first-level heading. */
function isPrintPage(path: string, html: Element): boolean {
  if (!PRINT_PATH.test(path)) return false;
  if (/^[^/]+(?:\/index\.x?html?)?$/i.test(path)) return true;
  return (
    elementsOf(html)
      .filter(({ tagName }) => tagName === 'h1')
      .drop(1)
      .next().done === false
  );
}

function isIndexPage(path: string, text: string, html: Element): boolean {
  const mayBeIndex = /genindex-jumpbox|modindex-jumpbox|indexdiv/.test(text);
  const mayBeSearch = SEARCH_PATH.test(path);
  const mayBeSource = SOURCE_PATH.test(path);
  if (!mayBeIndex && !mayBeSearch && !mayBeSource) return false;
  for (const element of elementsOf(html)) {
    if (element.tagName === 'div' && INDEX_CLASSES.test(attributeOf(element, 'class') ?? '')) return true;
    // Sphinx's search page has an empty place for results, which a script fills.
    if (mayBeSearch && attributeOf(element, 'id') === 'search-results' && rawText(element).trim() === '') return true;
    if (mayBeSource && attributeOf(element, 'src')?.includes('documentation_options.js')) return true;
  }
  return false;
}
