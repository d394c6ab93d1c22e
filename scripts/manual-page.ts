import { wordsOf } from '../src/export/markdown/languages.ts';
import { readFrontMatter } from '../src/export/markdown/read-page.ts';
import { createRenderer } from '../src/export/markdown/render-markdown.ts';

/**
 * HTML of a page of docs/ for the console. Each row of a table has an id. Links to other pages become text, because the console
 * does not serve these pages. @param path path of the page, for error messages
 */
export function manualPage(path: string, markdown: string): string {
  const renderer = createRenderer();
  const words = wordsOf('en');
  const rewrite = (reference: string): string | null => (reference.startsWith('#') ? reference : null);
  const { body } = readFrontMatter(path, markdown);
  // Render each section separately, so that each table is named by its heading, because landmarks need different names.
  const sections = body.split(/^(?=## )/m).map((section) => {
    const [, title = words.table] = /^## (.+)$/m.exec(section) ?? [];
    return renderer.render(section, { words: { ...words, table: title }, rewrite }).html;
  });
  return sections.join('');
}
