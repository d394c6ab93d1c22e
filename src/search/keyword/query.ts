import { isStopWord } from './english.ts';
import { type QueryWord, type Ranking, rarity } from './ranking.ts';
import type { Candidate, Vocabulary } from './vocabulary.ts';
import { askedSymbols, isNumbered, isTechnical, pairsOf, spellingsOf, type Word, wordsOf } from './words.ts';

export interface ParsedQuery {
  readonly wanted: string;
  /** Quoted phrases. A hit contains each one, unless `isQuestion`. */
  readonly phrases: readonly string[];
  /** True for a query longer than a keyword search. Its quotes then stress a word and require nothing. */
  readonly isQuestion: boolean;
  readonly unwanted: readonly string[];
  /** The query with the unwanted words as wanted ones. Null if there are none. */
  readonly inclusive: string | null;
  readonly unfinished: boolean;
}

/** The contract allows 1,000 characters of up to two code units. */
const QUERY_LENGTH_MAX = 2_000;
/** Each operator costs up to 20 ms at 100,000 sections. */
const OPERATORS_MAX = 6;
/** A query with more words outside quotes is a question. Requiring the phrases of questions lowered nDCG@10 on CACM by 0.03. */
const LOOSE_WORDS_MAX = 5;
const WORD = /[\p{L}\p{N}]+/gu;
/** A phrase in quotes, or a minus before a phrase or a word of at least two letters, because readers search for `-g` and `--global`. */
const OPERATOR =
  /(?<=^|\s)-(?:["\u201c\u201d\u201e]([^"\u201c\u201d\u201e]*)["\u201c\u201d]|([\p{L}\p{N}_][^\s"\u201c\u201d\u201e]+))|["\u201c\u201d\u201e]([^"\u201c\u201d\u201e]*)["\u201c\u201d]/gu;

/** @param isOption whether the site has this text after a dash, as in a command line. It then excludes nothing. */
export function parseQuery(text: string, isOption: (text: string, isAtEnd: boolean) => boolean): ParsedQuery {
  const phrases: string[] = [];
  const unwanted: string[] = [];
  const bounded = text.slice(0, QUERY_LENGTH_MAX);
  let inclusive = '';
  let copied = 0;
  const wanted = bounded.replace(OPERATOR, (all: string, notPhrase, notWord, phrase, start: number) => {
    if (phrases.length + unwanted.length >= OPERATORS_MAX) return ` ${all} `;
    if (phrase === undefined) {
      if (notWord !== undefined && isOption(all, start + all.length === bounded.length)) return all;
      unwanted.push(notPhrase ?? notWord);
      inclusive += bounded.slice(copied, start);
      copied = start + 1;
      return ' ';
    }
    phrases.push(phrase);
    return ` ${phrase} `;
  });
  const loose = bounded.replace(OPERATOR, ' ').match(WORD)?.length ?? 0;
  return {
    wanted,
    phrases,
    isQuestion: loose > LOOSE_WORDS_MAX,
    unwanted,
    inclusive: unwanted.length > 0 ? inclusive + bounded.slice(copied) : null,
    unfinished: /[\p{L}\p{N}\p{M}_]$/u.test(wanted),
  };
}

export interface Lookup {
  readonly alternatives: ReadonlyMap<string, number>;
  readonly weight: number;
}

export interface Link extends QueryWord {
  readonly share: number;
}

interface Dictionary {
  readonly sections: number;
  readonly vocabulary: Pick<Vocabulary, 'startingWith' | 'near'>;
  sectionsWith(term: string): number;
}

/** The rarest words count. A question has 10, the longest topics of the development sets 40. */
const WISHES_MAX = 64;
const PREFIX_WORDS_MAX = 30;
const NUMBERED_MAX = 4;
/** One misspelling costs up to 5 ms. */
const MISSPELLINGS_MAX = 8;
const CORRECTIONS_MAX = 4;
/** A word in so few sections may be a misspelling of a word that is `OFTENER` times as frequent. */
const NEXT_TO_NOTHING = 1;
const OFTENER = 10;
const DIGIT = /\p{N}/u;

/** Returns the terms, the rarest first, and the words in order. @param unfinished the last word may be a prefix */
export function planOf(text: string, unfinished: boolean, dictionary: Dictionary, ranking: Ranking) {
  const wishes = new Map<string, Lookup>();
  const links: Link[] = [];
  const knownNames: Pick<Word, 'start' | 'end'>[] = [];
  const names: Name[] = [];
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
    if (also.size > 0) wish([], weight, also);
    return wish(spellings, weight);
  }

  function addName({ folded, parts, start, end }: Word, weight: number): void {
    const isTerm = isTechnical(text.slice(start, end));
    const { terms } = wish([folded, ...parts], isTerm ? weight * ranking.whole : weight);
    if (!isTerm || terms.length === 0) return;
    knownNames.push({ start, end });
    names.push({ terms, pair: null });
  }

  function add({ kind, folded, parts }: Word, weight: number, goesOn: boolean): void {
    const begun = goesOn ? dictionary.vocabulary.startingWith(folded, PREFIX_WORDS_MAX) : [];
    if (kind === 'run') for (const term of runTerms(folded)) links.push(wish([term], weight));
    else if (begun.length > 0) {
      const alternatives = alternativesOf(begun, () => ranking.prefix);
      links.push(wish(spellingsOf(folded), weight, alternatives));
      for (const part of parts) wish(spellingsOf(part), weight * ranking.part);
    } else if (parts.length > 0 && isNumbered(folded) && !isKnown(folded)) {
      // `RFC9110` is also `RFC 9110`.
      for (const part of parts) links.push(wishOrCorrect(part, weight));
    } else {
      links.push(wishOrCorrect(folded, weight));
      for (const part of parts) wishOrCorrect(part, weight * ranking.part);
    }
  }

  const isKnown = (surface: string) => spellingsOf(surface).some((term) => dictionary.sectionsWith(term) > 0);
  const symbols = askedSymbols(text).flatMap((spellings) => {
    const known = spellings.find((symbol) => dictionary.sectionsWith(symbol) > 0);
    return known === undefined ? [] : [known];
  });
  for (const symbol of new Set(symbols)) {
    links.push(wish([symbol], ranking.whole));
    names.push({ terms: [symbol], pair: null });
  }
  const words = wordsOf(text);
  const last = unfinished ? words.findLast((word) => word.kind === 'word') : undefined;
  const isPrefix = (word: Word) => word === last && !APOSTROPHE_BEFORE.test(text.slice(0, word.start));
  const isStop = (word: Word) =>
    word.kind === 'word' && !isPrefix(word) && isStopWord(word.folded, text.slice(word.start, word.end));
  const allStop = symbols.length === 0 && words.every(isStop);
  for (const word of words) {
    const weight = isStop(word) && !allStop ? ranking.stopWord : 1;
    if (weight === 0) continue;
    if (word.kind === 'joined') addName(word, weight);
    else {
      const isInName = knownNames.some(({ start, end }) => start <= word.start && word.end <= end);
      add(word, isInName ? weight * ranking.partOfName : weight, isPrefix(word));
    }
  }
  for (const pair of numberedNames(words)) {
    const { terms } = wish([pair.join('')], ranking.whole);
    if (pair.every(isKnown)) names.push({ terms, pair });
    else if (terms.length > 0) names.push({ terms, pair: null });
  }
  const rarestFirst = [...wishes.values()].sort((left, right) => right.weight - left.weight);
  return { wishes: rarestFirst.slice(0, WISHES_MAX), links: links.slice(0, WISHES_MAX), names };
}

/** A section has the name if it has one of the terms, or the words of the pair next to each other. */
export interface Name {
  readonly terms: readonly string[];
  readonly pair: Pair | null;
}

type Pair = readonly [name: string, number: string];

const APOSTROPHE_BEFORE = /['\u2018\u2019\uff07]$/;

/** `RFC 9110` and `RFC9110` are one name. */
function numberedNames(words: readonly Word[]): Pair[] {
  const plain = words.filter(({ kind }) => kind === 'word');
  const pairs = plain.flatMap(({ folded, parts }, at): Pair[] => {
    const [name = '', number = ''] = isNumbered(folded) ? parts : [folded, plain[at + 1]?.folded];
    return /^\p{N}+$/u.test(number) && /^\p{L}+$/u.test(name) ? [[name, number]] : [];
  });
  return pairs.slice(0, NUMBERED_MAX);
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

/** Terms of the one name or symbol that the query consists of. Empty if the query has other words or is an ordinary word. */
export function onlyIdentifier(text: string): readonly string[] {
  const [first, ...rest] = wordsOf(text);
  const symbols = askedSymbols(text);
  const isStop = ({ kind, folded, start, end }: Word) => kind === 'word' && isStopWord(folded, text.slice(start, end));
  if (symbols.length > 0)
    return symbols.length === 1 && (first === undefined || [first, ...rest].every(isStop)) ? (symbols[0] ?? []) : [];
  if (first === undefined || rest.some((word) => word.end > first.end)) return [];
  if (first.kind === 'joined') return [first.folded, ...first.parts];
  return first.parts.length > 0 || DIGIT.test(first.folded) ? spellingsOf(first.folded).slice(0, 1) : [];
}

/** Builds an FTS5 phrase in one column, stemmed (English sections) or unstemmed. Returns null without words. */
export function phraseExpression(phrase: string): string | null {
  const words = wordsOf(phrase).filter((word) => word.kind !== 'joined');
  if (words.length === 0) return null;
  const stemmed: string[] = [];
  const asWritten: string[] = [];
  let open = false;
  for (const [at, word] of words.entries()) {
    open = false;
    if (word.kind === 'word') {
      const [stem = '', surface = stem] = spellingsOf(word.folded);
      stemmed.push(stem);
      asWritten.push(surface);
      continue;
    }
    // A run inside the phrase ends with its last character. A run at the end of the phrase may continue in the section.
    const pairs = pairsOf(word.folded);
    const last = [...word.folded].at(-1) ?? '';
    const isLast = at === words.length - 1;
    open = isLast && pairs.length === 0;
    const terms = isLast && !open ? pairs : [...pairs, last];
    stemmed.push(...terms);
    asWritten.push(...terms);
  }
  const variants = new Set([stemmed, asWritten].map((terms) => `"${terms.join(' ')}"${open ? ' *' : ''}`));
  return [...variants].join(' OR ');
}

export function correctedQuery(
  query: string,
  unfinished: boolean,
  dictionary: Omit<Dictionary, 'sections'>,
): string | null {
  const words = wordsOf(query).filter(({ kind }) => kind === 'word');
  let corrected = '';
  let copied = 0;
  let looked = 0;
  for (const { folded, parts, start, end } of words) {
    const isLast = end === words.at(-1)?.end;
    if (start < copied || parts.length > 0 || DIGIT.test(folded) || isStopWord(folded, query.slice(start, end)))
      continue;
    if (spellingsOf(folded).some((term) => dictionary.sectionsWith(term) > 0)) continue;
    if (isLast && unfinished && dictionary.vocabulary.startingWith(folded, 1).length > 0) continue;
    looked += 1;
    const [nearest] = looked > MISSPELLINGS_MAX ? [] : dictionary.vocabulary.near(folded, 1);
    if (nearest === undefined) continue;
    corrected += query.slice(copied, start) + nearest.word;
    copied = end;
  }
  return copied === 0 ? null : corrected + query.slice(copied);
}
