import { type Ranking, rarity } from './ranking.ts';
import { isStopWord } from './stop-words.ts';
import { pairsOf, spellingsOf } from './terms.ts';
import type { Candidate, Vocabulary } from './vocabulary.ts';
import { type Word, wordsOf } from './words.ts';

export interface Lookup {
  /** Weight of each alternative, 1 for an exact hit; a section counts the best one that it has. */
  readonly alternatives: ReadonlyMap<string, number>;
  readonly weight: number;
}

/** A word of the query, stop words left out, in the order of the query. */
export interface Link {
  readonly terms: readonly string[];
  readonly rarity: number;
  /** How well the site knows the word: 1 as it was typed, less where only as what it may stand for, 0 not at all. */
  readonly share: number;
}

interface Dictionary {
  readonly sections: number;
  readonly vocabulary: Pick<Vocabulary, 'startingWith' | 'near'>;
  sectionsWith(term: string): number;
}

/** The rarest count: a question has 10, the longest topics of the development sets 40. */
const WISHES_MAX = 64;
const PREFIX_WORDS_MAX = 30;
/** Words of a query that are looked up as misspellings; one costs up to 5 ms. */
const MISSPELLINGS_MAX = 8;
const CORRECTIONS_MAX = 4;
/** A word in so few sections may itself be a misspelling, of one that is so many times as frequent. */
const NEXT_TO_NOTHING = 1;
const OFTENER = 10;
const DIGIT = /\p{N}/u;

/** Terms to look for, the rarest first, and the words in their order. @param unfinished the last word may go on */
export function planOf(text: string, unfinished: boolean, dictionary: Dictionary, ranking: Ranking) {
  const wishes = new Map<string, Lookup>();
  const links: Link[] = [];
  let misspellings = 0;

  function wish(exact: readonly string[], weight: number, also: ReadonlyMap<string, number> = new Map()): Link {
    const alternatives = new Map<string, number>();
    let sections = 0;
    for (const [term, share] of [...exact.map((each) => [each, 1] as const), ...also]) {
      const found = alternatives.has(term) ? 0 : dictionary.sectionsWith(term);
      sections += found;
      if (found > 0 && share > 0) alternatives.set(term, share);
    }
    const rare = rarity(Math.min(sections, dictionary.sections), dictionary.sections);
    const key = [...exact, ...also.keys()].join(' ');
    // A word that a question repeats is what it is about: its weights add up.
    wishes.set(key, { alternatives, weight: rare * weight + (wishes.get(key)?.weight ?? 0) });
    return { terms: [...alternatives.keys()], rarity: rare, share: Math.max(0, ...alternatives.values()) };
  }

  function corrections(surface: string, sections: number): Map<string, number> {
    if (misspellings >= MISSPELLINGS_MAX || DIGIT.test(surface)) return new Map();
    misspellings += 1;
    const found = dictionary.vocabulary.near(surface, CORRECTIONS_MAX);
    const near = found.filter(({ count }) => count >= sections * OFTENER);
    return alternativesOf(near, ({ distance }) => ranking.misspelled[distance] ?? 0);
  }

  function wishOrCorrect(surface: string, weight: number): Link {
    const spellings = spellingsOf(surface);
    const sections = spellings.reduce((sum, term) => sum + dictionary.sectionsWith(term), 0);
    const also = sections > NEXT_TO_NOTHING ? new Map<string, number>() : corrections(surface, sections);
    if (sections === 0) return wish(spellings, weight, also);
    // It is there as it was typed: what it may stand for counts by its own rarity, beside it.
    if (also.size > 0) wish([], weight, also);
    return wish(spellings, weight);
  }

  function add({ kind, folded, parts }: Word, weight: number, goesOn: boolean): void {
    const begun = goesOn ? dictionary.vocabulary.startingWith(folded, PREFIX_WORDS_MAX) : [];
    if (kind === 'joined') wish([folded], weight);
    else if (kind === 'run') for (const term of runTerms(folded)) links.push(wish([term], weight));
    else if (begun.length > 0) {
      const alternatives = alternativesOf(begun, () => ranking.prefix);
      links.push(wish(spellingsOf(folded), weight, alternatives));
    } else {
      links.push(wishOrCorrect(folded, weight));
      for (const part of parts) wishOrCorrect(part, weight * ranking.part);
    }
  }

  const words = wordsOf(text);
  const last = unfinished ? words.findLast((word) => word.kind === 'word') : undefined;
  const isStop = (word: Word) =>
    word.kind === 'word' && word !== last && isStopWord(word.folded, text.slice(word.start, word.end));
  const allStop = words.every(isStop);
  for (const word of words) {
    const weight = isStop(word) && !allStop ? ranking.stopWord : 1;
    if (weight > 0) add(word, weight, word === last);
  }
  const rarestFirst = [...wishes.values()].sort((left, right) => right.weight - left.weight);
  return { wishes: rarestFirst.slice(0, WISHES_MAX), links: links.slice(0, WISHES_MAX) };
}

function runTerms(run: string): string[] {
  const pairs = pairsOf(run);
  return pairs.length > 0 ? pairs : [run];
}

function alternativesOf(candidates: readonly Candidate[], weightOf: (candidate: Candidate) => number) {
  const alternatives = new Map<string, number>();
  for (const candidate of candidates)
    for (const term of spellingsOf(candidate.word))
      alternatives.set(term, Math.max(alternatives.get(term) ?? 0, weightOf(candidate)));
  return alternatives;
}

/** Null unless the query is one camelCase, snake_case, dotted or hyphenated name. */
export function onlyIdentifier(text: string): string | null {
  const [first, ...rest] = wordsOf(text);
  if (first === undefined || rest.some((word) => word.end > first.end)) return null;
  if (first.kind === 'joined') return first.folded;
  return first.parts.length > 0 ? (spellingsOf(first.folded)[0] ?? null) : null;
}
