import { type Options, toMarkdown } from 'mdast-util-to-markdown';

type MarkdownNode = Parameters<typeof toMarkdown>[0];

type Of<Type extends MarkdownNode['type']> = Extract<MarkdownNode, { readonly type: Type }>;

export type Phrase = Of<'paragraph'>['children'][number];
export type Block = Of<'root'>['children'][number];
export type Quoted = Of<'blockquote'>['children'][number];
export type ListItem = Of<'listItem'>;
export type TableRow = Of<'tableRow'>;
export type Table = Of<'table'>;

export const textOf = (value: string): Phrase => ({ type: 'text', value });
export const rawOf = (value: string): Phrase => ({ type: 'html', value });
export const paragraphOf = (children: Phrase[]): Of<'paragraph'> => ({ type: 'paragraph', children });
export const boldOf = (children: Phrase[]): Of<'paragraph'> => paragraphOf([{ type: 'strong', children }]);

export function plainText(node: Block | Phrase): string {
  if ('value' in node) return node.value;
  if (node.type === 'image') return node.alt ?? '';
  return 'children' in node ? (node.children as Phrase[]).map(plainText).join('') : node.type === 'break' ? ' ' : '';
}

declare module 'mdast-util-to-markdown' {
  interface ConstructNameMap {
    readonly table: 'table';
    readonly tableRow: 'tableRow';
    readonly tableCell: 'tableCell';
    readonly strikethrough: 'strikethrough';
    readonly footnoteDefinition: 'footnoteDefinition';
  }
}

type Handler = NonNullable<NonNullable<Options['handlers']>['table']>;
type State = Parameters<Handler>[2];
type Info = Parameters<Handler>[3];

const handler =
  <Type extends MarkdownNode['type']>(
    write: (node: Extract<MarkdownNode, { readonly type: Type }>, state: State, info: Info) => string,
  ): Handler =>
  (node, _parent, state, info) =>
    write(node, state, info);

/** Writes a table without padding its cells (GFM, section 4.10). */
const table = handler<'table'>((node, state, info) => {
  const [head, ...rows] = node.children;
  if (head === undefined) return '';
  const marks = head.children.map((_, at) => RULES[node.align?.[at] ?? 'none']);
  const exit = state.enter('table');
  const lines = [
    rowLine(head, state, info),
    `| ${marks.join(' | ')} |`,
    ...rows.map((row) => rowLine(row, state, info)),
  ];
  exit();
  return lines.join('\n');
});

const RULES = { none: '---', left: ':--', right: '--:', center: ':-:' } as const;

function rowLine(row: TableRow, state: State, info: Info): string {
  const exit = state.enter('tableRow');
  const cells = row.children.map((cell) => {
    const exitCell = state.enter('tableCell');
    const text = state.containerPhrasing(cell, { ...info, before: ' ', after: ' ' });
    exitCell();
    return text;
  });
  exit();
  return `| ${cells.join(' | ')} |`;
}

/** Writes inline code. In a table cell, escapes `|`, because it separates cells even inside code (GFM, section 4.10). */
const inlineCode = handler<'inlineCode'>((node, state) => {
  const value = node.value.replace(/[\r\n]+/g, ' ');
  const runs = new Set(Array.from(value.matchAll(/`+/g), ([run]) => run.length));
  let length = 1;
  while (runs.has(length)) length += 1;
  const ticks = '`'.repeat(length);
  const isPadded = /^`|`$/.test(value) || (/^ .* $/.test(value) && value.trim() !== '');
  const code = `${ticks}${isPadded ? ` ${value} ` : value}${ticks}`;
  return state.stack.includes('tableCell') ? code.replaceAll('|', '\\|') : code;
});

const deleted = handler<'delete'>((node, state, info) => {
  const exit = state.enter('strikethrough');
  const text = state.containerPhrasing(node, { ...info, before: '~', after: '~' });
  exit();
  return `~~${text}~~`;
});

const footnoteReference = handler<'footnoteReference'>(({ identifier }) => `[^${identifier}]`);

const footnoteDefinition = handler<'footnoteDefinition'>((node, state, info) => {
  const exit = state.enter('footnoteDefinition');
  const text = state.indentLines(state.containerFlow(node, info), (line, at, isBlank) =>
    at === 0 || isBlank ? line : `    ${line}`,
  );
  exit();
  return `[^${node.identifier}]: ${text}`;
});

/** Declares the first character that `write` outputs. The Markdown library needs it to escape the text before that output. */
const startingWith = (write: Handler, character: string): Handler => Object.assign(write, { peek: () => character });

const SPANS: NonNullable<NonNullable<Options['unsafe']>[number]['notInConstruct']> = [
  'autolink',
  'destinationLiteral',
  'destinationRaw',
  'reference',
  'titleQuote',
  'titleApostrophe',
];

const OPTIONS: Options = {
  bullet: '-',
  rule: '-',
  handlers: {
    table,
    inlineCode: startingWith(inlineCode, '`'),
    delete: startingWith(deleted, '~'),
    footnoteReference: startingWith(footnoteReference, '['),
    footnoteDefinition,
  },
  unsafe: [
    { character: '~', inConstruct: 'phrasing', notInConstruct: SPANS },
    { character: '|', inConstruct: 'tableCell' },
    { character: '\n', inConstruct: 'tableCell' },
    // Escape `|`, `:` and `-` at the start of a line, where they would begin a table.
    { character: '|', atBreak: true },
    { character: ':', atBreak: true, after: '-' },
    { character: '-', atBreak: true, after: '[:|-]' },
  ],
};

export const writeMarkdown = (children: Block[]): string => toMarkdown({ type: 'root', children }, OPTIONS);
