import type { toMarkdown } from 'mdast-util-to-markdown';

/** Of the Markdown syntax tree (mdast). */
export type MarkdownNode = Parameters<typeof toMarkdown>[0];

type Of<Type extends MarkdownNode['type']> = Extract<MarkdownNode, { readonly type: Type }>;

export type Phrase = Of<'paragraph'>['children'][number];
export type Block = Of<'root'>['children'][number];
export type Quoted = Of<'blockquote'>['children'][number];
export type ListItem = Of<'listItem'>;
export type TableRow = Of<'tableRow'>;
export type Table = Of<'table'>;

export const textOf = (value: string): Phrase => ({ type: 'text', value });
/** Written as it is. */
export const rawOf = (value: string): Phrase => ({ type: 'html', value });
export const paragraphOf = (children: Phrase[]): Of<'paragraph'> => ({ type: 'paragraph', children });
export const boldOf = (children: Phrase[]): Of<'paragraph'> => paragraphOf([{ type: 'strong', children }]);

export function plainText(node: Block | Phrase): string {
  if ('value' in node) return node.value;
  if (node.type === 'image') return node.alt ?? '';
  return 'children' in node ? (node.children as Phrase[]).map(plainText).join('') : node.type === 'break' ? ' ' : '';
}
