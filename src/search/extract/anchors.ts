import { attributeOf, type Element, elementsOf, type Parent } from '../../web/content/tree.ts';
import { decodeOrKeep } from '../../web/escape.ts';

/** Real pages have at most a handful before a heading. */
const PENDING_MAX = 20;
/** UTF-16 code units. */
const ANCHOR_LENGTH_MAX = 1_000;

function anchorOf(element: Element): string | null {
  const name = attributeOf(element, 'id') || (element.tagName === 'a' ? attributeOf(element, 'name') : null) || null;
  return name !== null && name.length <= ANCHOR_LENGTH_MAX ? name : null;
}

/**
 * Fragments of headings: generators put them on the heading, inside it, on the element around it (Sphinx, DocBook) or before
 * it. Takes every element and all text in the page's order.
 */
export class Anchors {
  readonly #document: Parent;
  #pending: string[] = [];
  #all: ReadonlySet<string> | null = null;

  constructor(document: Parent) {
    this.#document = document;
  }

  enter(element: Element): void {
    if (element.attrs.length === 0 || this.#pending.length >= PENDING_MAX) return;
    const anchor = anchorOf(element);
    if (anchor !== null) this.#pending.push(anchor);
  }

  passText(): void {
    if (this.#pending.length > 0) this.#pending = [];
  }

  /** Without `#`; null where no anchor leads to it. */
  fragmentOf(heading: Element): string | null {
    const own = anchorOf(heading);
    if (own !== null) return own;
    let permalink: string | null = null;
    for (const element of elementsOf(heading)) {
      const inner = anchorOf(element);
      if (inner !== null) return inner;
      const href = element.tagName === 'a' ? attributeOf(element, 'href') : null;
      if (href?.startsWith('#') && href.length > 1) permalink ??= decodeOrKeep(href.slice(1));
    }
    // The page's own permalink says which of several anchors it uses.
    if (permalink !== null && (this.#pending.includes(permalink) || this.#exists(permalink))) return permalink;
    return this.#pending.at(-1) ?? null;
  }

  #exists(anchor: string): boolean {
    this.#all ??= new Set([...elementsOf(this.#document)].map(anchorOf).filter((name) => name !== null));
    return this.#all.has(anchor);
  }
}
