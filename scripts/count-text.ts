import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { commentsOf, countWords, readPage, sentenceLengths, WORDS_MAX } from './text/prose.ts';
import { findWords, GROUPS, type Group, isHeadless } from './text/words.ts';

/**
 * `npm run count:text -- [FOLDER...]`: prints the counts of the word list, of long sentences and of code blocks for the Markdown
 * files of each folder, and of headless comments for its sources. Folders of other projects work as well. With `--list` it
 * also lists the headless comments with their places.
 */

const SKIPPED = /(?:^|\/)(?:node_modules|\.git|dist|vendor|third_party)(?:\/|$)/;

const filesOf = (folder: string, pattern: string): string[] =>
  globSync(pattern, { cwd: folder, exclude: (path) => SKIPPED.test(path) }).map((name) => join(folder, name));
const sourcesOf = (folder: string): string[] => filesOf(folder, '**/*.{ts,tsx,mts,js,mjs,go}').sort();

/** Counts for all Markdown pages and sources under a folder. */
export function countText(folder: string): Record<string, number> {
  const groups = Object.fromEntries(Object.keys(GROUPS).map((group) => [group, 0])) as Record<Group, number>;
  let words = 0;
  let sentences = 0;
  let long = 0;
  let codeBlocks = 0;
  const pages = filesOf(folder, '**/*.{md,mdx}');
  for (const page of pages) {
    const read = readPage(readFileSync(page, 'utf8'));
    codeBlocks += read.codeBlocks;
    for (const { text } of read.blocks) {
      words += countWords(text);
      for (const { group } of findWords(text)) groups[group]++;
    }
    const lengths = sentenceLengths(read.blocks);
    sentences += lengths.length;
    long += lengths.filter((sentence) => sentence.words > WORDS_MAX).length;
  }
  const comments = sourcesOf(folder).flatMap((name) => commentsOf(readFileSync(name, 'utf8')));
  const perThousand = (count: number): number => (words === 0 ? 0 : Math.round((count / words) * 10_000) / 10);
  return {
    pages: pages.length,
    words,
    ...Object.fromEntries(Object.entries(GROUPS).map(([group, title]) => [title, groups[group as Group]])),
    sentences,
    'sentences over 25 words': long,
    'sentences over 25 words, %': sentences === 0 ? 0 : Math.round((long / sentences) * 1_000) / 10,
    'code blocks': codeBlocks,
    'code blocks per 1,000 words': perThousand(codeBlocks),
    comments: comments.length,
    'headless comments': comments.filter(({ text }) => isHeadless(text)).length,
  };
}

function main(folders: readonly string[]): void {
  const counts = folders.map(countText);
  console.log(`| | ${folders.join(' | ')} |\n|---|${folders.map(() => '---|').join('')}`);
  for (const title of Object.keys(counts[0] ?? {})) {
    console.log(`| ${title} | ${counts.map((count) => count[title]?.toLocaleString('en')).join(' | ')} |`);
  }
}

if (import.meta.main) {
  const root = join(import.meta.dirname, '..');
  const args = process.argv.slice(2).filter((arg) => arg !== '--list');
  const folders = args.length > 0 ? args : [join(root, 'docs'), join(root, 'src')];
  main(folders);
  if (process.argv.includes('--list')) {
    for (const name of folders.flatMap(sourcesOf)) {
      for (const { line, text } of commentsOf(readFileSync(name, 'utf8'))) {
        if (isHeadless(text)) console.log(`${name}:${line}: ${text}`);
      }
    }
  }
}
