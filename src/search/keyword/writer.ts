import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Section } from '../section.ts';
import { SCHEMA, seal } from './format.ts';
import { PostingsBuilder } from './postings.ts';
import { sequenceOf } from './proximity.ts';
import { stem } from './stem.ts';
import { COLUMNS, IDENTIFIERS, isEnglish, TEXT, type TextTerms, termsOf } from './terms.ts';
import { titleKey } from './words.ts';

export interface IndexedSection extends Section {
  readonly page: string;
  /** 0 to 1; 0 where nothing is said. */
  readonly prior?: number;
}

/** Occurrences of terms that are kept in memory before they are written, about 30 MB; a term takes as much as so many of them. */
const OCCURRENCES_PER_RUN = 1_000_000;
const OCCURRENCES_A_TERM = 8;
/** Words that misspellings and prefixes are looked up in, twice as many as the largest site that is measured has; others are found as they are. */
const WORDS_MAX = 400_000;
const LENGTH_MAX = 0xffff;
/** Longer words, and those that begin with a digit, are data that nobody misspells. */
const VOCABULARY_WORD = /^[\p{L}_][\p{L}\p{M}\p{N}_]{1,31}$/u;

interface KnownWord {
  readonly stem: string;
  count: number;
}

/** Synchronous. A file that was not finished does not open. */
export class KeywordIndexWriter implements Disposable {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #insertSection: StatementSync;
  readonly #insertWords: StatementSync;
  readonly #insertSequence: StatementSync;
  readonly #lengths: number[][] = COLUMNS.map(() => []);
  readonly #priors: number[] = [];
  readonly #pages = new Set<string>();
  readonly #lists = new Map<string, PostingsBuilder>();
  /** By document title: its pages' common title and first sections; null where they have none in common. */
  readonly #documentTitles = new Map<string, { readonly title: string; readonly sections: number[] } | null>();
  readonly #words = new Map<string, KnownWord>();
  #postings = new Map<string, PostingsBuilder>();
  #occurrences = 0;
  #run = 0;
  #count = 0;

  /** @param path where no file is yet; its folder exists. */
  constructor(path: string) {
    this.#path = path;
    this.#database = new DatabaseSync(path);
    this.#database.exec('PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;');
    this.#database.exec(`PRAGMA temp_store = MEMORY; ${SCHEMA} BEGIN;`);
    this.#insertSection = this.#database.prepare('INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)');
    this.#insertWords = this.#database.prepare(
      'INSERT INTO words (rowid, title, headings, text, identifiers) VALUES (?, ?, ?, ?, ?)',
    );
    this.#insertSequence = this.#database.prepare('INSERT INTO sequences VALUES (?, ?)');
  }

  /** A page's own section comes before those under its headings. @returns its number, from 0 */
  add(section: IndexedSection): number {
    const n = this.#count++;
    const { page, path, title, headings, text, language, version, tags } = section;
    const [headingsJson, tagsJson] = [JSON.stringify(headings), JSON.stringify(tags)];
    this.#insertSection.run(n, page, path, title, headingsJson, text, language, version, tagsJson);
    this.#priors.push(Math.min(1, Math.max(0, section.prior ?? 0)));

    const english = isEnglish(language);
    const termOf = (surface: string) => this.#note(surface, english);
    const isOfPage = !this.#pages.has(page);
    const otherTitle = isOfPage ? (section.documentTitle ?? '') : '';
    // The page's first heading is its title on most sites; a title counts once.
    const below = [...(headings[0] === title ? headings.slice(1) : headings), otherTitle];
    const columns = [title, below.join('\n'), text].map((each) => termsOf(each, termOf));
    const identifiers = columns.flatMap((column) => column.identifiers);
    const sequences = [...columns.map((column) => column.sequence), identifiers];
    this.#insertWords.run(n, ...sequences.map((sequence) => sequence.join(' ')));
    for (const [column, sequence] of sequences.entries())
      this.#lengths[column]?.push(Math.min(LENGTH_MAX, sequence.length));
    this.#insertSequence.run(n, bytesOf(sequenceOf(columns.map((column) => column.sequence))));
    this.#addPostings(n, columns, identifiers);

    if (isOfPage) this.#addToList('title', titleKey(title), n);
    if (otherTitle !== '') this.#noteDocumentTitle(titleKey(otherTitle), titleKey(title), n);
    this.#pages.add(page);
    if (language !== null) this.#addToList('language', languageKey(language), n);
    if (version === null) this.#addToList('unsaid', 'version', n);
    else this.#addToList('version', version, n);
    for (const tag of new Set(tags)) this.#addToList('tag', tag, n);
    return n;
  }

  finish(): void {
    this.#flush();
    this.#writeLists();
    this.#writeArrays();
    this.#database.exec("INSERT INTO words (words) VALUES ('optimize'); COMMIT;");
    this[Symbol.dispose]();
    seal(this.#path);
  }

  /** What is not finished is of no use. */
  [Symbol.dispose](): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #note(surface: string, english: boolean): string {
    const known = this.#words.get(surface);
    if (known !== undefined) {
      known.count += 1;
      return english ? known.stem : surface;
    }
    const word = { stem: stem(surface), count: 1 };
    if (this.#words.size < WORDS_MAX) this.#words.set(surface, word);
    return english ? word.stem : surface;
  }

  #addPostings(n: number, columns: readonly TextTerms[], identifiers: readonly string[]): void {
    for (const [column, { sequence, characters }] of columns.entries()) {
      for (const term of sequence) this.#countTerm(term, n, column);
      for (const term of characters) this.#countTerm(term, n, column);
    }
    for (const term of identifiers) this.#countTerm(term, n, IDENTIFIERS);
    if (this.#occurrences >= OCCURRENCES_PER_RUN) this.#flush();
  }

  #countTerm(term: string, n: number, column: number): void {
    const terms = this.#postings.size;
    builderOf(this.#postings, term).count(n, column);
    this.#occurrences += this.#postings.size > terms ? OCCURRENCES_A_TERM : 1;
  }

  /** A document title that pages of different titles share is the site's, and no page's. */
  #noteDocumentTitle(key: string, title: string, n: number): void {
    const known = this.#documentTitles.get(key);
    if (known === undefined) this.#documentTitles.set(key, { title, sections: [n] });
    else if (known?.title === title) known.sections.push(n);
    else this.#documentTitles.set(key, null);
  }

  #addToList(kind: string, key: string, n: number): void {
    if (key !== '') builderOf(this.#lists, `${kind} ${key}`).count(n, TEXT);
  }

  #flush(): void {
    const insert = this.#database.prepare('INSERT INTO postings VALUES (?, ?, ?, ?)');
    for (const [term, builder] of sorted(this.#postings))
      insert.run(term, this.#run, builder.sections, builder.bytes());
    this.#postings = new Map();
    this.#occurrences = 0;
    this.#run += 1;
  }

  #writeLists(): void {
    for (const [key, known] of this.#documentTitles)
      for (const n of known?.sections ?? []) this.#addToList('documentTitle', key, n);
    const insert = this.#database.prepare('INSERT INTO lists VALUES (?, ?, ?, ?)');
    for (const [name, builder] of sorted(this.#lists)) {
      const space = name.indexOf(' ');
      insert.run(name.slice(0, space), name.slice(space + 1), builder.sections, builder.bytes());
    }
  }

  #writeArrays(): void {
    const words = sorted(this.#words).filter(([word]) => VOCABULARY_WORD.test(word));
    const insert = this.#database.prepare('INSERT INTO arrays VALUES (?, ?)');
    for (const [column, name] of COLUMNS.entries())
      insert.run(`${name} lengths`, bytesOf(Uint16Array.from(this.#lengths[column] ?? [])));
    insert.run('priors', bytesOf(Float32Array.from(this.#priors)));
    insert.run('vocabulary', Buffer.from(words.map(([word]) => word).join('\n')));
    insert.run('vocabulary counts', bytesOf(Uint32Array.from(words, ([, { count }]) => count)));
  }
}

function builderOf(builders: Map<string, PostingsBuilder>, key: string): PostingsBuilder {
  const known = builders.get(key);
  if (known !== undefined) return known;
  const builder = new PostingsBuilder();
  builders.set(key, builder);
  return builder;
}

function sorted<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].sort(([left], [right]) => (left < right ? -1 : 1));
}

function bytesOf(array: Uint16Array | Uint32Array | Float32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

export function languageKey(language: string): string {
  return language.toLowerCase().replaceAll('_', '-');
}
