import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const DOCS = join(import.meta.dirname, '../../docs');

interface ManualBlock {
  readonly kind: string;
  /** Words after the language, for example a file name. */
  readonly title: string;
  readonly text: string;
}

/** Code blocks of Markdown in their order, also of lists, without the indentation of the list. */
export function codeBlocks(markdown: string): ManualBlock[] {
  return [...markdown.matchAll(/^( *)```(\w+) *([^\n]*)\n([\s\S]*?)^\1```$/gm)].map(
    ([, indentation = '', kind = '', title = '', text = '']) => ({
      kind,
      title,
      text: text.replaceAll(new RegExp(`^${indentation}`, 'gm'), ''),
    }),
  );
}

/** Texts of the code blocks in one language, such as `sh`. */
export function blocksOf(markdown: string, kind: string): string[] {
  return codeBlocks(markdown)
    .filter((block) => block.kind === kind)
    .map(({ text }) => text);
}

export const manualPage = (name: string): string => readFileSync(join(DOCS, `${name}.md`), 'utf8');

/** @param name of a page in `docs`, without `.md` */
export function manualBlocks(name: string): ManualBlock[] {
  return codeBlocks(manualPage(name));
}
