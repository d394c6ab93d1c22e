import { isClutter, listsChildPages } from './clutter.ts';
import { DEPTH_MAX, type Element, isElement, isText } from './tree.ts';

interface Density {
  /** UTF-16 code units. */
  readonly text: number;
  readonly linked: number;
  readonly links: number;
  readonly holdsTitle: boolean;
}

const NOTHING: Density = { text: 0, linked: 0, links: 0, holdsTitle: false };

/** A menu has so large a share of links, and so many. */
const LINKED_SHARE_MIN = 0.7;
const LINKS_MIN = 5;

export class LinkDensity {
  readonly #title: Element | null;
  readonly #measured = new Map<Element, Density>();

  /** @param title the page's heading; what holds it is content. */
  constructor(title: Element | null) {
    this.#title = title;
  }

  worth(element: Element): number {
    const { text, linked } = this.#of(element, 0);
    return text - 2 * linked;
  }

  holdsTitle(element: Element): boolean {
    return this.#of(element, 0).holdsTitle;
  }

  isLinkList(element: Element): boolean {
    const { text, linked, links, holdsTitle } = this.#of(element, 0);
    return !holdsTitle && links >= LINKS_MIN && linked >= LINKED_SHARE_MIN * text;
  }

  #of(element: Element, depth: number): Density {
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
        const inner = this.#of(child, depth + 1);
        text += inner.text;
        linked += inner.linked;
        links += inner.links;
        holdsTitle ||= inner.holdsTitle;
      }
    }
    if (element.tagName === 'a') linked = text;
    // A glossary's definitions may be links; a menu is no list of definitions.
    if (element.tagName === 'dl') linked = 0;
    return { text, linked, links, holdsTitle };
  }
}
