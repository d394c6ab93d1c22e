import MarkdownIt, { type Token } from 'markdown-it';

/** Content of a Markdown text, as GitHub renders it. */
export interface MarkdownContents {
  /** Words in lower case, including those of code. */
  readonly words: readonly string[];
  /** Code blocks without white space. */
  readonly codes: readonly string[];
  /** Text of each table's cells in their order, without white space and markup. */
  readonly tables: readonly string[];
}

const parser = new MarkdownIt({ html: true });
const FRONT_MATTER = /^---\n[\s\S]*?\n---\n/;

export function markdownContents(markdown: string): MarkdownContents {
  const words: string[] = [];
  const codes: string[] = [];
  const tables: string[] = [];
  let cells: string[] | null = null;
  const read = (tokens: readonly Token[]): void => {
    for (const [at, { type, content, children }] of tokens.entries()) {
      if (type === 'fence' || type === 'code_block') codes.push(content.replace(/\s+/g, ' ').trim());
      if (type === 'table_open') cells = [];
      if (/^t[hd]_open$/.test(type)) cells?.push(shownIn(tokens[at + 1]?.children ?? []));
      if (type === 'table_close' && cells !== null) {
        tables.push(cells.join(' | '));
        cells = null;
      }
      if (/^(?:fence|code_block|text|code_inline|image)$/.test(type)) words.push(...wordsOf(content));
      else if (type.startsWith('html')) words.push(...wordsOf(content.replace(/<[^>]*>/g, ' ')));
      if (type !== 'image') read(children ?? []);
    }
  };
  read(parser.parse(markdown.replace(FRONT_MATTER, ''), {}));
  return { words, codes, tables };
}

/** Text of a cell without markup. */
const shownIn = (tokens: readonly Token[]): string =>
  tokens
    .map(({ type, content }) => (/^(?:text|code_inline|image)$/.test(type) ? content : type === 'softbreak' ? ' ' : ''))
    .join('')
    .replace(/\s+/g, ' ')
    .trim();

const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** Items of the first list that are missing in the second, with repetitions. */
export function missingFrom(source: readonly string[], made: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const each of made) left.set(each, (left.get(each) ?? 0) + 1);
  return source.filter((each) => {
    const count = left.get(each) ?? 0;
    left.set(each, count - 1);
    return count <= 0;
  });
}
