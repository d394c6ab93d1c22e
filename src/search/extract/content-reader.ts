import { codeText, headingText, isLayoutCell, isNote, listsChildPages } from '../../web/content/clutter.ts';
import { type ContentRoot, isOutsideContent } from '../../web/content/content-root.ts';
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
} from '../../web/content/tree.ts';
import { decodeOrKeep } from '../../web/escape.ts';
import type { Passage } from '../ports.ts';
import { entryOf, longerNames, type NamedEntry, rustItem, termName } from './definitions.ts';
import type { PageAddress } from './reader-url.ts';

export interface ContentPart {
  /** Level 0 before the first heading, 1 to 6 for a heading, 7 or more for a definition. */
  readonly level: number;
  readonly heading: string;
  /** Qualified names of a defined identifier, such as `pkg.Client.fetch` for the heading `fetch`. */
  readonly names: readonly string[];
  readonly fragment: string | null;
  readonly text: TextWriter;
  readonly childPages: TextWriter;
}

/** Maximum length of the text under one heading or definition, in UTF-16 code units, which is about a thousand passages. */
const TEXT_LENGTH_MAX = 512 * 1024;
const CHILD_PAGES_LENGTH_MAX = 2_000;
/** Maximum headings and definitions that divide a page. Real change logs have 3,000 headings. The last one gets all text after it. */
const PARTS_MAX = 10_000;
/** Level of a definition, one more than the level of `h6`. Definitions inside a definition have higher levels. */
const DEFINITION_LEVEL = 7;

const BLOCKS = new Set(
  (
    'address article aside blockquote body center details dialog dd div dl dt fieldset figcaption figure footer form ' +
    'header hgroup hr legend main ol p section summary ul caption table'
  ).split(' '),
);

const GAP = { none: 0, space: 1, line: 2, block: 3 } as const;

type Gap = (typeof GAP)[keyof typeof GAP];

interface Place {
  readonly depth: number;
  /** Largest separator to write inside the element: a line break in list items, a space in table cells. */
  readonly gapMax: Gap;
  readonly isInset: boolean;
  /** True inside a link to another page. */
  readonly isLink: boolean;
  readonly headingsOnly: boolean;
  readonly isInHeader: boolean;
  readonly listsPages: boolean;
}

/** State while docshelf reads a `dl` element, or another block with one definition. */
interface DefinitionList {
  readonly element: Element;
  readonly outer: Writers;
  readonly level: number;
  /** True if the list has a single `dt`. Null until docshelf counts them, which is necessary only for a `dt` without an anchor. */
  hasOneTerm: boolean | null;
  isNamed: boolean;
  /** True after a `dt`, until its `dd` begins. Several `dt` elements may share one `dd`. */
  isTermLast: boolean;
}

interface Writers {
  readonly text: TextWriter;
  /** Writer of the section that the last heading began. A definition does not count as a heading. */
  readonly headed: TextWriter;
}

const START: Place = {
  depth: 0,
  gapMax: GAP.block,
  isInset: false,
  isLink: false,
  headingsOnly: false,
  isInHeader: false,
  listsPages: false,
};

export class ContentReader {
  readonly parts: ContentPart[] = [];
  readonly #root: ContentRoot;
  readonly #address: PageAddress;
  readonly #anchors: Anchors;
  #writer: TextWriter;
  #headed: TextWriter;
  #list: DefinitionList | null = null;

  constructor(document: Parent, root: ContentRoot, address: PageAddress) {
    this.#root = root;
    this.#address = address;
    this.#anchors = new Anchors(document);
    this.#writer = this.#begin(0, '', null);
    this.#headed = this.#writer;
  }

  read(): readonly ContentPart[] {
    // In DocBook, the id of the container is the anchor of the heading. The id of a landmark, such as `main`, only serves the layout.
    if (!this.#root.isMarked) this.#anchors.enter(this.#root.element);
    this.#children(this.#root.element, START);
    return this.parts;
  }

  #begin(
    level: number,
    heading: string,
    fragment: string | null,
    { names = [], text = new TextWriter(TEXT_LENGTH_MAX) }: Partial<Pick<ContentPart, 'names' | 'text'>> = {},
  ): TextWriter {
    this.parts.push({ level, heading, names, fragment, text, childPages: new TextWriter(CHILD_PAGES_LENGTH_MAX) });
    this.#writer = text;
    if (level < DEFINITION_LEVEL) this.#headed = text;
    return text;
  }

  #children(parent: Parent, place: Place): void {
    let before = '';
    for (const child of parent.childNodes) {
      if (isText(child)) {
        if (!place.headingsOnly && this.#writer.flow(child.value, place.isLink)) this.#anchors.passText();
      } else if (isElement(child) && place.depth < DEPTH_MAX && !this.#isSkipped(child)) {
        // Add a space, because only the page's style separates adjacent links (buttons) and labels (tabs).
        if (child.tagName === 'label' || (child.tagName === 'a' && before === 'a')) this.#apart(GAP.space, place);
        this.#element(child, place);
      }
      before = child.nodeName;
    }
  }

  #isSkipped(element: Element): boolean {
    return isOutsideContent(element, this.#root, this.parts.length === 1 && this.#writer.isEmpty);
  }

  #element(element: Element, place: Place): void {
    if ((isHeading(element) || isTitleBlock(element)) && this.#heading(element, place)) return;
    this.#anchors.enter(element);
    const inner = { ...place, depth: place.depth + 1 };
    const entry = this.#startsPart(place) ? entryOf(element) : null;
    if (entry !== null && this.#entry(element, entry, inner)) return;
    switch (element.tagName) {
      case 'dl':
        this.#withList(element, () => this.#block(element, inner));
        this.#apart(GAP.block, inner);
        return;
      case 'dt':
        this.#term(element, place);
        this.#block(element, inner);
        return;
      case 'dd':
        if (this.#list !== null) this.#list.isTermLast = false;
        this.#block(element, inner);
        return;
      case 'a':
        this.#link(element, inner);
        return;
      case 'br':
        this.#apart(GAP.line, place);
        return;
      case 'pre':
        if (!place.headingsOnly) this.#code(element, place);
        return;
      case 'li':
        this.#item(element, inner);
        return;
      case 'tr':
        this.#row(element, inner);
        return;
      case 'header':
        this.#block(element, {
          ...inner,
          isInHeader: true,
          headingsOnly: place.headingsOnly || (!place.isInHeader && isByline(element)),
        });
        return;
      default:
        if (listsChildPages(element)) this.#childPages(element, inner);
        else if (BLOCKS.has(element.tagName)) this.#block(element, inner);
        else this.#children(element, inner);
    }
  }

  #heading(element: Element, place: Place): boolean {
    const heading = headingText(element);
    if (heading === '') return false;
    const level = isHeading(element) ? Number(element.tagName[1]) : 1;
    const item = rustItem(element);
    if (place.isInset || this.parts.length > PARTS_MAX) {
      this.#apart(GAP.block, place);
      this.#writer.flow(heading);
      this.#apart(GAP.block, place);
    } else if (item === null) {
      this.#begin(level, heading, this.#anchors.fragmentOf(element) ?? this.#anchors.pending);
    } else {
      this.#begin(level, item.name, item.fragment).flow(heading);
      this.#apart(GAP.block, place);
    }
    this.#anchors.passText();
    return true;
  }

  #startsPart({ isInset, headingsOnly, gapMax, listsPages }: Place): boolean {
    return !isInset && !headingsOnly && !listsPages && gapMax >= GAP.line && this.parts.length <= PARTS_MAX;
  }

  /** Reads a definition list. Text after the list belongs to the section around the list. */
  #withList(element: Element, read: () => void): void {
    const around = this.#list;
    const level = around === null ? DEFINITION_LEVEL : around.level + (around.isNamed ? 1 : 0);
    const outer = { text: this.#writer, headed: this.#headed };
    const list = { element, outer, level, hasOneTerm: null, isNamed: false, isTermLast: false };
    this.#list = list;
    read();
    this.#endDefinition(list);
    this.#list = around;
  }

  #endDefinition(list: DefinitionList): void {
    if (list.isNamed) this.#writer = this.#headed === list.outer.headed ? list.outer.text : this.#headed;
    list.isNamed = false;
  }

  /** A `dt` with an anchor and a short identifier begins a new section of the page, like a heading. */
  #term(element: Element, place: Place): void {
    const list = this.#list;
    if (list === null) return;
    const name = this.#startsPart(place) ? termName(element) : null;
    const fragment = name === null ? null : this.#fragmentOfTerm(element, list);
    if (name !== null && fragment !== null) {
      const names = longerNames(name, fragment);
      this.#begin(
        list.level,
        name,
        fragment,
        list.isNamed && list.isTermLast ? { names, text: this.#writer } : { names },
      );
      list.isNamed = true;
    } else if (!list.isTermLast) this.#endDefinition(list);
    list.isTermLast = true;
  }

  /** If a definition list has a single `dt`, the anchor of the list belongs to this `dt`. */
  #fragmentOfTerm(term: Element, list: DefinitionList): string | null {
    const own = this.#anchors.fragmentOf(term);
    if (own !== null) return own;
    list.hasOneTerm ??= list.element.childNodes.filter(({ nodeName }) => nodeName === 'dt').length === 1;
    return list.hasOneTerm ? this.#anchors.pending : null;
  }

  /** Reads a block with one definition. Returns false if the block has no anchor. */
  #entry(element: Element, entry: NamedEntry, place: Place): boolean {
    const { name } = entry;
    const fragment = entry.fragment ?? this.#anchors.pending;
    if (fragment === null) return false;
    this.#withList(element, () => {
      const list = this.#list as DefinitionList;
      this.#begin(list.level, name, fragment, { names: longerNames(name, fragment) });
      list.isNamed = true;
      this.#block(element, place);
    });
    this.#apart(GAP.block, place);
    return true;
  }

  #apart(gap: Gap, place: Place): void {
    this.#writer.apart(gap < place.gapMax ? gap : place.gapMax);
  }

  #block(element: Element, place: Place): void {
    const headingsOnly = place.headingsOnly || hasClass(element, 'titlepage');
    const isTabs = attributeOf(element, 'role') === 'tablist';
    this.#apart(GAP.block, place);
    this.#children(element, {
      ...place,
      headingsOnly,
      isInset: place.isInset || isNote(element),
      gapMax: isTabs ? GAP.space : place.gapMax,
    });
    if (element.tagName === 'dt' && place.gapMax >= GAP.line) this.#writer.bind();
    else this.#apart(GAP.block, place);
  }

  #link(element: Element, place: Place): void {
    const href = attributeOf(element, 'href');
    if (href !== null) this.#address.addLink(href);
    const isLink = place.isLink || (href !== null && !href.startsWith('#'));
    this.#children(element, { ...place, isInset: place.isInset || isLink, isLink });
  }

  #code(element: Element, place: Place): void {
    const code = codeText(element);
    this.#apart(GAP.block, place);
    if (place.gapMax <= GAP.space) this.#writer.flow(code);
    else this.#writer.verbatim(code);
    if (code.trim() !== '') this.#anchors.passText();
    this.#apart(GAP.block, place);
  }

  #item(element: Element, place: Place): void {
    const inner: Place = { ...place, gapMax: place.gapMax < GAP.line ? place.gapMax : GAP.line };
    if (inner.gapMax === GAP.line && !place.headingsOnly) this.#writer.item();
    this.#children(element, inner);
    this.#writer.endItem();
    this.#apart(GAP.line, inner);
  }

  #row(element: Element, place: Place): void {
    const cells = element.childNodes.filter(isElement);
    if (cells.some(isLayoutCell)) {
      for (const cell of cells) if (!this.#isSkipped(cell)) this.#block(cell, place);
      return;
    }
    this.#apart(GAP.line, place);
    const shown = cells.filter((each) => !this.#isSkipped(each));
    const before = this.#writer.toString();
    // Keep the line breaks in a row with one cell, such as the signature and the description of a function: it is no list of
    // values.
    const gapMax = shown.length === 1 && place.gapMax > GAP.line ? GAP.line : GAP.space;
    for (const cell of shown) {
      if (this.#writer.toString() !== before) this.#writer.flow(' · ');
      this.#anchors.enter(cell);
      this.#children(cell, { ...place, gapMax });
    }
    this.#apart(GAP.line, place);
  }

  #childPages(element: Element, place: Place): void {
    const own = this.#writer;
    this.#writer = this.parts.findLast(({ text }) => text === own)?.childPages ?? own;
    this.#block(element, { ...place, gapMax: GAP.line, listsPages: true });
    this.#writer = own;
  }
}

function isByline(header: Element): boolean {
  return findElement(header, ({ tagName }) => tagName === 'time') !== null;
}

const PENDING_MAX = 20;
const ANCHOR_LENGTH_MAX = 1_000;

function anchorOf(element: Element): string | null {
  const name = attributeOf(element, 'id') || (element.tagName === 'a' ? attributeOf(element, 'name') : null) || null;
  return name !== null && name.length <= ANCHOR_LENGTH_MAX ? name : null;
}

/**
 * Generators put the id of a heading on the heading, inside, around (Sphinx, DocBook) or before it.
 * The caller must report every element and all text in page order.
 */
class Anchors {
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

  fragmentOf(heading: Element): string | null {
    const own = anchorOf(heading);
    if (own !== null) return own;
    let permalink: string | null = null;
    for (const element of elementsOf(heading)) {
      const inner = element.tagName === 'button' || hasClass(element, 'indexterm') ? null : anchorOf(element);
      if (inner !== null) return inner;
      const href = element.tagName === 'a' ? attributeOf(element, 'href') : null;
      if (href?.startsWith('#') && href.length > 1) permalink ??= decodeOrKeep(href.slice(1));
    }
    const isKnown = permalink !== null && (this.#pending.includes(permalink) || this.#exists(permalink));
    return isKnown ? permalink : null;
  }

  /** Latest anchor since the reader passed text. Null if no anchor has followed the text. */
  get pending(): string | null {
    return this.#pending.at(-1) ?? null;
  }

  #exists(anchor: string): boolean {
    this.#all ??= new Set([...elementsOf(this.#document)].map(anchorOf).filter((name) => name !== null));
    return this.#all.has(anchor);
  }
}

const SEPARATORS = ['', ' ', '\n', '\n\n'] as const;

/** Zero-width characters and soft hyphens would split a word in the index. */
const INVISIBLE = /[\u00ad\u200b\u2060\ufeff]/g;

/** Writes text as a browser shows it: collapses white space, and separates blocks, list items and table rows. */
class TextWriter {
  /** Positions of the code blocks in the text. */
  readonly code: Passage[] = [];
  readonly #lengthMax: number;
  #text = '';
  #gap: Gap = GAP.none;
  #isBound = false;
  #bullet = false;
  #hasProse = false;

  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
  }

  get isEmpty(): boolean {
    return this.#text === '';
  }

  /** True if the text has words outside of links to other pages. */
  get hasProse(): boolean {
    return this.#hasProse;
  }

  apart(gap: Gap): void {
    if (gap > this.#gap && !this.#isBound) this.#gap = gap;
  }

  bind(): void {
    this.#gap = GAP.line;
    this.#isBound = true;
  }

  item(): void {
    this.apart(GAP.line);
    this.#bullet = true;
  }

  endItem(): void {
    this.#bullet = false;
  }

  flow(text: string, isLink = false): boolean {
    const visible = text.replace(INVISIBLE, '');
    const collapsed = visible.replace(/\s+/g, ' ');
    if (collapsed === '') return false;
    if (collapsed.startsWith(' ')) this.apart(GAP.space);
    const trimmed = collapsed.trim();
    if (trimmed === '') return false;
    this.#hasProse ||= !isLink && /[\p{L}\p{N}]/u.test(trimmed);
    this.#write(trimmed);
    if (collapsed.endsWith(' ')) this.apart(GAP.space);
    return true;
  }

  verbatim(text: string): void {
    const code = text
      .replace(INVISIBLE, '')
      .replace(/\r\n?/g, '\n')
      .replace(/^(?:[ \t]*\n)+/, '')
      .trimEnd();
    if (code === '') return;
    this.#hasProse = true;
    const start = this.#write(code);
    const end = this.#text.length;
    // The length limit of the text can have cut off the end of the code, or all of it.
    if (start < end) this.code.push({ start, end });
  }

  toString(): string {
    return this.#text;
  }

  /**
   * Appends a text up to the length limit. Returns its position, which is not before the end of the written text if no part fits.
   */
  #write(text: string): number {
    const lead = (this.#text === '' ? '' : SEPARATORS[this.#gap]) + (this.#bullet ? '- ' : '');
    this.#gap = GAP.none;
    this.#isBound = false;
    this.#bullet = false;
    const start = this.#text.length + lead.length;
    if (start + text.length <= this.#lengthMax) this.#text += lead + text;
    else if (start < this.#lengthMax)
      this.#text = (this.#text + lead + text).slice(0, this.#lengthMax).toWellFormed().trimEnd();
    return start;
  }
}
