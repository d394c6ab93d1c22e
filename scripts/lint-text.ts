import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPage, sentenceLengths, WORDS_MAX } from './text/prose.ts';
import { stringsOf } from './text/strings.ts';
import { findWords } from './text/words.ts';

/**
 * `npm run lint:text` checks README, CONTRIBUTING, SECURITY, the top section of the changelog, the manual and the examples: word
 * list, length of sentences, columns, numbers and front matter. For descriptions of settings and strings in src/ (help, messages, console) it
 * checks only the word list. `npm run lint:text -- commits [BASE]` checks the subjects of commits since BASE.
 */

/** Maximum share of a page's sentences that may be long. A short page may have one long sentence. */
const LONG_SHARE = 0.1;
const COLUMNS_MAX = 100;
const SUBJECT_MAX = 72;
/** Commit after which the check of subjects begins. */
const COMMIT_BASE = '0ee0c89d';
const KINDS = ['tutorial', 'how-to', 'reference', 'explanation'];

/** Pages that are generated from descriptions. The descriptions are checked in their source. */
const GENERATED: ReadonlySet<string> = new Set(['docs/config.md']);

/** Sources whose strings are data, such as input for a model or lists of English words. */
const DATA_SOURCES: ReadonlySet<string> = new Set([
  'src/search/keyword/english.ts',
  'src/search/semantic/vector-index.ts',
]);

/** Findings of a Markdown page, as `line: message`. */
export function lintPage(name: string, markdown: string): string[] {
  const { fields, blocks, lines } = readPage(markdown);
  const findings: string[] = [];
  const add = (line: number, message: string): void => {
    findings.push(`${line}: ${message}`);
  };

  const isManual = /^docs\/[^/]+\.md$/.test(name);
  if (isManual) {
    for (const field of ['title', 'description', 'kind'] as const) {
      if (!fields.get(field)) add(1, `the front matter has no ${field}`);
    }
    const kind = fields.get('kind');
    if (kind && !KINDS.includes(kind)) add(1, `kind is "${kind}": use ${KINDS.join(', ')}`);
  }
  for (const [field, value] of fields) {
    if (field !== 'title' && field !== 'description') continue;
    for (const { words, use } of findWords(value)) add(1, `${field}: "${words}": use ${use}`);
  }

  for (const { kind, line, text } of blocks) {
    for (const { group, words, use } of findWords(text)) {
      // Allow a heading such as "Where docshelf stores data".
      if (kind !== 'heading' || group !== 'where') add(line, `"${words}": use ${use}`);
    }
    for (const [number] of text.matchAll(/(?<![\w./:-])\.\d+\b/g)) add(line, `"${number}": write 0${number}`);
  }

  for (const { line, text } of lines) {
    // Omit the targets of links, which cannot be wrapped.
    const columns = [...text.replace(/\]\([^)]*\)/g, ']').replace(/https?:\S+/g, '')].length;
    if (columns > COLUMNS_MAX) add(line, `${columns} columns: wrap at ${COLUMNS_MAX}`);
  }

  const lengths = sentenceLengths(blocks);
  const long = lengths.filter(({ words }) => words > WORDS_MAX);
  if (long.length > Math.max(1, lengths.length * LONG_SHARE)) {
    for (const { line, words } of long) add(line, `a sentence of ${words} words: at most ${WORDS_MAX}`);
  }
  return findings;
}

/** Findings of short texts, for which only the word list applies. */
export const lintStrings = (texts: readonly string[]): string[] =>
  texts.flatMap((text) => findWords(text).map(({ words, use }) => `"${words}" in "${text}": use ${use}`));

/** Findings for subjects that are too long or contain two changes. */
export const lintSubjects = (subjects: readonly string[]): string[] =>
  subjects.flatMap((subject) => [
    ...([...subject].length > SUBJECT_MAX ? [`"${subject}": ${[...subject].length} characters, at most 72`] : []),
    ...(subject.includes(';') ? [`"${subject}": a semicolon, split the commit`] : []),
  ]);

/** Subjects of the commits after `base`, or null if git or this part of the history is missing. */
export function subjectsSince(base: string, folder: string): string[] | null {
  const git = (...args: string[]): string =>
    execFileSync('git', ['-C', folder, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    git('merge-base', '--is-ancestor', base, 'HEAD');
    const log = git('log', '--no-merges', '--format=%s', `${base}..HEAD`);
    return log.split('\n').filter((subject) => subject !== '');
  } catch {
    return null;
  }
}

/** Descriptions in a JSON schema. */
function descriptionsOf(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  return Object.entries(node).flatMap(([key, value]) =>
    key === 'description' && typeof value === 'string' ? [value] : descriptionsOf(value),
  );
}

function textsIn(node: unknown): string[] {
  return typeof node === 'object' && node !== null ? Object.values(node).flatMap(textsIn) : [String(node)];
}

function lintAll(root: string): Map<string, string[]> {
  const read = (name: string): string => readFileSync(join(root, name), 'utf8');
  const found = new Map<string, string[]>();
  const pages = [
    'README.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    ...globSync('{docs,examples}/**/*.md', { cwd: root }).sort(),
  ];
  for (const name of pages.filter((page) => !GENERATED.has(page))) found.set(name, lintPage(name, read(name)));

  // Check only the newest section, because older sections describe released versions and do not change.
  const newest = read('CHANGELOG.md')
    .split(/^(?=## )/m)
    .slice(0, 2)
    .join('');
  found.set('CHANGELOG.md', lintPage('CHANGELOG.md', newest));
  found.set('config.schema.json', lintStrings(descriptionsOf(JSON.parse(read('config.schema.json')))));
  const english = 'src/web/words/en.json';
  found.set(english, lintStrings(textsIn(JSON.parse(read(english)))));
  for (const path of globSync('src/**/*.{ts,tsx}', { cwd: root }).sort()) {
    if (DATA_SOURCES.has(path)) continue;
    const room = path.split('/').slice(0, 2).join('/');
    const findings = stringsOf(path, read(path)).flatMap(({ line, text }) =>
      lintStrings([text]).map((finding) => `${path}:${line}: ${finding}`),
    );
    found.set(room, [...(found.get(room) ?? []), ...findings]);
  }
  return found;
}

function main(args: readonly string[]): void {
  const root = join(import.meta.dirname, '..');
  let failed = 0;
  if (args[0] === 'commits') {
    const base = args[1] ?? COMMIT_BASE;
    const subjects = subjectsSince(base, root);
    if (subjects === null) console.log(`lint:text: no commits checked: ${base} is not in this history`);
    for (const finding of lintSubjects(subjects ?? [])) {
      console.error(`commit ${finding}`);
      failed++;
    }
  } else {
    for (const [name, findings] of lintAll(root)) {
      for (const finding of findings) console.error(name.startsWith('src/') ? finding : `${name}:${finding}`);
      failed += findings.length;
    }
  }
  if (failed > 0) {
    console.error(`lint:text: ${failed} findings`);
    process.exitCode = 1;
  }
}

if (import.meta.main) main(process.argv.slice(2));
