import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { FINGERPRINT_BYTES, wordAt } from '../../fingerprints.ts';
import { Numbers } from '../../numbers.ts';
import type { Section } from '../../section.ts';
import { digestOf } from '../../section-digest.ts';
import { attachBase, basePathOf, damaged, GONE, rowsOf, SCHEMA, seal } from '../format.ts';
import { PostingsBuilder } from '../postings.ts';
import { sequenceOf } from '../proximity.ts';
import { COLUMNS, isEnglish, TEXT } from '../terms.ts';
import type { FormerIndex } from './former-index.ts';
import { KnownWords } from './known-words.ts';
import { listsOf } from './lists.ts';
import { sectionTerms } from './section-terms.ts';
import { type StoredSection, sectionOf } from './stored-section.ts';

export interface IndexedSection extends Section {
  readonly page: string;
  /** 0 to 1; 0 where nothing is said. */
  readonly prior?: number;
}

/** Occurrences of terms that are kept in memory before they are written, about 30 MB; a term takes as much as so many of them. */
const OCCURRENCES_PER_RUN = 1_000_000;
const OCCURRENCES_A_TERM = 8;
const LENGTH_MAX = 0xffff;
/**
 * Synchronous. A file that was not finished does not open. Written whole, or as what has changed over the former version's: whoever
 * reads them finds the same in both.
 */
export class KeywordIndexWriter implements Disposable {
  readonly #path: string;
  readonly #former: FormerIndex | null;
  /** Of the base; null: this is a whole one. */
  readonly #baseSeal: number | null;
  readonly #database: DatabaseSync;
  readonly #insertSection: StatementSync;
  readonly #insertWords: StatementSync;
  readonly #insertSequence: StatementSync;
  readonly #lengths = COLUMNS.map(() => new Numbers());
  readonly #priors: number[] = [];
  readonly #places = new Numbers();
  readonly #digests = new Numbers();
  readonly #marked = new Uint8Array(FINGERPRINT_BYTES);
  readonly #pages = new Set<string>();
  #page: string | null = null;
  readonly #words: KnownWords;
  #postings = new Map<string, PostingsBuilder>();
  #occurrences = 0;
  #run: number;
  #nextPlace: number;
  #added = 0;

  /**
   * @param path where no file is yet; its folder exists
   * @param former of the version before, to go on from
   * @throws as `FormerIndex.goOnAt`
   */
  constructor(path: string, former: FormerIndex | null = null) {
    this.#path = path;
    this.#former = former;
    this.#run = former?.runs ?? 0;
    this.#nextPlace = former?.places ?? 0;
    this.#baseSeal = former?.goOnAt(path) ?? null;
    // Defensive, it would keep a journal all the same (sqlite.org/c3ref/c_dbconfig_defensive.html).
    this.#database = new DatabaseSync(path, { defensive: false });
    this.#database.exec('PRAGMA page_size = 8192; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;');
    this.#database.exec(`PRAGMA temp_store = MEMORY; ${former?.isWhole === false ? '' : SCHEMA}`);
    if (former !== null) attachBase(this.#database, basePathOf(path));
    this.#database.exec('BEGIN');
    this.#insertSection = this.#database.prepare('INSERT INTO sections VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)');
    this.#insertWords = this.#database.prepare(
      'INSERT INTO words (rowid, title, headings, text, identifiers) VALUES (?, ?, ?, ?, ?)',
    );
    this.#insertSequence = this.#database.prepare('INSERT INTO sequences VALUES (?, ?)');
    this.#words = new KnownWords(former?.words);
  }

  /** True where so much is new that it is better written whole, and where a whole one might differ: its words are bounded. */
  get isOutgrown(): boolean {
    return this.#former !== null && (this.#added > this.#former.count / 2 || this.#words.isFull);
  }

  /** @param digest of `digestOf` @returns the number in the former index of a section that is the same; null without: it is to be added */
  keep(digest: Uint8Array, page: string, prior = 0): number | null {
    const marked = this.#asOfPage(digest, page);
    const former = this.#former?.claim(marked) ?? null;
    if (former === null) return null;
    this.#begin(marked, page, prior, this.#former?.placeOf[former] ?? 0);
    for (let column = 0; column < COLUMNS.length; column += 1)
      this.#lengths[column]?.push(this.#former?.lengths[column]?.[former] ?? 0);
    return former;
  }

  /** A page's own section comes before those under its headings. @returns its number, from 0 */
  add(section: IndexedSection, digest = digestOf(section, section.page)): number {
    const { page, path, title, documentTitle = null, headings, text, language, version, tags, prior } = section;
    const isOfPage = this.#isFirstOf(page);
    const place = this.#nextPlace;
    const n = this.#begin(this.#asOfPage(digest, page), page, prior ?? 0, place);
    this.#nextPlace += 1;
    this.#added += 1;
    const [headingsJson, tagsJson] = [JSON.stringify(headings), JSON.stringify(tags)];
    this.#insertSection.run(
      ...[place, page, path, title, documentTitle, headingsJson, text, language, version, tagsJson],
    );
    const terms = this.#termsOf(section, isOfPage, 1);
    const sequences = [...terms.sequences, terms.identifiers];
    this.#insertWords.run(place, ...sequences.map((sequence) => sequence.join(' ')));
    for (const [column, sequence] of sequences.entries())
      this.#lengths[column]?.push(Math.min(LENGTH_MAX, sequence.length));
    this.#insertSequence.run(place, bytesOf(sequenceOf(terms.sequences)));
    terms.each((term, column) => this.#countTerm(term, place, column));
    for (const list of listsOf(section, isOfPage)) this.#countTerm(list, place, TEXT);
    if (this.#occurrences >= OCCURRENCES_PER_RUN) this.#flush();
    return n;
  }

  /** @throws DocshelfError `index_damaged` where a section that is gone cannot be read in the former index */
  finish(): void {
    if (this.#former !== null) this.#removeGone(this.#former);
    this.#flush();
    this.#writeArrays();
    // What is gone has left holes: merging all of it costs as much as writing it.
    if (this.#former === null) this.#database.exec("INSERT INTO words (words) VALUES ('optimize')");
    this.#database.exec('COMMIT');
    this[Symbol.dispose]();
    seal(this.#path);
  }

  /** What is not finished is of no use. */
  [Symbol.dispose](): void {
    if (this.#database.isOpen) this.#database.close();
  }

  /** @param marked by `#asOfPage` */
  #begin(marked: Uint8Array, page: string, prior: number, place: number): number {
    const n = this.#priors.length;
    for (let at = 0; at < FINGERPRINT_BYTES; at += 4) this.#digests.push(wordAt(marked, at));
    this.#priors.push(Math.min(1, Math.max(0, prior)));
    this.#places.push(place);
    if (this.#page !== page) this.#pages.add(page);
    this.#page = page;
    return n;
  }

  /** Sections of a page mostly follow each other. */
  #isFirstOf(page: string): boolean {
    return page !== this.#page && !this.#pages.has(page);
  }

  /** Its last bit says that it is the first section of its page. Valid until the next. */
  #asOfPage(digest: Uint8Array, page: string): Uint8Array {
    const last = FINGERPRINT_BYTES - 1;
    this.#marked.set(digest);
    this.#marked[last] = ((digest[last] ?? 0) & 0xfe) | (this.#isFirstOf(page) ? 1 : 0);
    return this.#marked;
  }

  #termsOf(section: Section, isOfPage: boolean, times: 1 | -1) {
    const english = isEnglish(section.language);
    return sectionTerms(section, isOfPage, (surface) => {
      const stemmed = this.#words.note(surface, times);
      return english ? stemmed : surface;
    });
  }

  #countTerm(term: string, place: number, column: number): void {
    const terms = this.#postings.size;
    builderOf(this.#postings, term).count(place, column);
    this.#occurrences += this.#postings.size > terms ? OCCURRENCES_A_TERM : 1;
  }

  #flush(): void {
    const insert = this.#database.prepare('INSERT INTO postings VALUES (?, ?, ?, ?)');
    // By code units, as `<` has it, and without a comparison of ours.
    for (const term of Array.from(this.#postings.keys()).sort()) {
      const builder = this.#postings.get(term) as PostingsBuilder;
      insert.run(term, this.#run, builder.sections, builder.bytes());
    }
    this.#postings = new Map();
    this.#occurrences = 0;
    this.#run += 1;
  }

  /** With the postings of what was added last, so that a term's row is found once. */
  #removeGone(former: FormerIndex): void {
    const read = this.#database.prepare(rowsOf('sections', '*', 'n = ?1', true));
    // What the base has of it stays there.
    const removals = ['sections', 'sequences'].map((table) =>
      this.#database.prepare(`DELETE FROM main.${table} WHERE n = ?`),
    );
    for (const number of former.unclaimed()) {
      const place = former.placeOf[number] ?? 0;
      const section = this.#formerSection(read, place);
      const isOfPage = ((former.digest(number).at(-1) ?? 0) & 1) === 1;
      const leave = (term: string): void => builderOf(this.#postings, term).leave(place);
      this.#termsOf(section, isOfPage, -1).each(leave);
      for (const list of listsOf(section, isOfPage)) leave(list);
      for (const removal of removals) removal.run(place);
    }
  }

  #formerSection(read: StatementSync, place: number): Section {
    try {
      return sectionOf(read.get(place) as unknown as StoredSection);
    } catch (error) {
      throw damaged(this.#path, 'a section of the version before cannot be read', error);
    }
  }

  #writeArrays(): void {
    const { words, counts } = this.#words.vocabulary();
    const numbers = new Uint32Array(this.#nextPlace).fill(GONE);
    for (const [number, place] of this.#places.view.entries()) numbers[place] = number;
    const insert = this.#database.prepare('INSERT OR REPLACE INTO arrays VALUES (?, ?)');
    for (const [column, name] of COLUMNS.entries())
      insert.run(`${name} lengths`, bytesOf(Uint16Array.from(this.#lengths[column]?.view ?? [])));
    insert.run('priors', bytesOf(Float32Array.from(this.#priors)));
    insert.run('digests', bytesOf(this.#digests.view));
    insert.run('numbers', bytesOf(numbers));
    insert.run('vocabulary', Buffer.from(words.join('\n')));
    insert.run('vocabulary counts', bytesOf(counts));
    insert.run('runs', bytesOf(Uint32Array.of(this.#run)));
    if (this.#baseSeal !== null) insert.run('base', bytesOf(Uint32Array.of(this.#baseSeal)));
  }
}

function builderOf(builders: Map<string, PostingsBuilder>, key: string): PostingsBuilder {
  const known = builders.get(key);
  if (known !== undefined) return known;
  const builder = new PostingsBuilder();
  builders.set(key, builder);
  return builder;
}

function bytesOf(array: Uint16Array | Uint32Array | Float32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}
