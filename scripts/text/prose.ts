/** Piece of prose that does not continue in the next piece: a paragraph, a list item, a table cell or a heading. */
export interface Block {
  readonly kind: 'paragraph' | 'item' | 'cell' | 'heading' | 'quote';
  /** First source line, counted from 1. */
  readonly line: number;
  /** Text without markup. Inline code is replaced by the word `code`. */
  readonly text: string;
}

export interface Page {
  /** Fields of the front matter, as they are written. */
  readonly fields: ReadonlyMap<string, string>;
  readonly blocks: readonly Block[];
  readonly codeBlocks: number;
  /** Source lines for which a maximum of columns applies: no front matter, code or table. */
  readonly lines: readonly { readonly line: number; readonly text: string }[];
}

const ITEM = /^\s*(?:[-*+]|\d+[.)])\s+(?:\[[ x]\]\s+)?/;
const ABBREVIATION = /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|no|fig)\.$/i;

/** Finds the parts of a Markdown page that readers read as prose. */
export function readPage(markdown: string): Page {
  const source = markdown.split(/\r?\n/);
  const fields = new Map<string, string>();
  let start = 0;
  if (source[0] === '---') {
    const end = source.indexOf('---', 1);
    for (const line of source.slice(1, Math.max(end, 1))) {
      const [, key, value] = /^(\w+):\s*(.*)$/.exec(line) ?? [];
      if (key !== undefined) fields.set(key, (value ?? '').replace(/^(["'])(.*)\1$/, '$2'));
    }
    if (end > 0) start = end + 1;
  }

  const blocks: Block[] = [];
  const lines: { line: number; text: string }[] = [];
  let codeBlocks = 0;
  let fence: string | null = null;
  let comment = false;
  let open: { kind: Block['kind']; line: number; parts: string[] } | null = null;
  const close = (): void => {
    if (open !== null) {
      const text = plainText(open.parts.join(' '));
      if (text !== '') blocks.push({ kind: open.kind, line: open.line, text });
    }
    open = null;
  };
  const add = (kind: Block['kind'], line: number, text: string): void => {
    close();
    open = { kind, line, parts: [text] };
  };

  for (const [index, line] of source.entries()) {
    if (index < start) continue;
    const [, mark] = /^\s*(`{3,}|~{3,})/.exec(line) ?? [];
    if (fence !== null) {
      if (mark?.startsWith(fence) && line.trim() === mark) fence = null;
      continue;
    }
    if (mark !== undefined) {
      close();
      fence = mark;
      codeBlocks++;
      continue;
    }
    if (comment || line.startsWith('<!--')) {
      comment = !line.includes('-->');
      continue;
    }
    const number = index + 1;
    if (/^\s*\|/.test(line)) {
      close();
      if (/^[\s|:-]+$/.test(line)) continue;
      for (const cell of line.split(/(?<!\\)\|/).slice(1, -1)) add('cell', number, cell.replaceAll('\\|', '|'));
      close();
      continue;
    }
    lines.push({ line: number, text: line });
    if (line.trim() === '') close();
    else if (/^#{1,6}\s/.test(line)) {
      add('heading', number, line.replace(/^#+\s+/, ''));
      close();
    } else if (ITEM.test(line)) add('item', number, line.replace(ITEM, ''));
    else if (/^\s*>/.test(line)) {
      const text = line.replace(/^\s*>\s?/, '');
      if (open === null) add('quote', number, text);
      else (open as { parts: string[] }).parts.push(text);
    } else if (open === null) add('paragraph', number, line.trim());
    else (open as { parts: string[] }).parts.push(line.trim());
  }
  close();
  return { fields, blocks, codeBlocks, lines };
}

function plainText(markdown: string): string {
  return (
    markdown
      .replace(/!\[[^\]]*\]\([^)]*\)/g, ' ')
      .replace(/(`+)(?:(?!\1).)+\1/g, 'code')
      // Run this again for a picture within a link.
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/\[([^\]]+)\]\[[^\]]*\]/g, '$1')
      .replace(/<https?:[^>]*>|https?:\/\/\S+[^\s.,;:)]/g, 'code')
      .replace(/<\/?[a-z][^>]*>/gi, ' ')
      .replace(/\*\*|__|(?<!\w)[*_]|[*_](?!\w)/g, '')
      .replace(/\s+/g, ' ')
      .trim()
  );
}

/** Splits the text of a block. A colon does not end a sentence. */
export function sentencesOf(text: string): string[] {
  const sentences: string[] = [];
  let begin = 0;
  for (const { index, 0: mark } of text.matchAll(/[.!?…]["')\]]*(?=\s|$)/g)) {
    const end = index + mark.length;
    if (ABBREVIATION.test(text.slice(begin, index + 1))) continue;
    sentences.push(text.slice(begin, end).trim());
    begin = end;
  }
  sentences.push(text.slice(begin).trim());
  return sentences.filter((sentence) => countWords(sentence) > 0);
}

/** Longest sentence, in words (style of the manual). */
export const WORDS_MAX = 25;

/** Minimum words of a table cell that counts as a sentence instead of a label. */
const CELL_WORDS_MIN = 8;

/** Numbers of words of the sentences. Omits headings and short table cells. */
export function sentenceLengths(blocks: readonly Block[]): { line: number; words: number }[] {
  return blocks.flatMap(({ kind, line, text }) => {
    if (kind === 'heading' || (kind === 'cell' && countWords(text) < CELL_WORDS_MIN)) return [];
    return sentencesOf(text).map((sentence) => ({ line, words: countWords(sentence) }));
  });
}

export const countWords = (text: string): number =>
  text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;

/** Comments of a TypeScript file: runs of `//` lines and block comments, each as one text with its first line. */
export function commentsOf(code: string): { line: number; text: string }[] {
  const comments: { line: number; text: string }[] = [];
  const lineAt = (index: number): number => code.slice(0, index).split('\n').length;
  for (const match of code.matchAll(/\/\*\*?([\s\S]*?)\*\/|(?:^[ \t]*\/\/.*(?:\n|$))+|[;,{}(][ \t]+\/\/ .*$/gm)) {
    const text = match[1] ?? match[0].replace(/^[ \t]*[;,{}(]?[ \t]*\/\/ ?/gm, '');
    const plain = text
      .replace(/^\s*\* ?/gm, '')
      .replace(/\s+/g, ' ')
      .trim();
    if (plain !== '') comments.push({ line: lineAt(match.index), text: plain });
  }
  return comments;
}
