import { wordsOf } from '../src/export/markdown/languages.ts';
import { readFrontMatter } from '../src/export/markdown/read-page.ts';
import { createRenderer } from '../src/export/markdown/render-markdown.ts';

/**
 * A page of docs/ as the console serves it: with an id for each row, and without links to pages that it does not serve.
 * @param path for messages
 */
export function manualPage(path: string, markdown: string): string {
  const renderer = createRenderer();
  const words = wordsOf('en');
  const rewrite = (reference: string): string | null => (reference.startsWith('#') ? reference : null);
  const { body } = readFrontMatter(path, markdown);
  // Split by section, so that each table is named by its heading, because landmarks need different names.
  const sections = body.split(/^(?=## )/m).map((section) => {
    const [, title = words.table] = /^## (.+)$/m.exec(section) ?? [];
    return renderer.render(section, { words: { ...words, table: title }, rewrite }).html;
  });
  return sections.join('');
}
