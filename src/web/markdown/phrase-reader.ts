import { isClutter } from '../content/clutter.ts';
import {
  attributeOf,
  DEPTH_MAX,
  type Element,
  findElement,
  hasClass,
  isElement,
  isText,
  type Parent,
  rawText,
} from '../content/tree.ts';
import type { Footnotes } from './footnotes.ts';
import { type Phrase, rawOf, textOf } from './nodes.ts';
import type { PageLinks } from './page-links.ts';

const STRONG = new Set(['strong', 'b']);
const EMPHASIS = new Set(['em', 'i', 'cite', 'dfn', 'var', 'address']);
const CODE = new Set(['code', 'kbd', 'samp', 'tt', 'pre']);
const DELETED = new Set(['del', 's', 'strike']);
/** Set apart by the page's style where they stand among words. */
const APART = new Set(
  (
    'address article aside blockquote center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 ' +
    'header hgroup hr label legend li main ol p section summary table tbody td tfoot th thead tr ul option'
  ).split(' '),
);

/** Zero-width characters and soft hyphens say nothing in plain text. */
const INVISIBLE = /[\u00ad\u200b\u2060\ufeff]/g;

interface Place {
  readonly depth: number;
  /** Open ones; none is inside its like. */
  readonly marks: readonly string[];
  readonly isInLink: boolean;
  readonly isInHeading: boolean;
}

/** Words, marks, links and pictures of a piece of text; not tidy. */
export class PhraseReader {
  readonly #links: PageLinks;
  readonly #footnotes: Footnotes;

  constructor(links: PageLinks, footnotes: Footnotes) {
    this.#links = links;
    this.#footnotes = footnotes;
  }

  /** Of text or an inline element. */
  read(
    node: Parent['childNodes'][number],
    given: { readonly isInLink?: boolean; readonly isInHeading?: boolean } = {},
  ): Phrase[] {
    const { isInLink = false, isInHeading = false } = given;
    return this.#node(node, { depth: 0, marks: [], isInLink, isInHeading });
  }

  /** Null where a link leads nowhere. */
  addressOf(link: Element): string | null {
    const href = attributeOf(link, 'href');
    return href === null ? null : this.#links.resolve(href);
  }

  #node(node: Parent['childNodes'][number], place: Place): Phrase[] {
    if (isText(node)) {
      const value = node.value.replace(INVISIBLE, '').replace(/\s+/g, ' ');
      return value === '' ? [] : [textOf(value)];
    }
    if (!isElement(node) || place.depth >= DEPTH_MAX) return [];
    if (node.tagName === 'math') return formulaOf(node);
    return isClutter(node) ? [] : this.#element(node, place);
  }

  #children(parent: Element, place: Place): Phrase[] {
    const inner = { ...place, depth: place.depth + 1 };
    return parent.childNodes.flatMap((child) => this.#node(child, inner));
  }

  #element(element: Element, place: Place): Phrase[] {
    const { tagName } = element;
    if (tagName === 'br') return [{ type: 'break' }];
    if (tagName === 'img') return this.#picture(element);
    if (tagName === 'a') return this.#link(element, place);
    if (CODE.has(tagName)) return codeOf(element);
    if (tagName === 'sup' || tagName === 'sub') return this.#raised(element, place);
    if (tagName === 'q') return [textOf('“'), ...this.#children(element, place), textOf('”')];
    const mark = markOf(tagName);
    if (mark !== null && !place.marks.includes(mark) && !(mark === 'strong' && place.isInHeading)) {
      return [{ type: mark, children: this.#children(element, { ...place, marks: [...place.marks, mark] }) }];
    }
    const children = this.#children(element, place);
    return APART.has(tagName) ? [textOf(' '), ...children, textOf(' ')] : children;
  }

  #picture(element: Element): Phrase[] {
    const alt = (attributeOf(element, 'alt') ?? '').replace(/\s+/g, ' ').trim();
    const url = [attributeOf(element, 'src'), attributeOf(element, 'data-src')]
      .map((address) => (address === null || address === '' ? null : this.#links.resolve(address)))
      .find((address) => address !== null);
    if (url === undefined || url === null) return alt === '' ? [] : [textOf(alt)];
    return hasClass(element, 'emoji') ? [textOf(alt)] : [{ type: 'image', url, alt, title: null }];
  }

  #link(element: Element, place: Place): Phrase[] {
    const reference = this.#footnotes.referenceOf(element);
    if (reference !== null) return [reference];
    const inner = { ...place, isInLink: true };
    const children = this.#children(element, inner);
    const isOwn = place.isInHeading && (attributeOf(element, 'href') ?? '').startsWith('#');
    const url = place.isInLink || isOwn ? null : this.addressOf(element);
    return url === null ? children : [{ type: 'link', url, title: null, children }];
  }

  #raised(element: Element, place: Place): Phrase[] {
    const children = this.#children(element, place);
    const isReference = children.some(({ type }) => type === 'footnoteReference' || type === 'link');
    if (isReference || children.length === 0 || hasClass(element, 'footnote-ref')) return children;
    return [rawOf(`<${element.tagName}>`), ...children, rawOf(`</${element.tagName}>`)];
  }
}

function markOf(tagName: string): 'strong' | 'emphasis' | 'delete' | null {
  if (STRONG.has(tagName)) return 'strong';
  if (EMPHASIS.has(tagName)) return 'emphasis';
  return DELETED.has(tagName) ? 'delete' : null;
}

function codeOf(element: Element): Phrase[] {
  const text = rawText(element).replace(INVISIBLE, '').replace(/\s+/g, ' ');
  const value = text.trim();
  if (value === '') return [textOf(' ')];
  return [
    ...(text.startsWith(' ') ? [textOf(' ')] : []),
    { type: 'inlineCode', value },
    ...(text.endsWith(' ') ? [textOf(' ')] : []),
  ];
}

/** MathML with the TeX that it was made of, as KaTeX and MathJax write it; else its symbols. */
function formulaOf(math: Element): Phrase[] {
  const source = findElement(
    math,
    (element) => element.tagName === 'annotation' && attributeOf(element, 'encoding') === 'application/x-tex',
  );
  const tex = source === null ? '' : rawText(source).replace(/\s+/g, ' ').trim();
  if (tex === '') return [textOf(rawText(math).replace(/\s+/g, ' '))];
  const sign = attributeOf(math, 'display') === 'block' ? '$$' : '$';
  return [rawOf(`${sign}${tex}${sign}`)];
}
