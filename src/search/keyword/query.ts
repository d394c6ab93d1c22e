import { type QueryWord, type Ranking, rarity } from './ranking.ts';
import { type Dictionary, RELATED_SHARE, type Spellings } from './spellings.ts';
import type { Candidate } from './vocabulary.ts';
import {
  askedSymbols,
  attachedSymbols,
  fold,
  isNumbered,
  isTechnical,
  pairsOf,
  plain,
  type Surface,
  type Word,
  wordsOf,
} from './words.ts';

export interface ParsedQuery {
  readonly wanted: string;
  /** Phrases in quotes. A hit contains all of these phrases, unless `isQuestion` is true. */
  readonly phrases: readonly string[];
  /** True if the query has too many words for a keyword search. Phrases are then optional, because quotes may only stress words. */
  readonly isQuestion: boolean;
  readonly unwanted: readonly string[];
  /** Query with its excluded words (`-word`) as ordinary words. Null if the query excludes no words. */
  readonly inclusive: string | null;
  readonly unfinished: boolean;
}

/** Maximum length of a query in UTF-16 code units. The API allows 1,000 characters of up to two code units. */
const QUERY_LENGTH_MAX = 2_000;
/** Maximum phrases and excluded words, because a phrase of frequent words takes 22 ms of processor time for 30,000 sections (measured). */
const OPERATORS_MAX = 6;
/**
 * Maximum words outside quotes in a query whose phrases are required. With more words, phrases are optional: required phrases in
 * longer queries lowered nDCG@10 on CACM by 0.03.
 */
const LOOSE_WORDS_MAX = 5;
const WORD = /[\p{L}\p{N}]+/gu;
/**
 * Matches a phrase in quotes, or a minus before a phrase or word. Does not match `-g` or `--global`, because readers search for
 * options. A quote after a Hebrew letter belongs to an abbreviation.
 */
const OPERATOR =
  /(?<=^|\s)-(?:["\u201c\u201d\u201e]([^"\u201c\u201d\u201e]*)["\u201c\u201d]|([\p{L}\p{N}_][^\s"\u201c\u201d\u201e]+))|(?<!\p{Script=Hebrew})["\u201c\u201d\u201e]([^"\u201c\u201d\u201e]+)["\u201c\u201d]/gu;

/** @param isOption function that returns true for a command-line option of the site, whose dash excludes no word */
export function parseQuery(text: string, isOption: (text: string, isAtEnd: boolean) => boolean): ParsedQuery {
  const phrases: string[] = [];
  const unwanted: string[] = [];
  const bounded = text.slice(0, QUERY_LENGTH_MAX);
  let inclusive = '';
  let copied = 0;
  const mayExclude = !isCommandLine(bounded, isOption);
  const wanted = bounded.replace(OPERATOR, (all: string, notPhrase, notWord, phrase, start: number) => {
    if (phrases.length + unwanted.length >= OPERATORS_MAX) return ` ${all} `;
    if (phrase === undefined) {
      if (notWord !== undefined && !mayExclude) return all;
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

/** True if the query starts with a dash and a letter, or has an option. Then, all words after a dash are options. */
function isCommandLine(query: string, isOption: (text: string, isAtEnd: boolean) => boolean): boolean {
  if (/^\s*-\p{L}|(?:^|\s)-(?:-?\p{L}(?=\s|$)|-\p{L}|[^\s"\u201c\u201e]+=)/u.test(query)) return true;
  const excluding = Array.from(query.matchAll(OPERATOR)).filter(([, , notWord]) => notWord !== undefined);
  return excluding.some(({ 0: text, index }) => isOption(text, index + text.length === query.length));
}

export interface Lookup {
  readonly alternatives: ReadonlyMap<string, number>;
  /** True if `alternatives` are only corrections of a rare word, which has a look-up of its own. */
  readonly isCorrection: boolean;
  readonly weight: number;
}

export interface Link extends QueryWord {
  readonly share: number;
}

/**
 * Maximum words and identifiers of a query to score, the rarest first. A usual question has 10 words, and the longest test query
 * has 40.
 */
const WISHES_MAX = 64;
const PREFIX_WORDS_MAX = 30;
const NUMBERED_MAX = 4;
const NAME_WORDS_MAX = 4;
/** Maximum misspellings and unknown pairs of characters to look up in a query. Each look-up takes up to 5 ms. */
const MISSPELLINGS_MAX = 8;
const CORRECTIONS_MAX = 4;
/** A word in at most this number of sections also matches similar words that are at least `OFTENER` times as frequent. */
const NEXT_TO_NOTHING = 1;
const OFTENER = 10;
/** Weight of a name in another naming convention, such as `retry_count` for `retryCount`, or of another region's word. */
const ALIKE_SHARE = 0.9;
const DIGIT = /\p{N}/u;
/** Matches the number of a code such as `TS9999`. Does not match a version number, as in `Python3`. */
export const LONG_NUMBER = /\p{N}{3}/u;
/** Matches articles, which writers never join with the next word: `a part` is not `apart`. */
const ARTICLE = /^(?:an?|the)$/;

/**
 * Plans the scoring of a query. The returned `wishes` contain the index terms to score, the rarest first. `joined` contains the
 * words and identifiers that the words of the query form together, such as `login` for `log in`.
 * @param unfinished true if the last word may be a prefix
 */
export function planOf(
  text: string,
  unfinished: boolean,
  dictionary: Dictionary,
  spellings: Spellings,
  ranking: Ranking,
) {
  const wishes = new Map<string, Lookup>();
  const links: Link[] = [];
  const none: ReadonlyMap<string, number> = new Map();
  const knownNames: Pick<Word, 'start' | 'end'>[] = [];
  const unknownNames: Pick<Word, 'start' | 'end'>[] = [];
  const names: Name[] = [];
  let misspellings = 0;

  /** @param related index terms of related words. They determine the rarity only if no section contains an `exact` or `also` term */
  function wish(exact: readonly string[], weight: number, also = none, related = none): Link {
    const alternatives = new Map<string, number>();
    let sections = 0;
    let others = 0;
    let share = 0;
    const shares = [exact.map((each) => [each, 1] as const), [...also], [...related]];
    for (const [kind, terms] of shares.entries())
      for (const [term, part] of terms) {
        const found = dictionary.sectionsWith(term);
        if (found === 0 || part === 0) continue;
        const more = alternatives.has(term) ? 0 : found;
        if (more > 0) alternatives.set(term, part);
        if (kind < 2) sections += more;
        else others += more;
        // A compound that contains the whole word proves that the site knows the word, so let it count as much as the word.
        share = Math.max(share, Math.min(1, kind === 2 ? part / RELATED_SHARE : part));
      }
    if (sections === 0) sections = others;
    const rare = rarity(Math.min(sections, dictionary.sections), dictionary.sections);
    const key = [...exact, ...also.keys()].join(' ');
    wishes.set(key, {
      alternatives,
      isCorrection: exact.length === 0,
      weight: rare * weight + (wishes.get(key)?.weight ?? 0),
    });
    return { terms: [...alternatives.keys()], rarity: rare, share };
  }

  function corrections(surface: string, sections: number): Map<string, number> {
    if (misspellings >= MISSPELLINGS_MAX || DIGIT.test(surface)) return new Map();
    misspellings += 1;
    const near = similarWords(surface, dictionary, spellings).filter(({ count }) => count >= sections * OFTENER);
    return alternativesOf(near, ({ distance }) => ranking.misspelled[distance] ?? 0);
  }

  function wishOrCorrect(surface: Surface, weight: number, related = spellings.related(surface)): Link {
    const keys = spellings.keysOf(surface);
    const sections = keys.reduce((sum, term) => sum + dictionary.sectionsWith(term), 0);
    const isKnown = sections > NEXT_TO_NOTHING || isInside(related);
    const also = isKnown ? none : corrections(surface.folded, sections);
    if (sections === 0) return wish(keys, weight, also, related);
    if (also.size > 0) wish([], weight, also);
    return wish(keys, weight, none, related);
  }

  function addName({ folded, parts, start, end }: Word, weight: number): void {
    const alike = /^[\p{L}\p{N}]+(?:-[\p{L}\p{N}]+)+$/u.test(folded)
      ? namedAlike(folded.split('-'), dictionary, spellings, ['_'])
      : [];
    const isTerm = alike.length > 0 || isTechnical(text.slice(start, end));
    const { terms } = wish([folded, ...parts, ...alike], isTerm ? weight * ranking.whole : weight);
    if (!isTerm) return;
    if (terms.length === 0) unknownNames.push({ start, end });
    else {
      knownNames.push({ start, end });
      names.push({ terms, words: [] });
    }
  }

  function addWord(word: Word, weight: number): void {
    const isOfSite = isKnown(word);
    const parted = word.parts.length > 0 ? [] : spellings.partsOf(word);
    const maySplit = parted.length === 0 && misspellings < MISSPELLINGS_MAX && !isOfSite;
    const compound = maySplit ? spellings.twoWords(word) : parted;
    const isSplit = compound.length > 1 && !isOfSite;
    // `KAFKA_LOG_DIRS` sets `log.dirs`, so also look for the name without its first part.
    const whole = namedAlike(word.parts, dictionary, spellings);
    const spelled = whole.length > 0 ? whole : namedAlike(word.parts.slice(1), dictionary, spellings);
    const alike = new Map(spelled.map((term) => [term, ALIKE_SHARE]));
    if (!isSplit) links.push(alike.size > 0 ? wishOrCorrect(word, weight, alike) : wishOrCorrect(word, weight));
    for (const part of word.parts) wishOrCorrect(plain(part), weight * ranking.part);
    if ((word.parts.length > 0 || compound.length > 0) && isOfSite)
      names.push({ terms: spellings.keysOf(word), words: [] });
    for (const part of compound) {
      const link = wishOrCorrect(plain(part), weight * ranking.part);
      if (isSplit) links.push(link);
    }
  }

  function add(word: Word, weight: number, goesOn: boolean): void {
    const { kind, folded, parts } = word;
    const begun = goesOn ? dictionary.vocabulary.startingWith(folded, PREFIX_WORDS_MAX) : [];
    if (kind === 'run') addRun(folded, weight);
    else if (begun.length > 0) {
      const alternatives = alternativesOf(begun, () => ranking.prefix);
      links.push(wish(spellings.keysOf(word), weight, alternatives, spellings.related(word)));
      for (const part of parts) wish(spellings.keysOf(plain(part)), weight * ranking.part);
    } else if (parts.length > 0 && isNumbered(folded) && !isKnown(word) && mayBeApart(folded)) {
      // If the site does not contain `RFC9110`, search for `RFC 9110`. But the code `TS9999` is not the word `TS`.
      for (const part of parts) links.push(wishOrCorrect(plain(part), weight));
    } else addWord(word, weight);
  }

  function addRun(run: string, weight: number): void {
    const pairs = runTerms(run, spellings);
    const regional = pairsOf(spellings.regionalRun(run));
    const regionalAt = (at: number) => new Map(regional.slice(at, at + 1).map((term) => [term, ALIKE_SHARE]));
    const isKnownPair = pairs.map((terms, at) => terms.some(has) || regionalAt(at).keys().some(has));
    const shares = pairShares(run);
    for (const [at, terms] of pairs.entries()) {
      const isUnknown = !isKnownPair[at] && misspellings < MISSPELLINGS_MAX;
      if (isUnknown) misspellings += 1;
      const also = isUnknown ? otherKana(terms[0] ?? '', pairs[at + 1]?.[0] ?? '', has) : [];
      const link = wish([...terms, ...also], weight * (shares[at] ?? 1), regionalAt(at));
      if (link.share > 0 || !isBetweenWords(terms[0] ?? '', at, isKnownPair)) links.push(link);
    }
  }

  function alternativesOf(candidates: readonly Candidate[], weightOf: (candidate: Candidate) => number) {
    const alternatives = new Map<string, number>();
    for (const candidate of candidates)
      for (const term of spellings.keysOf(plain(candidate.word)))
        alternatives.set(term, Math.max(alternatives.get(term) ?? 0, weightOf(candidate)));
    return alternatives;
  }

  const has = (term: string) => dictionary.sectionsWith(term) > 0;
  const isKnown = (word: Surface) => spellings.keysOf(word).some(has);
  const mayBeApart = (word: string) =>
    !LONG_NUMBER.test(word) || (word.match(/\p{N}+|\P{N}+/gu) ?? []).every((part) => isKnown(plain(part)));
  const known = (candidates: readonly string[]) => {
    const symbol = candidates.find(has);
    return symbol === undefined ? [] : [symbol];
  };
  const symbols = new Set(askedSymbols(text.replaceAll(CONNECTING, ' ')).flatMap(known));
  for (const symbol of symbols) links.push(wish([symbol], ranking.whole));
  for (const symbol of attachedSymbols(text).flatMap(known)) {
    if (!symbols.has(symbol)) wish([symbol], 1);
    symbols.add(symbol);
  }
  for (const symbol of symbols) names.push({ terms: [symbol], words: [] });
  const words = wordsOf(text);
  const last = unfinished ? words.findLast((word) => word.kind === 'word') : undefined;
  const isInName = (word: Word) => knownNames.some(({ start, end }) => start <= word.start && word.end <= end);
  const isPrefix = (word: Word) =>
    word === last &&
    !APOSTROPHE_BEFORE.test(text.slice(0, word.start)) &&
    !(OPTION_BEFORE.test(text.slice(0, word.start)) && isInName(word));
  const isStop = (word: Word) =>
    word.kind === 'word' && !isPrefix(word) && spellings.isStopWord(word.folded, text.slice(word.start, word.end));
  const allStop = symbols.size === 0 && words.every(isStop);
  // `data base` also matches `database`, and `x forwarded for` also matches `X-Forwarded-For`.
  const ordinary = words.filter(({ kind }) => kind === 'word');
  const pairs = ordinary.slice(1).map((word, at) => [ordinary[at] as Word, word]);
  const isShort = ordinary.length <= NAME_WORDS_MAX;
  const candidates: (readonly Word[])[] = pairs.filter(
    (pair) => !pair.every(isShort ? isStop : isKnown) && !ARTICLE.test(pair[0]?.folded ?? ''),
  );
  if (isShort && ordinary.length > 2) candidates.push(ordinary);
  const runs = candidates.slice(0, WISHES_MAX).flatMap((run) => {
    const [first = '', second = '', third = ''] = run.map(({ folded }) => folded);
    // `auto vacuum naptime` also matches `autovacuum_naptime`.
    const joined =
      run.length === 3
        ? [
            [first + second, third],
            [first, second + third],
          ]
        : [];
    const alike = [run.map(({ folded }) => folded), ...joined].flatMap((each) =>
      namedAlike(each, dictionary, spellings),
    );
    return alike.length === 0 ? [] : [{ run, alike, isKnownApart: run.every(isKnown) }];
  });
  const inRuns = new Set(runs.flatMap(({ run }) => run));
  for (const word of words) {
    const weight = isStop(word) && !allStop ? ranking.stopWord : 1;
    // If the site contains `hotfix` but not the word `hot`, do not correct `hot` in the query `hot fix`.
    if (weight === 0 || (inRuns.has(word) && !isKnown(word))) continue;
    if (word.kind === 'joined') addName(word, weight);
    else add(word, isInName(word) ? weight * ranking.partOfName : weight, isPrefix(word));
  }
  for (const pair of [...numberedNames(words), ...quantitiesOf(text)]) {
    const { terms } = wish([pair.join('')], ranking.whole);
    const inRow = pair.flatMap((each) => each.split('.'));
    if (inRow.every((word) => isKnown(plain(word)))) names.push({ terms, words: inRow });
    else if (terms.length > 0) names.push({ terms, words: [] });
  }
  for (const { start, end } of unknownNames.slice(0, 1)) {
    // Look for the words of `logging.level` next to each other, because the site may contain them only inside `logging.level.root`.
    const inside = ordinary.filter((word) => start <= word.start && word.end <= end);
    if (knownNames.length === 0 && inside.length > 1 && inside.every(isKnown))
      names.push({ terms: [], words: inside.map(({ folded }) => folded) });
  }
  const joined: string[] = [];
  for (const { run, alike, isKnownApart } of runs) {
    if (!isKnownApart) links.push(wish(alike, 1));
    // Join words that the site also contains separately only if they are the whole query: `html theme` in a longer query is not
    // `html_theme`.
    else if (run.length === ordinary.length) joined.push(...wish(alike, run.length).terms);
  }
  const rarestFirst = [...wishes.values()].sort((left, right) => right.weight - left.weight);
  return { wishes: rarestFirst.slice(0, WISHES_MAX), links: links.slice(0, WISHES_MAX), names, joined };
}

const JOINTS = ['-', '_', '.', ''];

/**
 * Returns the existing index terms for all spellings of an identifier: `max-connections`, `max_connections`, `max.connections`,
 * `maxConnections`.
 */
function namedAlike(parts: readonly string[], dictionary: Dictionary, spellings: Spellings, joints = JOINTS): string[] {
  const joined = parts.length < 2 ? [] : joints.map((joint) => parts.join(joint));
  const terms = joined.flatMap((name) => [name, ...spellings.keysOf({ folded: name, spelling: name, parts })]);
  if (joints.includes('') && parts.length > 1) terms.push(...spellings.keysOf(plain(parts.join(''))));
  return [...new Set(terms)].filter((term) => dictionary.sectionsWith(term) > 0);
}

/** Identifier in a query. A section matches if it contains one of the index terms `terms`, or `words` next to each other. */
export interface Name {
  readonly terms: readonly string[];
  readonly words: readonly string[];
}

/** True if a related word contains the whole word of the query, which is then no misspelling. */
function isInside(related: ReadonlyMap<string, number>): boolean {
  return Iterator.from(related.values()).some((share) => share >= RELATED_SHARE);
}

/** Two words that some texts write as one word, such as `RFC` and `9110`. */
type Pair = readonly [first: string, second: string];

/** Signs that connect two words of a pasted line, as in `lto = true` and `make && make install`. */
const CONNECTING = /(?<=[\p{L}\p{N}]{2}["')]*\s+)(?:=|&&|\|\|?|;)(?=\s+["'(]*[\p{L}\p{N}]{2})/gu;
const APOSTROPHE_BEFORE = /['\u2018\u2019\uff07]$/;
const OPTION_BEFORE = /(?:^|\s)-{1,2}$/;

/** Returns pairs of word and number, such as `RFC` and `9110` for both `RFC 9110` and `RFC9110`. */
function numberedNames(words: readonly Word[]): Pair[] {
  const ordinary = words.filter(({ kind }) => kind === 'word');
  const pairs = ordinary.flatMap(({ folded, parts }, at): Pair[] => {
    const [name = '', number = ''] = isNumbered(folded) ? parts : [folded, ordinary[at + 1]?.folded];
    return /^\p{N}+$/u.test(number) && /^\p{L}+$/u.test(name) ? [[name, number]] : [];
  });
  return pairs.slice(0, NUMBERED_MAX);
}

/** Matches a number with a unit of time, size or frequency, or a CSS length. */
const QUANTITY =
  /(?<![^\s(=])(\p{N}+(?:\.\p{N}+)?) ?([nu\u00b5m]?s|sec|min|[dhwx]|[kmgtp]i?b?|b|[kmg]?hz|px|r?em|pt|v[hw])(?![\p{L}\p{N}])/giu;

/** Returns pairs of number and unit, as in `1.5s` or `1.5 s`. Empty if the query has a technical identifier: `max_wal_size 1GB`. */
function quantitiesOf(text: string): Pair[] {
  const others = wordsOf(text.replace(QUANTITY, ' '));
  if (others.some(({ kind, folded, parts }) => (kind === 'joined' ? isTechnical(folded) : parts.length > 0))) return [];
  const found = Array.from(text.matchAll(QUANTITY), ([, number = '', unit = '']): Pair => [fold(number), fold(unit)]);
  return found.slice(0, NUMBERED_MAX);
}

/** Returns the index terms for each pair of characters in a text without spaces, such as Chinese. */
function runTerms(run: string, spellings: Spellings): string[][] {
  const variants = spellings.runsOf(run).map((each) => (pairsOf(each).length > 0 ? pairsOf(each) : [each]));
  return (variants[0] ?? []).map((_, at) => [...new Set(variants.map((terms) => terms[at] as string))]);
}

/** Weight of each pair of characters: a word of many pairs, such as `データベース`, must not outweigh a word of one pair, such as `復元`. */
function pairShares(run: string): number[] {
  const scripts = pairsOf(run).map((pair) => (/^\p{Script=Han}/u.test(pair) ? 'han' : 'other'));
  const lengths = Map.groupBy(scripts, (script) => script);
  return scripts.map((script) => 1 / Math.sqrt(lengths.get(script)?.length ?? 1));
}

/** Characters of Japanese endings, and of common Chinese function words, as in 怎么办. */
const FUNCTION_CHARACTER = /[\p{Script=Hiragana}怎么办如何什为吗呢的了是在和与及能可以我你有]/u;

/**
 * True if a pair of characters is unknown only because it spans two words. For Korean, it must follow a known pair. Otherwise,
 * each of its characters must belong to the adjacent known pair, or be a function character.
 */
function isBetweenWords(pair: string, at: number, isKnownPair: readonly boolean[]): boolean {
  if (/^\p{Script=Hangul}/u.test(pair)) return isKnownPair.lastIndexOf(true, at) >= 0;
  const [first = '', second = ''] = pair;
  const isExplained = (character: string, neighbour: number): boolean =>
    isKnownPair[neighbour] === true || FUNCTION_CHARACTER.test(character);
  return isExplained(first, at - 1) && isExplained(second, at + 1);
}

const OKURIGANA = [...'いえきけげしせちっつてみめりるれわ'];

/**
 * Japanese words can be written with or without kana: `取り消` or `取消`. For an unknown pair of characters, returns the pair of the
 * other spelling that the site contains.
 */
function otherKana(pair: string, next: string, has: (term: string) => boolean): string[] {
  const [first = '', second = ''] = pair;
  const kana = OKURIGANA.find((each) => has(first + each) && has(each + second));
  if (kana !== undefined) return [first + kana];
  const without = first + next.slice(1);
  return OKURIGANA.includes(second) && has(without) ? [without] : [];
}

/** Returns the index terms of a query that is a single identifier or symbol. Empty for other queries. */
export function onlyIdentifier(text: string, dictionary: Dictionary, spellings: Spellings): readonly string[] {
  const [first, ...rest] = wordsOf(text);
  const symbols = askedSymbols(text);
  const isStop = ({ kind, folded, start, end }: Word) =>
    kind === 'word' && spellings.isStopWord(folded, text.slice(start, end));
  if (symbols.length > 0)
    return symbols.length === 1 && (first === undefined || [first, ...rest].every(isStop)) ? (symbols[0] ?? []) : [];
  if (first === undefined || rest.some((word) => word.end > first.end)) return [];
  if (first.kind === 'joined') return [first.folded, ...first.parts];
  // A number next to signs, as in `[::-1]`, is not an identifier.
  const isName = first.parts.length > 0 || DIGIT.test(first.folded);
  if (!isName || attachedSymbols(text).length > 0) return [];
  const [own = ''] = spellings.keysOf(first);
  return dictionary.sectionsWith(own) > 0 ? [own] : namedAlike(first.parts, dictionary, spellings);
}

/**
 * Index terms of the phrase, one list per language. Null if the phrase has no words.
 * @param startingWith function that returns the index terms with a given beginning
 */
export function phraseVariants(
  phrase: string,
  spellings: Spellings,
  startingWith: (start: string) => readonly string[],
): string[][] | null {
  const words = wordsOf(phrase).filter((word) => word.kind !== 'joined');
  if (words.length === 0) return null;
  const last = words.at(-1);
  // Text without spaces, such as Chinese, may continue after the end of the phrase. Text that ends inside the phrase must also
  // end in the section, so add its last character.
  const isOpen = last?.kind === 'run' && pairsOf(last.folded).length === 0;
  const termsOf = (word: Word, term: string, at: number): string[] => {
    if (word.kind === 'word') return [term];
    const run = spellings.runsOf(word.folded)[at] ?? word.folded;
    const end = word === last && !isOpen ? [] : [[...run].at(-1) ?? ''];
    return [...pairsOf(run), ...end];
  };
  const variants = new Map<string, string[]>();
  for (const terms of spellings.variants(words))
    for (const at of [0, 1]) {
      const phraseTerms = words.flatMap((word, place) => termsOf(word, terms[place] as string, at));
      variants.set(phraseTerms.join(' '), phraseTerms);
    }
  const all = [...variants.values()];
  if (!isOpen) return all;
  return all.flatMap((terms) => startingWith(terms.at(-1) ?? '').map((end) => [...terms.slice(0, -1), end]));
}

/** Similar words of the site, without stop words: a rare `mode` is not a misspelling of `more`. */
function similarWords(word: string, { vocabulary }: Dictionary, spellings: Spellings): Candidate[] {
  return vocabulary.near(word, CORRECTIONS_MAX).filter((found) => !spellings.isStopWord(found.word, found.word));
}

export function correctedQuery(
  query: string,
  unfinished: boolean,
  dictionary: Dictionary,
  spellings: Spellings,
): string | null {
  const all = wordsOf(query);
  const words = all.filter(({ kind }) => kind === 'word');
  // Do not correct words in paths and addresses, because they usually are from the reader's own system.
  const own = all.filter(({ kind, folded }) => kind === 'joined' && /[/@:\\]/.test(folded));
  let corrected = '';
  let copied = 0;
  let looked = 0;
  for (const word of words) {
    const { folded, parts, start, end } = word;
    const isLast = end === words.at(-1)?.end;
    if (
      start < copied ||
      own.some((name) => name.start <= start && end <= name.end) ||
      (parts.length > 0 && !folded.includes('_')) ||
      DIGIT.test(folded) ||
      spellings.isStopWord(folded, query.slice(start, end))
    )
      continue;
    if (spellings.keysOf(word).some((term) => dictionary.sectionsWith(term) > 0)) continue;
    if (isInside(spellings.related(word)) || spellings.partsOf(word).length > 1) continue;
    if (namedAlike(parts, dictionary, spellings).length > 0) continue;
    if (isLast && unfinished && dictionary.vocabulary.startingWith(folded, 1).length > 0) continue;
    looked += 1;
    if (looked > MISSPELLINGS_MAX || spellings.twoWords(word).length > 0) continue;
    const at = words.indexOf(word);
    const pairs = [words.slice(at - 1, at + 1), words.slice(at, at + 2)].map((pair) => pair.map((each) => each.folded));
    if (pairs.some((pair) => namedAlike(pair, dictionary, spellings).length > 0)) continue;
    const [nearest] = similarWords(folded, dictionary, spellings);
    if (nearest === undefined) continue;
    corrected += query.slice(copied, start) + dictionary.vocabulary.spellingOf(nearest.word);
    copied = end;
  }
  return copied === 0 ? null : corrected + query.slice(copied);
}

/** Maximum identifiers of a query to find in table rows. A query with more identifiers is usually a copied message. */
const NAMES_MAX = 2;

/**
 * Returns a function that finds the position of the line that defines an identifier of the query: an option, a table cell with
 * only an error code, or a signature such as `nextval ( regclass )`, but not a call such as `nextval(x)`. Null if the query has
 * no identifier.
 */
export function rowFinder(query: string): ((text: string) => number | null) | null {
  const tokens = query.trim().split(/\s+/);
  const names = tokens.filter((token) => tokens.length === 1 || /\p{L}.*\d|\d.*\p{L}|\d{4}|^--?\p{L}/u.test(token));
  const [first, ...others] = names.slice(0, NAMES_MAX).map((name) => rowOf(name.replace(/\(\)$/, '')));
  if (first === undefined) return null;
  const row = new RegExp([first, ...others].join('|'), 'imu');
  return (text) => {
    const found = row.exec(text);
    return found === null ? null : text.lastIndexOf('\n', found.index) + 1;
  };
}

function rowOf(name: string): string {
  const written = name.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
  const signature = `^${written} \\(`;
  // Options differ by case: `-h` and `-H`.
  if (/^--?\p{L}/u.test(name)) return `(?-i:^(?:-\\S+, )?${written}(?=[\\s,=[]|$))`;
  return isTechnical(name) || /\p{Ll}\p{Lu}/u.test(name)
    ? `${signature}|^${written} · |· ${written}(?= · |$)`
    : signature;
}
