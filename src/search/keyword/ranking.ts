/**
 * BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009), with title, headings and body each saturating on
 * their own, so that a word in the title counts however often the text says it. Text and identifiers are one body (BM25F).
 */
export interface Ranking {
  /** BM25's k1: how fast a second and third occurrence stop counting. */
  readonly saturation: number;
  readonly weights: Columns;
  /** BM25's b: 0, a long column is as good as a short one; 1, a word counts by its share of the column. */
  readonly lengths: Columns;
  /** Weight of a stop word beside another word. */
  readonly stopWord: number;
  /** Weight of each part of a camelCase or snake_case word. */
  readonly part: number;
  /** Weight of a phrase beside its words, in a question. */
  readonly phrase: number;
  /** Of neighbouring words of the query that stand near each other. */
  readonly proximity: number;
  /** Weight of a word that the last one is the beginning of. */
  readonly prefix: number;
  readonly misspelled: readonly number[];
}

interface Columns {
  readonly title: number;
  readonly headings: number;
  readonly text: number;
  readonly identifiers: number;
}

/** One setting for all sites. What was tried beside it, and what it gave, is in docs/search.md. */
export const RANKING: Ranking = {
  saturation: 1.2,
  weights: { title: 1.25, headings: 1.25, text: 1, identifiers: 0.4 },
  lengths: { title: 0.75, headings: 0.75, text: 0.7, identifiers: 0.75 },
  stopWord: 0,
  part: 0.5,
  phrase: 0.5,
  proximity: 0.5,
  prefix: 0.6,
  misspelled: [1, 0.7, 0.5],
};

/** Lift of a page prior of 1: enough to decide among equals. */
export const PRIOR_WEIGHT = 0.05;

/** BM25's inverse document frequency, above 0. */
export function rarity(sectionsWithTerm: number, sections: number): number {
  return Math.log(1 + (sections - sectionsWithTerm + 0.5) / (sectionsWithTerm + 0.5));
}

type Lengths = Readonly<Record<keyof Columns, Uint16Array>>;

/** A term's score by its four counts in a section: at most `saturation` + 1 times each weight. */
export function impactOf(lengths: Lengths, { saturation, weights, lengths: shares }: Ranking) {
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

/** The mean length of what is not empty, so that a column which few sections have is no shorter for it. */
function mean(lengths: Uint16Array): number {
  let sum = 0;
  let filled = 0;
  for (const length of lengths) {
    sum += length;
    if (length > 0) filled += 1;
  }
  return sum / Math.max(1, filled);
}
