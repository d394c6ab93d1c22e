import { type DefaultTreeAdapterMap, defaultTreeAdapter, Parser } from 'parse5';
import { readableMarkup } from './markup.ts';
import { type PageFacts, readFacts } from './page-facts.ts';
import { DEPTH_MAX, type Element, findElement, isElement, type Parent } from './tree.ts';

interface PageTree {
  readonly document: Parent;
  readonly html: Element;
  /** Null for a page of frames. */
  readonly body: Element | null;
  readonly facts: PageFacts;
}

/**
 * Elements, attributes and comments of a page that are read. The largest page of the corpus has 17,000 elements. So many take
 * 3 s and 300 MiB (measured); without a bound 8 MiB of tags took more than a gigabyte.
 */
const NODES_MAX = 300_000;

/** A page as search and Markdown read it, as far as it is within the bounds of depth and nodes. @param path tells XHTML */
export function readPageTree(path: string, markup: string, nodesMax = NODES_MAX): PageTree | null {
  const document = parseWithin(readableMarkup(path, markup), nodesMax);
  const html = document.childNodes.find(isElement);
  if (html === undefined) return null;
  return { document, html, body: childOf(html, 'body'), facts: readFacts(html, childOf(html, 'head') ?? html) };
}

class OutOfBounds extends Error {}

/** Counts while it parses, so that no markup takes much memory before it is known to be out of bounds. */
class BoundedParser extends Parser<DefaultTreeAdapterMap> {
  #depth = 0;
  #nodesLeft: number;

  constructor(nodesMax: number) {
    super({
      treeAdapter: {
        ...defaultTreeAdapter,
        createElement: (name, namespace, attributes) => {
          this.#count(1 + attributes.length);
          return defaultTreeAdapter.createElement(name, namespace, attributes);
        },
        createCommentNode: (text) => {
          this.#count(1);
          return defaultTreeAdapter.createCommentNode(text);
        },
        // Of further tags of <html> and <body>.
        adoptAttributes: (recipient, attributes) => {
          this.#count(attributes.length);
          if (recipient.attrs.length < ADOPTED_MAX) defaultTreeAdapter.adoptAttributes(recipient, attributes);
        },
      },
    });
    this.#nodesLeft = nodesMax;
  }

  override onItemPush(node: Element, id: number, isTop: boolean): void {
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) throw new OutOfBounds();
    super.onItemPush(node, id, isTop);
  }

  override onItemPop(node: Element, isTop: boolean): void {
    this.#depth -= 1;
    super.onItemPop(node, isTop);
  }

  #count(nodes: number): void {
    this.#nodesLeft -= nodes;
    if (this.#nodesLeft < 0) throw new OutOfBounds();
  }
}

/** Attributes of an element that takes those of other tags: each of them is compared with all. */
const ADOPTED_MAX = 100;

/** What comes after the bounds is not read. */
function parseWithin(markup: string, nodesMax: number): Parent {
  const parser = new BoundedParser(nodesMax);
  try {
    parser.tokenizer.write(markup, true);
  } catch (error) {
    if (!(error instanceof OutOfBounds)) throw error;
  }
  return parser.document;
}

function childOf(parent: Parent, tagName: string): Element | null {
  return findElement(parent, (element) => element.tagName === tagName && element.parentNode === parent);
}
