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

export interface Manual {
  readonly archive: string;
  readonly name: string;
  /** Undefined for a manual in one language. */
  readonly language: string | undefined;
  readonly questions: readonly { readonly query: string; readonly pages: readonly string[] }[];
}

/** Six manuals of the corpus with the 77 questions of `bench/widget/questions.txt`. */
export function readManuals(): Manual[] {
  const lines = readFileSync(join(import.meta.dirname, '../../bench/widget/questions.txt'), 'utf8')
    .trim()
    .split('\n');
  const starts = lines.flatMap((line, at) => (line.startsWith('# ') ? [at] : []));
  return starts.map((start, at) => {
    const [, archive = '', language] = (lines[start] as string).split(' ');
    const questions = lines.slice(start + 1, starts[at + 1]).map((line) => {
      const [query = '', pages = ''] = line.split('\t');
      return { query, pages: pages.split(' ') };
    });
    return { archive, name: archive.replace(/[-.].*/, ''), language, questions };
  });
}

/** Versions of a page in the Docusaurus bundle have the same text. */
const VERSION_FOLDER = /(?<=^docs\/)(?:1\.0|next)\//;

/** Page of an address, as in the list of questions. */
export function pageOf(url: string): string {
  const { pathname } = new URL(url, 'http://localhost');
  return pathname
    .replace(/(?:\/index)?\.html$|\/$/, '')
    .slice(1)
    .replace(VERSION_FOLDER, '');
}
