import { headingText, isClutter, listsChildPages } from './clutter.ts';
import {
  attributeOf,
  DEPTH_MAX,
  type Element,
  elementsOf,
  findElement,
  hasClass,
  isElement,
  isHeading,
  isText,
  isTitleBlock,
  type Parent,
} from './tree.ts';

export interface ContentRoot {
  readonly element: Element;
  /**
   * True if `element` is a landmark or a known content container. False if docshelf selected it by text density. It may then
   * contain menus.
   */
  readonly isMarked: boolean;
  readonly density: LinkDensity;
}

/** Ids and classes of content containers, for generators that write no landmark on some pages. */
const CONTAINER_IDS = new Set(['VPContent', 'main-content', 'docs-content']);
const CONTAINER_CLASSES = 'vp-doc markdown-body theme-default-content rst-content td-content post-content'.split(' ');

const HOLDERS = new Set('body div section form center td tr tbody table font span'.split(' '));

/** Minimum share of a container's text that one child must have, so that docshelf uses the child instead of the container. */
const SHARE_MIN = 0.7;

const isMain = (element: Element): boolean =>
  element.tagName === 'main' || attributeOf(element, 'role')?.toLowerCase() === 'main';

/**
 * Finds the element with the content of a page. Prefers an article in the main landmark, then this landmark, an article, a
 * known container, or else the element with most unlinked text.
 */
export function contentRoot(body: Element, documentTitle: string): ContentRoot {
  const main = findElement(body, isMain);
  const marked = main === null ? (singleArticle(body) ?? knownContainer(body)) : (singleArticle(main) ?? main);
  const density = new LinkDensity(marked === null ? titleHeading(body, documentTitle) : null);
  return marked === null
    ? { element: densest(body, density), isMarked: false, density }
    : { element: marked, isMarked: true, density };
}

/**
 * Returns the first heading whose text is part of the document's title, and which is not only a link to another page. Default:
 * the first `h1`.
 */
function titleHeading(body: Element, documentTitle: string): Element | null {
  let first: Element | null = null;
  for (const element of elementsOf(body)) {
    if (!isHeading(element) && !isTitleBlock(element)) continue;
    const text = headingText(element);
    const [only, ...others] = element.childNodes.filter(isElement);
    const isLink = only?.tagName === 'a' && others.length === 0 && !attributeOf(only, 'href')?.startsWith('#');
    if (text !== '' && documentTitle.includes(text) && !isLink) return element;
    if (element.tagName === 'h1' || isTitleBlock(element)) first ??= element;
  }
  return first;
}

/** Returns the only article in the container. Null for several articles, as in listings, or if the first `h1` is outside. */
function singleArticle(container: Element): Element | null {
  const articles = outermost(container, 'article');
  const [article] = articles;
  if (article === undefined || articles.length > 1) return null;
  const isTitle = (element: Element): boolean => element.tagName === 'h1';
  const title = findElement(container, isTitle);
  return title === null || findElement(article, isTitle) === title ? article : null;
}

function outermost(container: Element, tagName: string): Element[] {
  const found: Element[] = [];
  const open: Parent[] = [container];
  for (let parent = open.pop(); parent !== undefined; parent = open.pop()) {
    for (const child of parent.childNodes) {
      if (!isElement(child)) continue;
      if (child.tagName === tagName) found.push(child);
      else open.push(child);
    }
  }
  return found;
}

function knownContainer(body: Element): Element | null {
  for (const element of elementsOf(body)) {
    if (CONTAINER_IDS.has(attributeOf(element, 'id') ?? '')) return element;
    if (CONTAINER_CLASSES.some((name) => hasClass(element, name))) return element;
  }
  return null;
}

/**
 * Finds the innermost element with most of the unlinked text. Stops before a child that would leave out the page's heading or a
 * list of child pages.
 */
function densest(body: Element, density: LinkDensity): Element {
  let holder = body;
  for (;;) {
    const children: Element[] = holder.childNodes.filter(isElement);
    const best = children.reduce<Element | null>(
      (top, child) => (top === null || density.worth(child) > density.worth(top) ? child : top),
      null,
    );
    if (best === null || !HOLDERS.has(best.tagName)) return holder;
    if (density.worth(best) <= 0 || density.worth(best) < SHARE_MIN * density.worth(holder)) return holder;
    const staysOutside = (child: Element): boolean => density.holdsTitle(child) || listsChildPages(child);
    if (children.some((child) => child !== best && staysOutside(child))) return holder;
    holder = best;
  }
}

export function isOutsideContent(element: Element, { isMarked, density }: ContentRoot, isBeforeText: boolean): boolean {
  if (isClutter(element)) return true;
  const { tagName } = element;
  if (tagName === 'aside') return density.isLinkList(element);
  if (isMarked) return false;
  if (tagName === 'header') return !density.holdsTitle(element);
  // A list of links before the text of the page is a menu. A list of links after the text is further reading.
  if (tagName === 'ul') return isBeforeText && density.isLinkList(element);
  return /^(?:div|section|table|td)$/.test(tagName) && density.isLinkList(element);
}

interface Density {
  /** Length of an element's text in UTF-16 code units. */
  readonly text: number;
  readonly linked: number;
  readonly links: number;
  readonly holdsTitle: boolean;
}

const NOTHING: Density = { text: 0, linked: 0, links: 0, holdsTitle: false };

const LINKED_SHARE_MIN = 0.7;
const LINKS_MIN = 5;

class LinkDensity {
  readonly #title: Element | null;
  readonly #measured = new Map<Element, Density>();

  /** @param title heading of the page, or null. An element that contains this heading is never a list of links. */
  constructor(title: Element | null) {
    this.#title = title;
  }

  worth(element: Element): number {
    const { text, linked } = this.#densityOf(element, 0);
    return text - 2 * linked;
  }

  holdsTitle(element: Element): boolean {
    return this.#densityOf(element, 0).holdsTitle;
  }

  isLinkList(element: Element): boolean {
    const { text, linked, links, holdsTitle } = this.#densityOf(element, 0);
    return !holdsTitle && links >= LINKS_MIN && linked >= LINKED_SHARE_MIN * text;
  }

  #densityOf(element: Element, depth: number): Density {
    const known = this.#measured.get(element);
    if (known !== undefined) return known;
    const density = isClutter(element) || listsChildPages(element) ? NOTHING : this.#measure(element, depth);
    this.#measured.set(element, density);
    return density;
  }

  #measure(element: Element, depth: number): Density {
    let text = 0;
    let linked = 0;
    let links = element.tagName === 'a' ? 1 : 0;
    let holdsTitle = element === this.#title;
    for (const child of element.childNodes) {
      if (isText(child)) text += child.value.trim().length;
      else if (isElement(child) && depth < DEPTH_MAX) {
        const inner = this.#densityOf(child, depth + 1);
        text += inner.text;
        linked += inner.linked;
        links += inner.links;
        holdsTitle ||= inner.holdsTitle;
      }
    }
    if (element.tagName === 'a') linked = text;
    // Count no text of a definition list as linked, because a glossary can consist of links and still is no menu.
    if (element.tagName === 'dl') linked = 0;
    return { text, linked, links, holdsTitle };
  }
}
