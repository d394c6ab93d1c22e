import { firstFrom } from '../../files/flat-tables.ts';
import type { Postings } from './postings.ts';

/**
 * BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009). Title, headings and body saturate separately, so
 * that a title word counts even if the text repeats it often. Text and identifiers are one body (BM25F).
 */
export interface Ranking {
  /** BM25's k1. With a higher value, each repeated occurrence of a word adds more to the score. */
  readonly saturation: number;
  readonly weights: Columns;
  /** BM25's b: with 0, the length of a column does not matter. With 1, a word counts by its share of the column. */
  readonly lengths: Columns;
  readonly stopWord: number;
  readonly part: number;
  /**
   * Weight of a whole identifier, such as `1.2.3`. Its words have only the weight `partOfName`, so that sections with the whole
   * identifier come first.
   */
  readonly whole: number;
  readonly partOfName: number;
  readonly phrase: number;
  readonly proximity: number;
  readonly prefix: number;
  readonly misspelled: readonly number[];
}

interface Columns {
  readonly title: number;
  readonly headings: number;
  readonly text: number;
  readonly identifiers: number;
}

/** Ranking parameters that docshelf uses. docs/search-ranking.md lists other values that were tried, with their results. */
export const RANKING: Ranking = {
  saturation: 1.2,
  weights: { title: 1.25, headings: 1.25, text: 1, identifiers: 0.4 },
  lengths: { title: 0.75, headings: 0.75, text: 0.7, identifiers: 0.75 },
  stopWord: 0,
  part: 0.5,
  whole: 2,
  partOfName: 0.2,
  phrase: 0.5,
  proximity: 0.5,
  prefix: 0.6,
  misspelled: [1, 0.7, 0.5],
};

export const PRIOR_WEIGHT = 0.05;
/** Prior (importance) of the pages that are change logs or lists. */
export const SECONDARY_PRIOR = -1;
/** Factor for the score of change logs and lists. The extra score of exact titles and identifiers stays the same. */
export const SECONDARY_PART = 0.7;

export function rarity(sectionsWithTerm: number, sections: number): number {
  return Math.log(1 + (sections - sectionsWithTerm + 0.5) / (sectionsWithTerm + 0.5));
}

/** Title, headings and body each add at most their weight times (`saturation` + 1) to the score. */
export function impactOf(
  lengths: Readonly<Record<keyof Columns, Uint16Array>>,
  { saturation, weights, lengths: shares }: Ranking,
) {
  const means = {
    title: mean(lengths.title),
    headings: mean(lengths.headings),
    text: mean(lengths.text),
    identifiers: mean(lengths.identifiers),
  };
  const saturated = (frequency: number) => (frequency * (saturation + 1)) / (frequency + saturation);
  const frequency = (column: keyof Columns, section: number, count: number) =>
    count / (1 - shares[column] + (shares[column] * (lengths[column][section] ?? 0)) / means[column]);

  return (section: number, title: number, headings: number, text: number, identifiers: number): number => {
    let body = text === 0 ? 0 : weights.text * frequency('text', section, text);
    if (identifiers > 0) body += weights.identifiers * frequency('identifiers', section, identifiers);
    let impact = saturated(body);
    if (title > 0) impact += weights.title * saturated(frequency('title', section, title));
    if (headings > 0) impact += weights.headings * saturated(frequency('headings', section, headings));
    return impact;
  };
}

/** Mean length of a column in the sections that have this column. At least 1, because a column of only symbols has length 0. */
function mean(lengths: Uint16Array): number {
  let sum = 0;
  let filled = 0;
  for (const length of lengths) {
    sum += length;
    if (length > 0) filled += 1;
  }
  return Math.max(1, sum) / Math.max(1, filled);
}

/** One byte per section: 1 if the query may find the section. Null allows all sections. */
export type Mask = Uint8Array | null;

export class Accumulator {
  readonly #scores: Float64Array;
  readonly #touched: Uint32Array;
  #count = 0;

  constructor(sections: number) {
    this.#scores = new Float64Array(sections);
    this.#touched = new Uint32Array(sections);
  }

  add({ sections, impacts }: Postings, weight: number, mask: Mask): void {
    for (let at = 0; at < sections.length; at += 1) {
      const section = sections[at] as number;
      if (mask === null || mask[section] === 1)
        this.#put(section, this.get(section) + weight * (impacts[at] as number));
    }
  }

  raise({ sections, impacts }: Postings, weight: number, mask: Mask): void {
    for (let at = 0; at < sections.length; at += 1) {
      const section = sections[at] as number;
      if (mask === null || mask[section] === 1)
        this.#put(section, Math.max(this.get(section), weight * (impacts[at] as number)));
    }
  }

  addTo(section: number, score: number): void {
    this.#put(section, this.get(section) + score);
  }

  get(section: number): number {
    return this.#scores[section] ?? 0;
  }

  take(section: number): number {
    const score = this.get(section);
    this.#scores[section] = 0;
    return score;
  }

  takeBest(limit: number, lifts: Float32Array): readonly Ranked[] {
    const best = new Best(limit);
    for (let at = 0; at < this.#count; at += 1) {
      const section = this.#touched[at] as number;
      const score = (this.#scores[section] as number) * (lifts[section] as number);
      this.#scores[section] = 0;
      if (score > best.least) best.offer(section, score);
    }
    this.#count = 0;
    return best.ranked();
  }

  drain(take: (section: number, score: number) => void): void {
    for (let at = 0; at < this.#count; at += 1) {
      const section = this.#touched[at] as number;
      take(section, this.#scores[section] as number);
      this.#scores[section] = 0;
    }
    this.#count = 0;
  }

  #put(section: number, score: number): void {
    if (this.#scores[section] === 0) this.#touched[this.#count++] = section;
    this.#scores[section] = score;
  }
}

export interface Ranked {
  readonly section: number;
  readonly score: number;
}

export function byScore(left: Ranked, right: Ranked): number {
  return right.score - left.score || left.section - right.section;
}

/** Keeps the best sections, at most a few hundred. If scores are equal, the earlier section is better. */
export class Best {
  readonly #limit: number;
  readonly #ranked: Ranked[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Score that a section must exceed to be one of the best sections. */
  get least(): number {
    return this.#ranked.length < this.#limit ? 0 : (this.#ranked.at(-1)?.score ?? Number.POSITIVE_INFINITY);
  }

  offer(section: number, score: number): void {
    const offered = { section, score };
    const place = firstFrom(this.#ranked.length, (at) => byScore(this.#ranked[at] as Ranked, offered) < 0);
    if (place >= this.#limit) return;
    this.#ranked.splice(place, 0, offered);
    if (this.#ranked.length > this.#limit) this.#ranked.pop();
  }

  ranked(): readonly Ranked[] {
    return this.#ranked;
  }
}

export interface QueryWord {
  readonly terms: readonly string[];
  readonly rarity: number;
}

const DISTANCE_MAX = 4;
/** Gap between title, headings and text in a sequence, so that words of different columns are not near each other. */
const GAP: readonly number[] = Array.from({ length: DISTANCE_MAX }, () => 0);

/** Hashes index terms to 16 bits. A hash collision has an effect only near another term of the query. */
export function sequenceOf(columns: readonly (readonly string[])[]): Uint16Array {
  return new Uint16Array(columns.flatMap((terms) => [...terms.map(bitsOf), ...GAP]));
}

function bitsOf(term: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < term.length; at += 1) hash = Math.imul(hash ^ term.charCodeAt(at), 0x01000193);
  return (hash >>> 16) ^ (hash & 0xffff) || 1;
}

export class Proximity {
  readonly #linkOf = new Uint8Array(0x10000);
  /** Index, from 1, of each pair of words that are neighbours in the query. 0 for all other pairs of words. */
  readonly #pairOf: Uint8Array;
  readonly #stride: number;
  readonly #rarities: number[] = [];

  constructor(links: readonly QueryWord[]) {
    this.#stride = links.length + 1;
    this.#pairOf = new Uint8Array(this.#stride ** 2);
    for (const [at, { terms }] of links.entries())
      for (const bits of terms.map(bitsOf)) if (this.#linkOf[bits] === 0) this.#linkOf[bits] = at + 1;
    for (const [at, second] of links.slice(1).entries()) this.#addPair(links[at] as QueryWord, second);
  }

  /** Number of different pairs of neighbouring words in the query. */
  get pairs(): number {
    return this.#rarities.length;
  }

  of(sequence: Uint16Array, impact: (count: number) => number): number {
    const counts = new Float64Array(this.#rarities.length);
    const places: number[] = [];
    for (let at = 0; at < sequence.length; at += 1) {
      const link = this.#linkOf[sequence[at] as number] as number;
      if (link === 0) continue;
      for (let before = places.length - 1; before >= 0; before -= 1) {
        const place = places[before] as number;
        if (at - place > DISTANCE_MAX) break;
        const pair = this.#pairOf[(this.#linkOf[sequence[place] as number] as number) * this.#stride + link] as number;
        if (pair > 0) counts[pair - 1] = (counts[pair - 1] as number) + 1 / (at - place);
      }
      places.push(at);
    }
    let sum = 0;
    for (const [pair, count] of counts.entries())
      if (count > 0) sum += (this.#rarities[pair] as number) * impact(count);
    return sum;
  }

  #addPair(first: QueryWord, second: QueryWord): void {
    const [one, other] = [first, second].map(({ terms: [term] }) =>
      term === undefined ? 0 : this.#linkOf[bitsOf(term)],
    );
    if (!one || !other || one === other) return;
    const at = one * this.#stride + other;
    if (this.#pairOf[at] !== 0) return;
    this.#rarities.push(Math.min(first.rarity, second.rarity));
    this.#pairOf[at] = this.#rarities.length;
  }
}
