import type { Passage } from '../ports.ts';

type CountTokens = (text: string) => number;

interface PassageOptions {
  /**
   * Maximum tokens of a passage. Fewer than the 256 tokens that a model reads, because docshelf adds title and headings to each
   * passage.
   */
  readonly tokensMax?: number;
  /** Maximum tokens of a sentence that two passages share. */
  readonly overlapTokensMax?: number;
}

const TOKENS_MAX = 220;
const OVERLAP_TOKENS_MAX = 60;

interface Part extends Passage {
  readonly tokens: number;
}

interface Piece extends Part {
  readonly endsParagraph: boolean;
}

const BLANK_LINE = /\n[ \t]*\n\s*/g;

/** Ends of sentences: Latin, Hindi and Arabic marks before white space, Chinese and Japanese marks, and line breaks. */
const SENTENCE_END = /[.!?…]["'”’)\]]*\s+|[。！？｡．][」』”’）]*\s*|[।؟۔]\s+|\n+/g;

/**
 * Cuts a text between paragraphs, else between sentences, else inside a sentence. Two passages of a paragraph may share a
 * sentence.
 * @param countTokens function whose counts for two parts of a text add up to nearly the count for the whole text
 */
export function cutPassages(
  text: string,
  countTokens: CountTokens,
  { tokensMax = TOKENS_MAX, overlapTokensMax = OVERLAP_TOKENS_MAX }: PassageOptions = {},
): Passage[] {
  const passages: Passage[] = [];
  let open: Piece[] = [];
  let tokens = 0;
  const close = (): void => {
    const first = open[0];
    const last = open.at(-1);
    if (first !== undefined && last !== undefined) passages.push({ start: first.start, end: last.end });
  };
  for (const paragraph of between(text, { start: 0, end: text.length }, BLANK_LINE)) {
    const whole = countTokens(text.slice(paragraph.start, paragraph.end));
    const pieces =
      whole <= tokensMax
        ? [{ ...paragraph, tokens: whole, endsParagraph: true }]
        : sentences(text, paragraph, countTokens, tokensMax);
    for (const piece of pieces) {
      if (open.length > 0 && tokens + piece.tokens > tokensMax) {
        close();
        const last = open.at(-1);
        const isRepeated =
          last !== undefined &&
          !last.endsParagraph &&
          last.tokens <= overlapTokensMax &&
          last.tokens + piece.tokens <= tokensMax;
        open = isRepeated ? [last] : [];
        tokens = isRepeated ? last.tokens : 0;
      }
      open.push(piece);
      tokens += piece.tokens;
    }
  }
  close();
  return passages;
}

function* between(text: string, { start, end }: Passage, separator: RegExp): Generator<Passage> {
  const part = text.slice(start, end);
  let from = 0;
  for (const match of part.matchAll(separator)) {
    const to = match.index + match[0].length;
    yield* trimmed(text, start + from, start + to);
    from = to;
  }
  yield* trimmed(text, start + from, end);
}

function* trimmed(text: string, start: number, end: number): Generator<Passage> {
  const part = text.slice(start, end);
  const first = part.search(/\S/);
  if (first !== -1) yield { start: start + first, end: start + part.trimEnd().length };
}

function sentences(text: string, paragraph: Passage, count: CountTokens, tokensMax: number): Piece[] {
  const found = [...between(text, paragraph, SENTENCE_END)];
  const pieces = found.flatMap((sentence) => fitting(text, sentence, count, tokensMax));
  return pieces.map((piece, index) => ({ ...piece, endsParagraph: index === pieces.length - 1 }));
}

function fitting(text: string, { start, end }: Passage, count: CountTokens, tokensMax: number): Part[] {
  const tokens = count(text.slice(start, end));
  const middle = tokens <= tokensMax ? null : cutNearMiddle(text, start, end);
  if (middle === null) return [{ start, end, tokens }];
  const halves = [...trimmed(text, start, middle), ...trimmed(text, middle, end)];
  return halves.flatMap((half) => fitting(text, half, count, tokensMax));
}

function cutNearMiddle(text: string, start: number, end: number): number | null {
  const middle = (start + end) >> 1;
  const quarter = (end - start) >> 2;
  for (let distance = 0; distance <= quarter; distance++) {
    if (/\s/.test(text[middle - distance] ?? '')) return middle - distance;
    if (/\s/.test(text[middle + distance] ?? '')) return middle + distance;
  }
  const isInsidePair = (text.codePointAt(middle - 1) ?? 0) > 0xffff;
  const cut = isInsidePair ? middle - 1 : middle;
  return cut > start && cut < end ? cut : null;
}
