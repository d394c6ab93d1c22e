import type { ScoreReasons } from '../../domain/search.ts';
import type { SectionFacts } from '../keyword/index.ts';
import { type Highlight, highlightsOf, type IndexedSection, type KeywordIndex } from '../keyword/index.ts';
import type { SearchResult } from '../request.ts';
import type { Passage } from '../section.ts';
import type { RankedSection, RankParts } from './rank.ts';

interface Shown {
  readonly content: string;
  readonly highlights: readonly Highlight[];
}

/** Excerpts for one query. Reading and marking ten sections takes .8 ms, which can be done beforehand for probable results. */
export class ShownSections {
  readonly #keyword: KeywordIndex;
  readonly #facts: SectionFacts;
  readonly #matchedIn: (section: number) => string[];
  readonly #read = new Map<number, ReturnType<typeof shownSection> | null>();

  constructor(keyword: KeywordIndex, facts: SectionFacts, matchedIn: (section: number) => string[]) {
    this.#keyword = keyword;
    this.#facts = facts;
    this.#matchedIn = matchedIn;
  }

  /** In steps of some .1 ms, of which any may be the last. */
  *prepare(sections: readonly number[]): Generator<void> {
    this.#readAll(sections);
    yield;
    for (const section of sections) {
      this.#read.get(section)?.markAll();
      yield;
    }
  }

  /**
   * @param passageOf the nearest in meaning; undefined: the one with the most query words
   * @param partsOf null: the results have no reasons
   */
  results(
    ranked: readonly RankedSection[],
    passageOf: (section: number) => number | undefined,
    partsOf: ((section: number) => RankParts) | null = null,
  ): SearchResult[] {
    this.#readAll(ranked.map(({ section }) => section));
    return ranked.flatMap(({ section, score }) => {
      const read = this.#read.get(section) ?? null;
      if (read === null) return [];
      const result = read.result(score, passageOf(section));
      if (partsOf === null) return result;
      const prior = this.#keyword.priors[section] ?? 0;
      return { ...result, reasons: { ...partsOf(section), places: read.places(), prior } };
    });
  }

  #readAll(sections: readonly number[]): void {
    const unread = sections.filter((section) => !this.#read.has(section));
    if (unread.length === 0) return;
    const found = this.#keyword.sections(unread);
    for (const section of unread) {
      const read = found.get(section);
      const shown = read && shownSection(read, this.#facts.passages(section), this.#matchedIn(section));
      this.#read.set(section, shown ?? null);
    }
  }
}

function shownSection(read: IndexedSection, passages: readonly Passage[], matched: readonly string[]) {
  const { path, text, title, headings, version, language, tags } = read;
  const marked: Shown[] = [];
  const contentOf = (passage: number): string => {
    const { start, end } = passages[passage] ?? { start: 0, end: 0 };
    if (passages.length > 1) return text.slice(start, end);
    // A heading with nothing under it is found by its own words, and they are what there is to show.
    return text || (headings.at(-1) ?? title);
  };
  const mark = (passage: number): Shown => {
    const known = marked[passage];
    if (known !== undefined) return known;
    const content = contentOf(passage);
    const shown = { content, highlights: highlightsOf(content, matched) };
    marked[passage] = shown;
    return shown;
  };
  return {
    markAll(): void {
      for (const passage of passages.keys()) mark(passage);
    },
    places(): ScoreReasons['places'] {
      const texts = { title: [title], headings, text: [text] };
      const holds = (each: string) => highlightsOf(each, matched).length > 0;
      return (['title', 'headings', 'text'] as const).filter((place) => texts[place].some(holds));
    },
    result(score: number, nearest: number | undefined): SearchResult {
      const isUnknown = passages.length > 1 && passages[nearest ?? -1] === undefined;
      const { content, highlights } = isUnknown ? mostMarked(text, passages, matched) : mark(nearest ?? 0);
      return { content, path, metadata: { score, title, headings, version, language, tags, highlights } };
    },
  };
}

/** Of equal passages the first. */
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
