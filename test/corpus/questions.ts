import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const FOLDER = join(import.meta.dirname, 'questions');

export interface Question {
  readonly query: string;
  /** Page that must be the first result. */
  readonly page: string;
}

export interface SmallSite {
  readonly language: string;
  readonly pages: readonly { readonly path: string; readonly title: string; readonly text: string }[];
  readonly questions: readonly Question[];
}

/** Questions about the VitePress manual in one of its languages, with other inflections than the pages use. */
export function manualQuestions(language: string): Question[] {
  return linesOf(`vitepress-${language}.txt`).map((line) => {
    const [query = '', page = ''] = line.split('\t');
    return { query, page: `/${language}/${page}` };
  });
}

/** Sites of a few sentences: `# language`, then pages `/path | title | text`, then questions `? query -> path`. */
export function smallSites(file = 'small-sites.txt'): SmallSite[] {
  const lines = linesOf(file);
  const starts = lines.flatMap((line, at) => (line.startsWith('# ') ? [at] : []));
  return starts.map((start, number) => {
    const own = lines.slice(start + 1, starts[number + 1]);
    return {
      language: (lines[start] as string).slice(2),
      pages: own
        .filter((line) => line.startsWith('/'))
        .map((line) => {
          const [path = '', title = '', text = ''] = line.split(' | ');
          return { path, title, text };
        }),
      questions: own
        .filter((line) => line.startsWith('? '))
        .map((line) => {
          const end = line.lastIndexOf(' -> ');
          return { query: line.slice(2, end), page: line.slice(end + 4) };
        }),
    };
  });
}

function linesOf(file: string): string[] {
  return readFileSync(join(FOLDER, file), 'utf8').trim().split('\n');
}
