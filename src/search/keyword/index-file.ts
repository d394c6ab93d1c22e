import type { DatabaseSync } from 'node:sqlite';
import { LRUCache } from 'lru-cache';
import type { SearchFacet, SearchRequest } from '../../domain/search.ts';
import { languageTag } from '../../web/language-tag.ts';
import type { Passage } from '../ports.ts';
import { asDamaged, damaged, type ListKind, languageKey, listName, openVerified, UNDER } from './format.ts';
import type { IndexedSection } from './index-writer.ts';
import { languageOf, type WordLanguage } from './languages.ts';
import { type Postings, readPostings } from './postings.ts';
import { impactOf, type Mask, PRIOR_WEIGHT, type Ranking, SECONDARY_PART, sequenceOf } from './ranking.ts';
import { readCountedWords, readLanguages, Vocabulary } from './vocabulary.ts';
import type { COLUMNS } from './words.ts';

/** Cache size for postings. The common words of a site with 100,000 sections need 10 MB. */
const POSTINGS_CACHE_BYTES = 24 * 1024 * 1024;
const BYTES_PER_POSTING = 8;
const BYTES_PER_ENTRY = 200;
/** Cache size for the term sequences of 7,000 sections. Reading the sequences of 50 sections from the file takes 0.13 ms. */
const SEQUENCES_CACHE_BYTES = 4 * 1024 * 1024;
const FREQUENCIES_MAX = 4_000;

type Impact = ReturnType<typeof impactOf>;

interface Run {
  readonly sections: number;
  readonly list: Uint8Array;
}

export class IndexFile {
  readonly sections: number;
  readonly lifts: Float32Array;
  readonly priors: Float32Array;
  readonly languages: readonly WordLanguage[];
  readonly #database: DatabaseSync;
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #impact: Impact;
  readonly #cache = new LRUCache<string, Postings>({
    maxSize: POSTINGS_CACHE_BYTES,
    sizeCalculation: ({ sections }) => sections.length * BYTES_PER_POSTING + BYTES_PER_ENTRY,
  });
  readonly #sequences = new LRUCache<number, Uint16Array>({
    maxSize: SEQUENCES_CACHE_BYTES,
    sizeCalculation: ({ byteLength }) => byteLength + BYTES_PER_ENTRY,
  });
  readonly #frequencies = new LRUCache<string, number>({ max: FREQUENCIES_MAX });
  #vocabulary: Vocabulary | undefined;
  #facets: Facets | undefined;

  private constructor(database: DatabaseSync, ranking: Ranking) {
    this.#database = database;
    this.#statements = prepareStatements(database);
    const lengthsOf = (name: (typeof COLUMNS)[number]) => new Uint16Array(this.#array(`${name} lengths`).buffer);
    const [title, headings] = [lengthsOf('title'), lengthsOf('headings')];
    const lengths = { title, headings, text: lengthsOf('text'), identifiers: lengthsOf('identifiers') };
    this.#impact = impactOf(lengths, ranking);
    this.priors = new Float32Array(this.#array('priors').buffer);
    this.lifts = this.priors.map((prior) => (prior < 0 ? SECONDARY_PART : 1 + PRIOR_WEIGHT * prior));
    this.sections = this.priors.length;
    this.languages = readLanguages((name) => this.#array(name));
  }

  static open(path: string, ranking: Ranking, isSealKnown: boolean): IndexFile {
    let database: DatabaseSync | undefined;
    try {
      database = openVerified(path, isSealKnown);
      return new IndexFile(database, ranking);
    } catch (error) {
      database?.close();
      throw asDamaged(path, error);
    }
  }

  sectionsWith(term: string): number {
    const known = this.#frequencies.get(term);
    if (known !== undefined) return known;
    const { sections } = this.#statements.frequency.get(term) as unknown as { sections: number };
    this.#frequencies.set(term, sections);
    return sections;
  }

  /**
   * True if an index term equals the identifier, or continues it with a sign or digit, such as `-xmx512m` for `-xmx`.
   * @param isUnfinished true if a letter may also continue the identifier
   */
  hasName(name: string, isUnfinished: boolean): boolean {
    // Index terms are sorted, with signs and digits before letters, so check only the first term that begins with the identifier.
    const row = this.#statements.next.get(name) as unknown as { term: string } | undefined;
    const rest = row?.term.startsWith(name) === true ? row.term.slice(name.length) : null;
    return rest !== null && (isUnfinished || !/^\p{L}/u.test(rest));
  }

  postings(term: string): Postings {
    const cached = this.#cache.get(term);
    if (cached !== undefined) return cached;
    const postings = this.#read(term, this.#impact);
    this.#cache.set(term, postings);
    return postings;
  }

  /** Sections that have the index term in their title or headings. */
  headedBy(term: string): number[] {
    const { sections, impacts } = this.#read(term, (_, title, headings) => title + headings);
    return [...sections].filter((_, at) => impacts[at] !== 0);
  }

  list(kind: ListKind, key: string): Uint32Array {
    return this.#sectionsOf(listName(kind, key));
  }

  /** Finds pages by title, or by document title if all pages with this document title also have the same page title. */
  titled(key: string): number[] {
    const [ofDocument, another] = this.#terms(listName('documentTitle', key + UNDER));
    const isOfPages = ofDocument !== undefined && another === undefined;
    return [...this.list('title', key), ...(isOfPages ? this.#sectionsOf(ofDocument[0]) : [])];
  }

  language(key: string): Uint32Array {
    const parts = Array.from(this.#terms(listName('language', `${key}-`)), ([term]) => this.#sectionsOf(term));
    const detected = this.list('detected', languageOf(key).code);
    return Uint32Array.from([this.list('language', key), detected, ...parts].flatMap((list) => [...list]));
  }

  readable(reads: (language: string) => boolean): Mask {
    const start = listName('language', '');
    const isUnread = (term: string): boolean => !reads(term.slice(start.length));
    const unread = Array.from(this.#terms(start), ([term]) => term).filter(isUnread);
    // Mark all sections in one mask, because copying a mask for each of 100,000 languages takes 12 s (measured).
    const sections = unread.values().flatMap((term) => this.#sectionsOf(term));
    return unread.length === 0 ? null : without(sections, null, this.sections);
  }

  /** Sections in which the index terms follow each other directly. */
  withPhrase(terms: readonly string[]): number[] {
    const [first = [], ...others] = terms.map((term) => this.postings(term).sections);
    const inOthers = others.reduce<Mask>((mask, list) => only(list, mask, this.sections), null);
    const sections = [...first].filter((section) => inOthers === null || inOthers[section] === 1);
    if (sections.length === 0 || terms.length === 1) return sections;
    const sequence = sequenceOf([terms]).subarray(0, terms.length);
    const row = this.#statements.phrase.get(
      JSON.stringify(sections),
      new Uint8Array(sequence.buffer, 0, sequence.byteLength),
    );
    return JSON.parse((row as unknown as { sections: string }).sections) as number[];
  }

  termsStartingWith(start: string): string[] {
    return Array.from(this.#terms(start), ([term]) => term);
  }

  /** Values that readers can filter by, the most frequent first. Empty for a filter if all sections have the same value. */
  get facets(): Facets {
    this.#facets ??= {
      languages: this.#valuesOf('language').map((key) => languageTag(key) ?? key),
      versions: this.#valuesOf('version'),
      tags: this.#valuesOf('tag'),
    };
    return this.#facets;
  }

  #valuesOf(kind: ListKind): string[] {
    const start = listName(kind, '');
    const frequent = [...this.#terms(start)].sort(([, left], [, right]) => right - left).slice(0, FACET_MAX);
    return frequent.length > 1 ? frequent.map(([term]) => term.slice(start.length)) : [];
  }

  readSections(numbers: readonly number[]): Map<number, StoredSection> {
    const rows = this.#statements.sections.all(JSON.stringify(numbers)) as unknown as SectionRow[];
    return new Map(
      rows.map(({ n, page, path, title, text, language, version, headings, tags, code, passages }) => {
        const lists = { headings: JSON.parse(headings), tags: JSON.parse(tags), code: JSON.parse(code) };
        const section = { page, path, title, text, language, version, ...lists, passages: JSON.parse(passages) };
        return [n, { ...section, prior: this.priors[n] ?? 0 }] as const;
      }),
    );
  }

  /** Reads links, titles and last headings of sections without the text, which can have 512 KiB. */
  readHeadings(numbers: readonly number[]): HeadingRow[] {
    return this.#statements.headings.all(JSON.stringify(numbers)) as unknown as HeadingRow[];
  }

  readSequences(numbers: readonly number[]): Map<number, Uint16Array> {
    const found = new Map<number, Uint16Array>();
    const unread: number[] = [];
    for (const n of numbers) {
      const cached = this.#sequences.get(n);
      if (cached === undefined) unread.push(n);
      else found.set(n, cached);
    }
    if (unread.length === 0) return found;
    for (const { n, terms } of this.#statements.sequences.all(JSON.stringify(unread)) as unknown as SequenceRow[]) {
      const sequence = new Uint16Array(terms.buffer, terms.byteOffset, terms.length / 2);
      this.#sequences.set(n, sequence);
      found.set(n, sequence);
    }
    return found;
  }

  impactInText(n: number, count: number): number {
    return this.#impact(n, 0, 0, count, 0);
  }

  get vocabulary(): Vocabulary {
    this.#vocabulary ??= new Vocabulary(readCountedWords((name) => this.#array(name), this.languages));
    return this.#vocabulary;
  }

  close(): void {
    this.#database.close();
  }

  #sectionsOf(term: string): Uint32Array {
    return this.#read(term, () => 0).sections;
  }

  #read(term: string, impact: Impact): Postings {
    return readPostings(this.#statements.postings.all(term) as unknown as Run[], this.sections, impact);
  }

  *#terms(start: string): Generator<readonly [term: string, sections: number]> {
    const end = start.slice(0, -1) + String.fromCharCode(start.charCodeAt(start.length - 1) + 1);
    let term: string | null = null;
    let sections = 0;
    for (const row of this.#statements.terms.iterate(start, end) as Iterable<unknown> as Iterable<TermRow>) {
      if (row.term !== term && term !== null && sections > 0) yield [term, sections];
      sections = (row.term === term ? sections : 0) + row.sections;
      term = row.term;
    }
    if (term !== null && sections > 0) yield [term, sections];
  }

  #array(name: string): Uint8Array<ArrayBuffer> {
    const row = this.#database.prepare('SELECT bytes FROM arrays WHERE name = ?').get(name);
    if (row === undefined) throw damaged(this.#database.location() ?? '', `it has no ${name}`);
    return new Uint8Array((row as unknown as { bytes: Uint8Array }).bytes);
  }
}

type TermRow = { readonly term: string; readonly sections: number };

interface HeadingRow {
  readonly n: number;
  readonly path: string;
  readonly title: string;
  /** Last heading of the section. Null for text before the first heading of the page. */
  readonly heading: string | null;
}

type SequenceRow = { readonly n: number; readonly terms: Uint8Array };

export interface StoredSection extends IndexedSection {
  readonly passages: readonly Passage[];
}

type JsonColumn = 'headings' | 'tags' | 'code' | 'passages';

type SectionRow = Pick<StoredSection, 'page' | 'path' | 'title' | 'text' | 'language' | 'version'> & {
  readonly [Column in JsonColumn]: string;
} & { readonly n: number };

function prepareStatements(database: DatabaseSync) {
  return {
    sequences: database.prepare('SELECT n, terms FROM sequences WHERE n IN (SELECT value FROM json_each(?))'),
    headings: database.prepare(
      "SELECT n, path, title, headings->>'$[#-1]' AS heading FROM sections WHERE n IN (SELECT value FROM json_each(?))",
    ),
    sections: database.prepare('SELECT * FROM sections WHERE n IN (SELECT value FROM json_each(?))'),
    frequency: database.prepare('SELECT coalesce(sum(sections), 0) AS sections FROM postings WHERE term = ?'),
    next: database.prepare('SELECT term FROM postings WHERE term >= ? ORDER BY term LIMIT 1'),
    postings: database.prepare('SELECT sections, list FROM postings WHERE term = ? ORDER BY run'),
    // Return equal terms one after the other, so that callers can stop after a few. All pages of a site may share a document
    // title.
    terms: database.prepare('SELECT term, sections FROM postings WHERE term >= ? AND term < ? ORDER BY term'),
    // Returns one JSON array, because 50,000 rows of one number each take ten times as long.
    phrase: database.prepare(
      'SELECT json_group_array(n) AS sections FROM sequences WHERE n IN (SELECT value FROM json_each(?)) AND instr(terms, ?)',
    ),
  };
}

const FACET_MAX = 50;

export type Facets = Readonly<Record<SearchFacet, readonly string[]>>;

export interface Filter extends Partial<SearchRequest['filter']> {
  /** Version label of the release. If `version` is this label, sections without a version also match. */
  readonly label?: string;
}

export function maskOf({ version = null, label, language = null, tag = null }: Filter, file: IndexFile): Mask {
  let mask: Mask = null;
  if (version !== null) {
    const unsaid = version === label ? file.list('unsaid', 'version') : [];
    mask = only([...file.list('version', version), ...unsaid], mask, file.sections);
  }
  if (language !== null) mask = only(file.language(languageKey(language)), mask, file.sections);
  if (tag !== null) mask = only(file.list('tag', tag), mask, file.sections);
  return mask;
}

export function only(found: Iterable<number>, mask: Mask, sections: number): Uint8Array {
  const both = new Uint8Array(sections);
  for (const section of found) both[section] = mask === null ? 1 : (mask[section] ?? 0);
  return both;
}

export function without(found: Iterable<number>, mask: Mask, sections: number): Uint8Array {
  const rest = mask === null ? new Uint8Array(sections).fill(1) : mask.slice();
  for (const section of found) rest[section] = 0;
  return rest;
}
