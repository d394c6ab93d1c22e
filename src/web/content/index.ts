import { type DefaultTreeAdapterMap, defaultTreeAdapter, Parser } from 'parse5';
import { readFacts } from './page-facts.ts';
import { DEPTH_MAX, type Element, findElement, isElement, type Parent } from './tree.ts';

/** Maximum nodes of a page, which take 3 s and 300 MiB (measured). The largest page of the corpus has 17,000 nodes. */
const NODES_MAX = 300_000;

/** Parses a page. Null if the page has no elements. `body` is null if the page has a frameset instead. */
export function readPageTree(path: string, markup: string, nodesMax = NODES_MAX) {
  const light = withoutPayload(markup.slice(0, PAGE_LENGTH_MAX)).replace(COLOURS, '');
  const readable = path.toLowerCase().endsWith('.xhtml') ? light.replace(SELF_CLOSED, '<$1$2></$1>') : light;
  const document = parseWithin(readable, nodesMax);
  const html = document.childNodes.find(isElement);
  if (html === undefined) return null;
  return { document, html, body: childOf(html, 'body'), facts: readFacts(html, childOf(html, 'head') ?? html) };
}

class OutOfBounds extends Error {}

/** Counts nodes and depth during parsing, so that a page over the limits needs little memory. */
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

/** Maximum attributes that repeated `<html>` or `<body>` tags add, because the parser compares each attribute with all others. */
const ADOPTED_MAX = 100;

function parseWithin(markup: string, nodesMax: number): Parent {
  const parser = new BoundedParser(nodesMax);
  try {
    parser.tokenizer.write(markup, true);
  } catch (error) {
    if (!(error instanceof OutOfBounds)) throw error;
  }
  return parser.document;
}

const childOf = (parent: Parent, tagName: string): Element | null =>
  findElement(parent, (element) => element.tagName === tagName && element.parentNode === parent);

/** Maximum UTF-16 code units of a page to read. The longest real pages have a million. docshelf ignores further text. */
const PAGE_LENGTH_MAX = 8 * 1024 ** 2;

/** Start of Next.js's payload, which docshelf skips. It repeats the text of the page, and can be three quarters of a file. */
const PAYLOAD_START = '<script>self.__next_f.push(';
const PAYLOAD_END = '</script>';

const COLOURS = / style="--(?:shiki-|\d)[^"<>]*"/g;

/** Matches an empty element as XHTML may write it: `<a/>`. The HTML parser would read this as an unclosed start tag. */
const SELF_CLOSED = /<(a|div|em|i|p|script|section|span|td|textarea|title)((?:\s[^<>]*)?)\/>/g;

/** Removes Next.js's payload. Uses `indexOf`, because with unclosed scripts, a regular expression would take quadratic time. */
function withoutPayload(html: string): string {
  let rest = '';
  let from = 0;
  for (;;) {
    const start = html.indexOf(PAYLOAD_START, from);
    const end = start === -1 ? -1 : html.indexOf(PAYLOAD_END, start);
    if (end === -1) return rest + html.slice(from);
    rest += html.slice(from, start);
    from = end + PAYLOAD_END.length;
  }
}
