interface Hit {
  readonly start: number;
  readonly end: number;
}

const LENGTH_MAX = 240;
const BEFORE_MAX = 70;
const CODE_LINES = 3;
const WORD_LENGTH_MAX = 40;

const CODE_LINE =
  /[{};]\s*$|^\s{2,}\S|^\s*(?:[$#>]\s|<\/?\w|\/\/|import\s|export\s|const\s|let\s|def\s|return\b)|\w\([^)]*\)\s*$|\w\s?=\s?\S/;

function isCode(lines: readonly string[]): boolean {
  const count = lines.filter((line) => CODE_LINE.test(line)).length;
  return count * 2 >= lines.length && lines.length > 0 && count > 0;
}

/** Returns the text block with the most search hits. Blocks end at blank lines. In code, returns the lines around the first hit. */
export function bestPassage(text: string, highlights: readonly Hit[]) {
  const blocks = [...text.matchAll(/\S[\s\S]*?(?=\n\s*\n|$)/g)].map(({ index, 0: block }) => {
    const end = index + block.length;
    return { start: index, end, hits: highlights.filter((hit) => hit.start >= index && hit.end <= end) };
  });
  const [firstBlock] = blocks;
  if (firstBlock === undefined) return { start: 0, end: 0, isCode: false };
  const best = blocks.reduce((most, each) => (each.hits.length > most.hits.length ? each : most), firstBlock);
  const { start, end, hits } = best;
  const first = hits[0]?.start ?? start;
  if (isCode(text.slice(start, end).split('\n'))) return { ...linesAround(text, first, start, end), isCode: true };
  const from = first - start > BEFORE_MAX ? afterSpace(text, first - BEFORE_MAX / 2) : start;
  const until = from + LENGTH_MAX < end ? afterSpace(text, from + LENGTH_MAX) : end;
  return { start: Math.max(from, start), end: until, isCode: false };
}

/** Start of the word at `place`. If no space is near, as in Chinese text, returns a position between two characters. */
function afterSpace(text: string, place: number): number {
  const space = /\s\S*$/.exec(text.slice(Math.max(0, place - WORD_LENGTH_MAX), place));
  if (space !== null) return place - space[0].length + 1;
  const isInsidePair = /[\udc00-\udfff]/.test(text[place] ?? '');
  return isInsidePair ? place - 1 : place;
}

function linesAround(text: string, place: number, start: number, end: number): Hit {
  const lineStart = text.lastIndexOf('\n', place - 1) + 1;
  const before = lineStart > start ? text.lastIndexOf('\n', lineStart - 2) + 1 : lineStart;
  let last = Math.max(before, start);
  for (let line = 0; line < CODE_LINES && last < end; line += 1) {
    const next = text.indexOf('\n', last);
    last = next === -1 || next >= end ? end : next + 1;
  }
  return { start: Math.max(before, start), end: Math.min(last, end, start + 4 * LENGTH_MAX) };
}
