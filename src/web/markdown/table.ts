import { holdsBlocks, isLayoutCell } from '../content/clutter.ts';
import { attributeOf, type Element, isElement } from '../content/tree.ts';
import { onOneLine } from './phrases.ts';
import { type Block, type Phrase, plainText, rawOf, type Table, type TableRow, textOf } from './write.ts';

/** Wider tables contain no data, and Markdown would pad each short row. */
const COLUMNS_MAX = 100;
const CELLS_MAX = 200_000;

type Align = 'left' | 'right' | 'center' | null;

type DataRow = { readonly isHead: boolean; readonly cells: readonly Element[] };

export function rowsOf(table: Element, isSkipped: (element: Element) => boolean): readonly DataRow[] | null {
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

export function tableOf(rows: readonly DataRow[], read: (cell: Element) => Phrase[]): Table {
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
    const said = /text-align\s*:\s*(left|right|center)/i.exec(attributeOf(cell, 'style') ?? '')?.[1];
    const align = (said ?? attributeOf(cell, 'align') ?? '').toLowerCase();
    const known = align === 'left' || align === 'right' || align === 'center' ? align : null;
    return Array.from({ length: spanOf(cell) }, () => known);
  });
  return Array.from({ length: columns }, (_, at) => aligns[at] ?? null);
}

const withBreaks = (parts: readonly Phrase[][]): Phrase[] =>
  parts.flatMap((part, at) => [...(at === 0 ? [] : [rawOf('<br>')]), ...part]);

/** Separates blocks by `<br>`, since a Markdown row is one line. */
export const cellPhrases = (blocks: readonly Block[]): Phrase[] => withBreaks(blocks.map(phrasesOf));

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
