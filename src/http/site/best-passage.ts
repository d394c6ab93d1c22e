interface Hit {
  readonly start: number;
  readonly end: number;
}

const LENGTH_MAX = 240;
const BEFORE_MAX = 70;
const CODE_LINES = 3;
const WORD_LENGTH_MAX = 40;

/** Matches consecutive lines that are not blank, in linear time. Safari before 16.4 rejects a script with a lookbehind. */
const LINES = /(?:^.*\S.*\n?)+/gm;

/**
 * Returns the text block with the most search hits. Blocks end at blank lines, and where code begins or ends. In code, returns the
 * lines around the first hit.
 */
export function bestPassage(text: string, highlights: readonly Hit[], code: readonly Hit[] = []) {
  const edges = [0, ...code.flatMap(({ start, end }) => [start, end]), text.length];
  // Text and code alternate between the edges. The first part is text, even if it is empty, so every second part is code.
  const blocks = edges.slice(1).flatMap((edge, part) =>
    [...text.slice(edges[part], edge).matchAll(LINES)].map(({ index, 0: lines }) => {
      const start = (edges[part] ?? 0) + index;
      const end = start + lines.trimEnd().length;
      const hits = highlights.filter((hit) => hit.start >= start && hit.end <= end);
      return { start, end, hits, isCode: part % 2 === 1 };
    }),
  );
  const [firstBlock] = blocks;
  if (firstBlock === undefined) return { start: 0, end: 0, isCode: false };
  const best = blocks.reduce((most, each) => (each.hits.length > most.hits.length ? each : most), firstBlock);
  const { start, end, hits, isCode } = best;
  const first = hits[0]?.start ?? start;
  if (isCode) return { ...linesAround(text, first, start, end), isCode: true };
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
  const first = Math.max(before, start);
  const lines = text.slice(first, end).split('\n', CODE_LINES).join('\n');
  return { start: first, end: first + Math.min(lines.length, 4 * LENGTH_MAX) };
}
