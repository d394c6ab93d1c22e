import { codeText, holdsBlocks, isLayoutCell, isNote } from '../content/clutter.ts';
import { type ContentRoot, isOutsideContent } from '../content/content-root.ts';
import {
  attributeOf,
  classesOf,
  DEPTH_MAX,
  type Element,
  elementsOf,
  findElement,
  hasClass,
  isElement,
  isHeading,
  type Node,
  type Parent,
} from '../content/tree.ts';
import { Footnotes, isTabBar, tabLabels } from './footnotes-and-tabs.ts';
import { BLOCKS, isBlank, onOneLine, PhraseReader, type ResolveLink, tidy } from './phrases.ts';
import {
  type Block,
  boldOf,
  type ListItem,
  type Phrase,
  paragraphOf,
  plainText,
  type Quoted,
  rawOf,
  type Table,
  type TableRow,
  textOf,
} from './write.ts';

/** Maximum columns of a Markdown table. Wider tables contain no useful data, and would need empty cells in each short row. */
const COLUMNS_MAX = 100;
const CELLS_MAX = 200_000;

type Align = 'left' | 'right' | 'center' | null;

type DataRow = { readonly isHead: boolean; readonly cells: readonly Element[] };

function rowsOf(table: Element, isSkipped: (element: Element) => boolean): readonly DataRow[] | null {
  const rows: DataRow[] = [];
  const collect = (parent: Element, isHead: boolean): void => {
    for (const child of parent.childNodes) {
      if (!isElement(child) || isSkipped(child)) continue;
      if (child.tagName !== 'tr') {
        if (/^t(?:head|body|foot)$/.test(child.tagName)) collect(child, child.tagName === 'thead');
        continue;
      }
      const cells = child.childNodes.filter(isElement).filter(({ tagName }) => tagName === 'td' || tagName === 'th');
      const shown = cells.filter((cell) => !isSkipped(cell));
      rows.push({
        isHead: isHead || (rows.length === 0 && shown.every(({ tagName }) => tagName === 'th')),
        cells: shown,
      });
    }
  };
  collect(table, false);
  const columns = Math.max(0, ...rows.slice(0, CELLS_MAX).map(widthOf));
  if (columns === 0 || columns > COLUMNS_MAX || columns * rows.length > CELLS_MAX) return null;
  const isLayout = rows[0]?.isHead === true && columns > 1 ? holdsBlocks : isLayoutCell;
  return rows.some(({ cells }) => cells.some(isLayout)) ? null : rows;
}

function tableOf(rows: readonly DataRow[], read: (cell: Element) => Phrase[]): Table {
  const columns = Math.max(...rows.map(widthOf));
  const [first, ...others] = rows;
  const head = first?.isHead === true ? first : null;
  const body = head === null ? rows : others;
  const rowOf = ({ cells }: DataRow): TableRow => {
    const children: TableRow['children'] = cells.flatMap((cell) => [
      { type: 'tableCell', children: read(cell) },
      ...Array.from({ length: spanOf(cell) - 1 }, () => emptyCell()),
    ]);
    while (children.length < columns) children.push(emptyCell());
    return { type: 'tableRow', children };
  };
  const headRow = head === null ? rowOf({ isHead: true, cells: [] }) : rowOf(head);
  return { type: 'table', align: alignmentsOf(head ?? first, columns), children: [headRow, ...body.map(rowOf)] };
}

const emptyCell = (): TableRow['children'][number] => ({ type: 'tableCell', children: [] });

const spanOf = (cell: Element): number => {
  const span = Number.parseInt(attributeOf(cell, 'colspan') ?? '1', 10);
  return span > 1 ? Math.min(span, COLUMNS_MAX + 1) : 1;
};

const widthOf = ({ cells }: DataRow): number => cells.reduce((sum, cell) => sum + spanOf(cell), 0);

function alignmentsOf(row: DataRow | undefined, columns: number): Align[] {
  const aligns = (row?.cells ?? []).flatMap((cell): Align[] => {
    const styled = /text-align\s*:\s*(left|right|center)/i.exec(attributeOf(cell, 'style') ?? '')?.[1];
    const align = (styled ?? attributeOf(cell, 'align') ?? '').toLowerCase();
    const known = align === 'left' || align === 'right' || align === 'center' ? align : null;
    return Array.from({ length: spanOf(cell) }, () => known);
  });
  return Array.from({ length: columns }, (_, at) => aligns[at] ?? null);
}

const withBreaks = (parts: readonly Phrase[][]): Phrase[] =>
  parts.flatMap((part, at) => [...(at === 0 ? [] : [rawOf('<br>')]), ...part]);

/** Joins the blocks of a table cell with `<br>`, because a Markdown table allows only one line per row. */
const cellPhrases = (blocks: readonly Block[]): Phrase[] => withBreaks(blocks.map(phrasesOf));

function phrasesOf(block: Block): Phrase[] {
  switch (block.type) {
    case 'paragraph':
    case 'heading':
      return onOneLine(block.children, '<br>');
    case 'code': {
      const lines = block.value.split('\n').map((line) => line.trim());
      return withBreaks(lines.filter((line) => line !== '').map((value) => [{ type: 'inlineCode', value }]));
    }
    case 'list':
      return withBreaks(
        block.children.map((item, at) => [
          textOf(block.ordered === true ? `${(block.start ?? 1) + at}. ` : '• '),
          ...cellPhrases(item.children),
        ]),
      );
    case 'blockquote':
      return cellPhrases(block.children);
    default:
      return 'children' in block || 'value' in block ? [textOf(plainText(block).replace(/\s+/g, ' '))] : [];
  }
}

/** Maximum depth of nested lists, quotes and notes. Markdown indents each line once per level, so deeper nesting would enlarge the text. */
const NESTED_MAX = 12;

interface Place {
  readonly depth: number;
  readonly nested: number;
  /** True inside a note, card or table cell, where docshelf writes a heading as bold text. */
  readonly isInset: boolean;
}

export class BlockReader {
  readonly #root: ContentRoot;
  readonly #footnotes: Footnotes;
  readonly #phrases: PhraseReader;
  readonly #tabLabels: ReadonlyMap<Element, string>;
  readonly #holding: ReadonlySet<Element>;
  #isBeforeText = true;

  constructor(root: ContentRoot, resolveLink: ResolveLink) {
    this.#root = root;
    this.#footnotes = new Footnotes(root.element);
    this.#phrases = new PhraseReader(resolveLink, this.#footnotes);
    this.#tabLabels = tabLabels(root.element);
    this.#holding = holdersOfBlocks(root.element);
  }

  read(): Block[] {
    return this.#children(this.#root.element, { depth: 0, nested: 0, isInset: false });
  }

  #children(parent: Parent, place: Place): Block[] {
    let blocks: Block[] = [];
    let line: Phrase[] = [];
    const flush = (): void => {
      const children = tidy(line);
      line = [];
      if (isBlank(children)) return;
      this.#isBeforeText = false;
      blocks.push(paragraphOf(children));
    };
    let before: Node | null = null;
    for (const child of parent.childNodes) {
      if (isElement(child) && this.#isSkipped(child)) continue;
      if (isElement(child) && (BLOCKS.has(child.tagName) || this.#holding.has(child))) {
        flush();
        const inner = place.depth < DEPTH_MAX ? this.#block(child, place) : [];
        // Reuse the array of the first child. Otherwise, each level of nested elements would copy all blocks inside it.
        if (blocks.length === 0) blocks = inner;
        else for (const block of inner) blocks.push(block);
      } else {
        // Adjacent links without a space are buttons, which only the page's style separates, so add a space between them.
        if (isLink(child) && isLink(before)) line.push(textOf(' '));
        for (const phrase of this.#phrases.read(child)) line.push(phrase);
      }
      before = child;
    }
    flush();
    return blocks;
  }

  #isSkipped(element: Element): boolean {
    return (
      element.tagName !== 'math' && (isOutsideContent(element, this.#root, this.#isBeforeText) || isTabBar(element))
    );
  }

  #block(element: Element, outer: Place): Block[] {
    const place = { ...outer, depth: outer.depth + 1 };
    const number = this.#footnotes.numberOf(element);
    if (number !== null) return this.#footnote(element, number, place);
    const label = this.#tabLabels.get(element) ?? '';
    const blocks = this.#byName(element, place);
    return label === '' || blocks.length === 0 ? blocks : [boldOf([textOf(label)]), ...blocks];
  }

  #byName(element: Element, place: Place): Block[] {
    if (isHeading(element)) return this.#heading(element, place);
    switch (element.tagName) {
      case 'pre':
        return this.#code(element);
      case 'hr':
        return this.#isBeforeText ? [] : [{ type: 'thematicBreak' }];
      case 'ul':
      case 'ol':
        return this.#list(element, place);
      case 'dl':
        return this.#definitions(element, place);
      case 'table':
        return this.#table(element, place);
      case 'a':
        return this.#card(element, place);
      case 'summary':
      case 'caption':
        return this.#bold(element, place);
      default:
        return isNote(element) ? this.#note(element, place) : this.#children(element, place);
    }
  }

  #heading(element: Element, { isInset }: Place): Block[] {
    const read = element.childNodes.flatMap((child) => this.#phrases.read(child, { isInHeading: true }));
    const children = onOneLine(read, ' ');
    if (isBlank(children)) return [];
    this.#isBeforeText = false;
    if (isInset) return [boldOf(children)];
    return [{ type: 'heading', depth: Number(element.tagName[1]) as 1, children }];
  }

  #code(pre: Element): Block[] {
    const block = codeBlockOf(pre);
    if (block === null) return [];
    this.#isBeforeText = false;
    return [block];
  }

  #bold(element: Element, place: Place): Block[] {
    const blocks = this.#children(element, place);
    const [only, ...others] = blocks;
    if (only?.type !== 'paragraph' || others.length > 0 || isStrong(only.children)) return blocks;
    return [boldOf(only.children)];
  }

  #card(link: Element, place: Place): Block[] {
    const blocks = this.#children(link, { ...place, isInset: true });
    const url = this.#phrases.addressOf(link);
    const at = blocks.findIndex(({ type }) => type === 'paragraph');
    const first = blocks[at];
    if (url === null || first?.type !== 'paragraph') return blocks;
    return blocks.with(at, paragraphOf([{ type: 'link', url, title: null, children: withoutLinks(first.children) }]));
  }

  #note(element: Element, place: Place): Block[] {
    if (place.nested >= NESTED_MAX) return this.#children(element, place);
    const inner = { ...place, nested: place.nested + 1, isInset: true };
    const title = element.tagName === 'blockquote' ? null : noteTitleOf(element);
    const blocks = this.#children(element, inner);
    const [first, ...others] = blocks;
    if (first === undefined) return [];
    const isTitled = title !== null && first.type === 'paragraph' && !isStrong(first.children);
    const children = isTitled ? [boldOf(first.children), ...others] : blocks;
    return [{ type: 'blockquote', children: children as Quoted[] }];
  }

  #footnote(element: Element, number: string, place: Place): Block[] {
    const children = this.#children(element, { ...place, nested: place.nested + 1, isInset: true });
    const [first, ...others] = children;
    // Omit the footnote's number, such as `[1]`, which docutils writes as a paragraph before the text.
    const isMark = first?.type === 'paragraph' && /^\[?\d+\]?$/.test(plainText(first).trim());
    return [
      {
        type: 'footnoteDefinition',
        identifier: number,
        label: number,
        children: (isMark ? others : children) as Quoted[],
      },
    ];
  }

  #list(list: Element, place: Place): Block[] {
    if (place.nested >= NESTED_MAX) return this.#children(list, place);
    const inner = { ...place, nested: place.nested + 1 };
    const notes: Block[] = [];
    const items: ListItem[] = [];
    for (const child of list.childNodes) {
      if (!isElement(child) || this.#isSkipped(child)) continue;
      const number = this.#footnotes.numberOf(child);
      if (number !== null) notes.push(...this.#footnote(child, number, inner));
      else if (child.tagName === 'li') items.push(...itemOf(this.#itemBlocks(child, inner)));
      else items.push(...itemOf(this.#children(child, inner)));
    }
    if (items.length === 0) return notes;
    const ordered = list.tagName === 'ol';
    const start = ordered
      ? Math.max(0, Math.min(999_999, Number.parseInt(attributeOf(list, 'start') ?? '1', 10) || 0))
      : null;
    return [{ type: 'list', ordered, start, spread: items.some(({ spread }) => spread), children: items }, ...notes];
  }

  #itemBlocks(item: Element, place: Place): Block[] {
    const blocks = this.#children(item, place);
    const box = elementsOf(item)
      .take(3)
      .find((element) => element.tagName === 'input' && attributeOf(element, 'type') === 'checkbox');
    const [first] = blocks;
    if (box === undefined || first?.type !== 'paragraph') return blocks;
    const mark = attributeOf(box, 'checked') === null ? '[ ] ' : '[x] ';
    return blocks.with(0, paragraphOf([rawOf(mark), ...first.children]));
  }

  /** Writes a definition list as a list, whose items contain a term in bold and its definition. */
  #definitions(list: Element, place: Place): Block[] {
    if (place.nested >= NESTED_MAX) return this.#children(list, place);
    const inner = { ...place, nested: place.nested + 1 };
    const items: Block[][] = [];
    for (const child of definitionParts(list)) {
      if (this.#isSkipped(child)) continue;
      if (child.tagName === 'dt') items.push(this.#term(child, inner));
      else {
        const blocks = this.#block(child, inner);
        if (items.length === 0) items.push(blocks);
        else items.at(-1)?.push(...blocks);
      }
    }
    const children = items.flatMap(itemOf);
    if (children.length === 0) return [];
    return [{ type: 'list', ordered: false, spread: children.some(({ spread }) => spread), children }];
  }

  #term(term: Element, place: Place): Block[] {
    const blocks = this.#children(term, { ...place, isInset: true });
    const [only, ...others] = blocks;
    if (only?.type !== 'paragraph' || others.length > 0) return blocks;
    // Sphinx writes a function signature as a dozen elements, so join them into one code span.
    if (/(?:^|\s)(?:sig|sig-object)(?:\s|$)/.test(attributeOf(term, 'class') ?? ''))
      return [paragraphOf([{ type: 'inlineCode', value: plainText(only).trim() }])];
    const [first] = only.children;
    const isMarked =
      only.children.length === 1 &&
      (first?.type === 'link' || first?.type === 'inlineCode' || first?.type === 'strong');
    return isMarked ? [only] : [boldOf(only.children)];
  }

  #table(table: Element, place: Place): Block[] {
    const rows = rowsOf(table, (element) => this.#isSkipped(element));
    if (rows === null) return this.#children(table, place);
    const caption = table.childNodes.find((child) => isElement(child) && child.tagName === 'caption');
    const above = caption === undefined || !isElement(caption) ? [] : this.#bold(caption, place);
    this.#isBeforeText = false;
    return [...above, tableOf(rows, (cell) => cellPhrases(this.#children(cell, { ...place, isInset: true })))];
  }
}

const isLink = (node: Node | null): boolean => node?.nodeName === 'a';

const isStrong = (children: readonly Phrase[]): boolean => children.length === 1 && children[0]?.type === 'strong';

function* definitionParts(list: Element): Generator<Element> {
  for (const child of list.childNodes) {
    if (!isElement(child)) continue;
    if (child.tagName === 'div' && findElement(child, ({ tagName }) => tagName === 'dt') !== null)
      yield* definitionParts(child);
    else yield child;
  }
}

function itemOf(blocks: Block[]): ListItem[] {
  if (blocks.length === 0) return [];
  const paragraphs = blocks.filter(({ type }) => type !== 'list').length;
  return [{ type: 'listItem', spread: paragraphs > 1, children: blocks as ListItem['children'] }];
}

const withoutLinks = (phrases: readonly Phrase[]): Phrase[] =>
  phrases.flatMap((node) => (node.type === 'link' ? node.children : [node]));

function holdersOfBlocks(root: Element): ReadonlySet<Element> {
  const holders = new Set<Element>();
  for (const element of elementsOf(root)) {
    if (!BLOCKS.has(element.tagName)) continue;
    let { parentNode } = element;
    while (isElement(parentNode) && !BLOCKS.has(parentNode.tagName) && !holders.has(parentNode)) {
      holders.add(parentNode);
      ({ parentNode } = parentNode);
    }
  }
  return holders;
}

/** Classes with which Prism, Shiki, highlight.js, Pygments (Sphinx and Jekyll) and GitHub name the language of code. */
const LANGUAGE_CLASS = /^(?:language-|lang-|highlight-source-|highlight-|sourceCode-?)([\w#+.-]+)$/;
const NO_LANGUAGE = new Set('default none auto guess undefined null ansi-to-html source wrapper container'.split(' '));
/** Maximum enclosing elements to search for the language of code, such as the table of Pygments' line numbers. */
const AROUND_MAX = 7;
const WRAPPERS = new Set(['div', 'figure', 'td', 'tr', 'tbody', 'table']);
const LANGUAGE_LENGTH_MAX = 40;

function codeBlockOf(pre: Element): Block | null {
  const value = codeText(pre)
    .replace(/[\u200b\u2060\ufeff]/g, '')
    .replace(/\r\n?/g, '\n')
    .replace(/^(?:[ \t]*\n)+/, '')
    .trimEnd();
  return value === '' ? null : { type: 'code', lang: languageOf(pre), value };
}

function languageOf(pre: Element): string | null {
  const code = findElement(pre, ({ tagName }) => tagName === 'code');
  const inner = [pre, ...(code === null ? [] : [code])];
  for (const element of [...inner, ...wrappersOf(pre)]) {
    const language = languageIn(element);
    if (language !== null) return language;
  }
  return null;
}

function wrappersOf(pre: Element): Element[] {
  const found: Element[] = [];
  let { parentNode } = pre;
  while (isElement(parentNode) && WRAPPERS.has(parentNode.tagName) && found.length < AROUND_MAX) {
    const blocks = elementsOf(parentNode).filter(({ tagName }) => tagName === 'pre');
    if (blocks.drop(2).next().done !== true) break;
    found.push(parentNode);
    parentNode = parentNode.parentNode;
  }
  return found;
}

function languageIn(element: Element): string | null {
  const classes = classesOf(element);
  const hljs = classes.includes('hljs') ? classes.find((name) => /^(?!hljs)[a-z][\w+#-]*$/.test(name)) : undefined;
  const names = [
    attributeOf(element, 'data-language'),
    attributeOf(element, 'data-lang'),
    ...classes.map((name) => LANGUAGE_CLASS.exec(name)?.[1] ?? null),
    hljs ?? null,
  ];
  const name = names.find((name) => name !== null && /^[\w#+.-]+$/.test(name) && name.length <= LANGUAGE_LENGTH_MAX);
  return name === undefined || name === null || NO_LANGUAGE.has(name) ? null : name;
}

/** Classes of the titles of notes in pages of Docusaurus, VitePress, Starlight, Sphinx, Material and GitHub. */
const TITLE_CLASS =
  /^(?:admonition-?title|custom-block-title|starlight-aside__title|markdown-alert-title|(?:callout|alert)-?(?:title|heading))$|^admonitionHeading/;
const LOOKED_AT_MAX = 5;

function noteTitleOf(note: Element): Element | null {
  for (const element of elementsOf(note).take(LOOKED_AT_MAX)) {
    if (classesOf(element).some((name) => TITLE_CLASS.test(name))) return element;
    if (element.tagName === 'summary' && hasClass(note, 'details')) return element;
  }
  return null;
}
