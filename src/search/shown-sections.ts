import { type Highlight, highlightsOf, type IndexedSection, type KeywordIndex } from './keyword/index.ts';
import type { SearchResult } from './request.ts';
import type { Passage } from './section.ts';
import type { SectionFacts } from './section-facts.ts';

/** What a result shows of its section. */
interface Shown {
  readonly content: string;
  readonly highlights: readonly Highlight[];
}

/**
 * What the results of one query show. Reading ten sections and marking the query's words in them takes .8 ms, which can be done
 * beforehand for those that will probably be among the results.
 */
export class ShownSections {
  readonly #keyword: KeywordIndex;
  readonly #facts: SectionFacts;
  readonly #matchedIn: (section: number) => string[];
  /** Undefined: it has been looked for, and is not there. */
  readonly #read = new Map<number, IndexedSection | undefined>();
  /** By section and passage. */
  readonly #marked = new Map<string, Shown>();

  /** @param matchedIn the index terms that a section has of what was looked for. */
  constructor(keyword: KeywordIndex, facts: SectionFacts, matchedIn: (section: number) => string[]) {
    this.#keyword = keyword;
    this.#facts = facts;
    this.#matchedIn = matchedIn;
  }

  /** In steps of some .1 ms, of which any may be the last. */
  *prepare(sections: readonly number[]): Generator<void> {
    this.read(sections);
    yield;
    for (const section of sections) {
      for (const passage of this.#facts.passages(section).keys()) this.#passage(section, passage);
      yield;
    }
  }

  /** Reads them in one go: one by one they take longer. */
  read(sections: readonly number[]): void {
    const unread = sections.filter((section) => !this.#read.has(section));
    if (unread.length === 0) return;
    const found = this.#keyword.sections(unread);
    for (const section of unread) this.#read.set(section, found.get(section));
  }

  /**
   * A section as a result; null where the index does not have it.
   *
   * @param passage the one nearest in meaning; undefined: the one with the most of the query's words.
   */
  result(section: number, score: number, passage: number | undefined): SearchResult | null {
    this.read([section]);
    const read = this.#read.get(section);
    if (read === undefined) return null;
    const { path, title, headings, version, language, tags } = read;
    const { content, highlights } = this.#shown(section, read, passage);
    return { content, path, metadata: { score, title, headings, version, language, tags, highlights } };
  }

  #shown(section: number, read: IndexedSection, passage: number | undefined): Shown {
    const passages = this.#facts.passages(section);
    if (passages.length > 1 && passages[passage ?? -1] === undefined)
      return mostMarked(read.text, passages, this.#matchedIn(section));
    return this.#passage(section, passage ?? 0);
  }

  #passage(section: number, passage: number): Shown {
    const key = `${section} ${passage}`;
    const known = this.#marked.get(key);
    if (known !== undefined) return known;
    const content = this.#contentOf(section, passage);
    const shown = { content, highlights: highlightsOf(content, this.#matchedIn(section)) };
    this.#marked.set(key, shown);
    return shown;
  }

  #contentOf(section: number, passage: number): string {
    const read = this.#read.get(section);
    if (read === undefined) return '';
    const passages = this.#facts.passages(section);
    const { start, end } = passages[passage] ?? { start: 0, end: 0 };
    if (passages.length > 1) return read.text.slice(start, end);
    // A heading with nothing under it is found by its own words, and they are what there is to show.
    return read.text || (read.headings.at(-1) ?? read.title);
  }
}

/** The passage with the most places that are highlighted; of equals, the first. */
function mostMarked(text: string, passages: readonly Passage[], matched: readonly string[]): Shown {
  const places = highlightsOf(text, matched);
  const candidates = passages.map(({ start, end }) => ({
    content: text.slice(start, end),
    highlights: places
      .filter((place) => place.start >= start && place.end <= end)
      .map((place) => ({ start: place.start - start, end: place.end - start })),
  }));
  return candidates.reduce((most, each) => (each.highlights.length > most.highlights.length ? each : most));
}
