import { DatabaseSync, type StatementSync } from 'node:sqlite';
import type { Passage, Section } from '../ports.ts';
import { listsOf, SCHEMA, seal } from './format.ts';
import { detectLanguage, ENGLISH, languageOf, languageOfPath, type WordLanguage } from './languages.ts';
import { PostingsBuilder } from './postings.ts';
import { SECONDARY_PRIOR, sequenceOf } from './ranking.ts';
import { KnownWords } from './vocabulary.ts';
import { COLUMNS, headingSymbolsOf, IDENTIFIERS, symbolsOf, TEXT, type Terms, termsOf } from './words.ts';

export interface IndexedSection extends Section {
  readonly page: string;
  readonly prior?: number;
}

/**
 * Maximum occurrences of index terms in memory, about 30 MB. The first occurrence of a term counts as 8, because each term needs
 * a list.
 */
const OCCURRENCES_PER_RUN = 1_000_000;
const OCCURRENCES_A_TERM = 8;
const LENGTH_MAX = 0xffff;
/** Maximum words of a title or heading in which a separator is also a searchable symbol, such as `|` in the heading `The | operator`. */
const TITLE_WORDS_MAX = 2;
const HEADING_WORDS_MAX = 4;

/** Writes the index file synchronously. The file is invalid until `finish` has ended. */
export class KeywordIndexWriter implements Disposable {
  readonly #path: string;
  readonly #database: DatabaseSync;
  readonly #insertSection: StatementSync;
  readonly #insertSequence: StatementSync;
  readonly #lengths = COLUMNS.map((): number[] => []);
  readonly #priors: number[] = [];
  readonly #pages = new Set<string>();
  #page: string | null = null;
  readonly #words = new KnownWords();
  /** Language of the current section. If the page has no `lang`, the default language until a section has a clear language. */
  #language: WordLanguage;
  #isDetected = false;
  readonly #default: WordLanguage;
  #postings = new Map<string, PostingsBuilder>();
  #occurrences = 0;
  #run = 0;

  /** @param language default for pages that state no language and whose text is not clear */
  constructor(path: string, language = ENGLISH) {
    this.#path = path;
    this.#language = language;
    this.#default = language;
    // In defensive mode, SQLite ignores `journal_mode = OFF` (sqlite.org/c3ref/c_dbconfig_defensive.html).
    this.#database = new DatabaseSync(path, { defensive: false });
    this.#database.exec('PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;');
    this.#database.exec(`PRAGMA temp_store = MEMORY; ${SCHEMA}`);
    this.#database.exec('BEGIN');
    this.#insertSection = this.#database.prepare('INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
    this.#insertSequence = this.#database.prepare('INSERT INTO sequences VALUES (?, ?)');
  }

  add(section: IndexedSection, passages: readonly Passage[] = []): number {
    const { page, path, title, documentTitle = null, headings, text, language, version, tags, prior = 0 } = section;
    const n = this.#priors.length;
    const isOfPage = page !== this.#page && !this.#pages.has(page);
    if (isOfPage) this.#pages.add(page);
    this.#page = page;
    this.#priors.push(section.isList ? SECONDARY_PRIOR : Math.min(1, Math.max(-1, prior)));
    const [heads, code] = [JSON.stringify(headings), JSON.stringify(section.code ?? [])];
    const [cuts, marks] = [JSON.stringify(passages), JSON.stringify(tags)];
    this.#insertSection.run(
      ...[n, page, path, title, documentTitle, heads, text, code, cuts, language, version, marks],
    );
    this.#setLanguage(section, isOfPage);
    const terms = sectionTerms(section, isOfPage, this.#words.in(this.#language));
    const sequences = [...terms.sequences, terms.parts];
    for (const [column, sequence] of sequences.entries())
      this.#lengths[column]?.push(Math.min(LENGTH_MAX, sequence.length));
    this.#insertSequence.run(n, bytesOf(sequenceOf(sequences)));
    terms.each((term, column) => this.#countTerm(term, n, column));
    for (const list of listsOf(section, isOfPage, this.#language.code)) this.#countTerm(list, n, TEXT);
    if (this.#occurrences >= OCCURRENCES_PER_RUN) this.#flush();
    return n;
  }

  finish(): void {
    this.#flush();
    this.#writeArrays();
    this.#database.exec('COMMIT');
    this[Symbol.dispose]();
    seal(this.#path);
  }

  [Symbol.dispose](): void {
    if (this.#database.isOpen) this.#database.close();
  }

  #setLanguage({ language, text, page }: IndexedSection, isOfPage: boolean): void {
    if (language !== null) this.#language = languageOf(language);
    else if (isOfPage || !this.#isDetected) {
      const detected = detectLanguage(text, this.#language) ?? languageOfPath(page);
      this.#isDetected = detected !== null;
      this.#language = detected ?? (isOfPage ? this.#default : this.#language);
    }
  }

  #countTerm(term: string, section: number, column: number): void {
    let builder = this.#postings.get(term);
    if (builder === undefined) {
      builder = new PostingsBuilder();
      this.#postings.set(term, builder);
      this.#occurrences += OCCURRENCES_A_TERM;
    } else this.#occurrences += 1;
    builder.count(section, column);
  }

  #flush(): void {
    const insert = this.#database.prepare('INSERT INTO postings VALUES (?, ?, ?, ?)');
    // Insert nearly in the order of the primary key: `sort` compares UTF-16 code units, but SQLite compares UTF-8 bytes.
    for (const term of Array.from(this.#postings.keys()).sort()) {
      const builder = this.#postings.get(term) as PostingsBuilder;
      insert.run(term, this.#run, builder.sections, builder.bytes());
    }
    this.#postings = new Map();
    this.#occurrences = 0;
    this.#run += 1;
  }

  #writeArrays(): void {
    const insert = this.#database.prepare('INSERT INTO arrays VALUES (?, ?)');
    for (const [column, name] of COLUMNS.entries())
      insert.run(`${name} lengths`, bytesOf(Uint16Array.from(this.#lengths[column] ?? [])));
    insert.run('priors', bytesOf(Float32Array.from(this.#priors)));
    for (const [name, bytes] of this.#words.arrays()) insert.run(name, bytes);
  }
}

function sectionTerms(
  { title, headings, text, documentTitle, names = [] }: Section,
  isOfPage: boolean,
  analysis: Terms,
) {
  // On most sites, the first heading repeats the title, so count the title only once.
  const below = headings[0] === title ? headings.slice(1) : headings;
  const headingsText = [...below, isOfPage ? (documentTitle ?? '') : ''].join('\n');
  const columns = [title, headingsText, text].map((each) => termsOf(each, analysis));
  const symbols = [
    headingSymbolsOf(title, TITLE_WORDS_MAX),
    below.flatMap((heading) => headingSymbolsOf(heading, HEADING_WORDS_MAX)),
    symbolsOf(text).map(({ symbol }) => symbol),
  ];
  const longer = names.map((name) => name.toLowerCase());
  const parts = columns.flatMap((column) => column.parts);
  return {
    sequences: columns.map(({ sequence }) => sequence),
    parts,
    each(count: (term: string, column: number) => void): void {
      for (const [column, { sequence, characters, names: own }] of columns.entries()) {
        for (const terms of [sequence, characters, symbols[column] ?? []])
          for (const term of terms) count(term, column);
        // A section with an identifier in its title or heading is about this identifier, so the identifier counts more.
        for (const name of own) count(name, column === TEXT ? IDENTIFIERS : column);
      }
      for (const terms of [longer, parts]) for (const term of terms) count(term, IDENTIFIERS);
    },
  };
}

function bytesOf(array: Uint16Array | Uint32Array | Float32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
