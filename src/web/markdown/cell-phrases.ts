import { type Block, type Phrase, plainText, rawOf, textOf } from './nodes.ts';
import { onOneLine } from './phrases.ts';

const parted = (parts: readonly Phrase[][]): Phrase[] =>
  parts.flatMap((part, at) => [...(at === 0 ? [] : [rawOf('<br>')]), ...part]);

/** Blocks in a cell of a table, parted by line breaks of HTML: Markdown has one line for a row. */
export function cellPhrases(blocks: readonly Block[]): Phrase[] {
  return parted(blocks.map(phrasesOf));
}

function phrasesOf(block: Block): Phrase[] {
  switch (block.type) {
    case 'paragraph':
    case 'heading':
      return onOneLine(block.children, '<br>');
    case 'code': {
      const lines = block.value.split('\n').map((line) => line.trim());
      return parted(lines.filter((line) => line !== '').map((value) => [{ type: 'inlineCode', value }]));
    }
    case 'list':
      return parted(
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
