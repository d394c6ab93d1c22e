import type { ScoreReasons } from '../../domain/search.ts';
import type { IndexedSection } from '../keyword/index-writer.ts';
import type { KeywordIndex } from '../keyword/keyword-index.ts';
import { ENGLISH, keyOf, languageOf, simplify, type WordLanguage } from '../keyword/languages.ts';
import { pairsOf, plain, type Surface, symbolsOf, type Word, wordsOf } from '../keyword/words.ts';
import type { Passage } from '../ports.ts';
import type { ResultForm, SearchResult } from '../request.ts';
import type { RankedSection, RankParts } from './rank.ts';

interface Excerpt {
  readonly content: string;
  readonly highlights: readonly Highlight[];
}

/** Index terms of the query that occur in a section, and their languages, to highlight the words in the text. */
interface Marked {
  readonly terms: readonly string[];
  readonly languages: readonly WordLanguage[];
}

interface QueryFindings {
  readonly matchedIn: (section: number) => readonly string[];
  readonly passageOf: (section: number) => number | undefined;
  /** Position in the section's text of the line that defines a name in the query, such as an option in a table. */
  readonly rowOf: (section: number) => number | undefined;
  readonly partsOf: ((section: number) => RankParts) | null;
}

export function excerptsOf(
  ranked: readonly RankedSection[],
  keyword: KeywordIndex,
  { matchedIn, passageOf, rowOf, partsOf }: QueryFindings,
  { root, version: otherwise, source }: ResultForm,
): SearchResult[] {
  const read = keyword.sections(ranked.map(({ section }) => section));
  return ranked.flatMap(({ section, score }) => {
    const found = read.get(section);
    if (found === undefined) return [];
    const { title, headings, language, tags } = found;
    const languages = language === null ? keyword.languages : [languageOf(language)];
    const marked = { terms: matchedIn(section), languages };
    const passages = keyword.facts.passages(section);
    const row = fromRow(passages, rowOf(section));
    const { content, highlights } = excerptOf(found, row ?? passages, row === null ? passageOf(section) : 0, marked);
    const version = found.version ?? otherwise;
    const metadata = { score, title, headings, version, language, tags, highlights, ...(source && { source }) };
    const result = { content, path: root + found.path, metadata };
    if (partsOf === null) return result;
    const reasons = { ...partsOf(section), places: placesOf(found, marked), prior: keyword.priors[section] ?? 0 };
    return { ...result, reasons };
  });
}

/** Adds a passage that starts at the position `row`. Null if there is no such position, or if the section has only one passage. */
function fromRow(passages: readonly Passage[], row: number | undefined): readonly Passage[] | null {
  if (row === undefined || passages.length < 2) return null;
  const end = passages.find((passage) => passage.end > row)?.end;
  return end === undefined ? null : [{ start: row, end }, ...passages];
}

function excerptOf(
  { text, headings, title }: IndexedSection,
  passages: readonly Passage[],
  nearest: number | undefined,
  marked: Marked,
): Excerpt {
  // A section without text was found by its heading, so show the heading.
  const whole = text || (headings.at(-1) ?? title);
  const excerpt = (content: string) => ({ content, highlights: highlightsOf(content, marked.terms, marked.languages) });
  const excerptIn = ({ start, end }: Passage): Excerpt => excerpt(text.slice(start, end));
  if (passages.length < 2) return excerpt(whole);
  const passage = passages[nearest ?? -1];
  const near = passage === undefined ? null : excerptIn(passage);
  // If the nearest passage contains no query word, show a passage with query words, because readers look for them.
  if (near !== null && near.highlights.length > 0) return near;
  return (
    mostMarked(Iterator.from(passages).map(excerptIn), marked.terms.length) ?? near ?? excerptIn(passages[0] as Passage)
  );
}

/** Returns the first excerpt with most distinct query words, or null if none has a query word. @param wordsMax enough words to stop */
function mostMarked(excerpts: Iterable<Excerpt>, wordsMax: number): Excerpt | null {
  let most: Excerpt | null = null;
  let words = 0;
  for (const excerpt of excerpts) {
    const { content, highlights } = excerpt;
    const different = new Set(highlights.map(({ start, end }) => content.slice(start, end).toLowerCase())).size;
    if (different <= words) continue;
    most = excerpt;
    words = different;
    if (words >= wordsMax) break;
  }
  return most;
}

function placesOf({ title, headings, text }: IndexedSection, { terms, languages }: Marked): ScoreReasons['places'] {
  const texts = { title: [title], headings, text: [text] };
  const isMarked = (each: string): boolean => highlightsOf(each, terms, languages).length > 0;
  return (['title', 'headings', 'text'] as const).filter((place) => texts[place].some(isMarked));
}

interface Highlight {
  readonly start: number;
  readonly end: number;
}

export function highlightsOf(
  text: string,
  matched: readonly string[],
  languages: readonly WordLanguage[] = [ENGLISH],
): Highlight[] {
  const terms = new Set(matched);
  const isMatched = matcherOf(terms, languages);
  const places: Highlight[] = [];
  for (const word of wordsOf(text)) {
    if (word.kind === 'run') places.push(...placesInRun(word, terms));
    else if (isMatched(word) || word.parts.some((part) => isMatched(plain(part))))
      places.push({ start: word.start, end: word.end });
  }
  if (matched.some(isSymbol))
    for (const { symbol, start, end } of symbolsOf(text)) if (terms.has(symbol)) places.push({ start, end });
  const merged: Highlight[] = [];
  for (const place of places.sort((left, right) => left.start - right.start)) {
    const last = merged.at(-1);
    if (last === undefined || place.start > last.end) merged.push(place);
    else merged[merged.length - 1] = { start: last.start, end: Math.max(last.end, place.end) };
  }
  return merged;
}

const isSymbol = (term: string): boolean => !/[\p{L}\p{N}]/u.test(term);

/** An English word and its stem have the same first letter, so other words need no stemming. */
function matcherOf(terms: ReadonlySet<string>, languages: readonly WordLanguage[]): (word: Surface) => boolean {
  const initials = new Set(Array.from(terms, (term) => term.charCodeAt(0)));
  const isEnglish = languages.every(({ code }) => code === ENGLISH.code);
  const known = new Map<string, boolean>();
  return (word) => {
    const { folded, spelling } = word;
    if (isEnglish && !initials.has(folded.charCodeAt(0))) return false;
    const before = known.get(spelling);
    if (before !== undefined) return before;
    const isMatched = terms.has(folded) || languages.some((language) => terms.has(keyOf(word, language)));
    known.set(spelling, isMatched);
    return isMatched;
  };
}

function placesInRun({ folded, start, end }: Word, terms: ReadonlySet<string>): Highlight[] {
  const places: Highlight[] = [];
  const pairs = pairsOf(folded);
  const isMatched = (term: string): boolean => terms.has(term) || terms.has(simplify(term));
  let at = start;
  for (const [number, character] of [...folded].entries()) {
    const pair = pairs[number];
    if (isMatched(character)) places.push({ start: at, end: at + character.length });
    if (pair !== undefined && isMatched(pair)) places.push({ start: at, end: at + pair.length });
    at += character.length;
  }
  // Folding has changed the length, so the exact positions are unknown. Mark the whole text from `start` to `end`.
  if (places.length > 0 && folded.length !== end - start) return [{ start, end }];
  return places;
}
