import { element } from './element.js';

const LENGTH_MAX = 240;
const BEFORE_MAX = 70;
const CODE_LINES = 3;

/** Ends of statements, calls, assignments, tags, prompts, indentation. */
const CODE_LINE =
  /[{};]\s*$|^\s{2,}\S|^\s*(?:[$#>]\s|<\/?\w|\/\/|import\s|export\s|const\s|let\s|def\s|return\b)|\w\([^)]*\)\s*$|\w\s?=\s?\S/;

/** True where half of its lines and more are read as code: an answer's text does not say which is. */
function isCode(lines) {
  const count = lines.filter((line) => CODE_LINE.test(line)).length;
  return count * 2 >= lines.length && lines.length > 0 && count > 0;
}

/**
 * What of a section's text is shown: the block with most hits (blank lines part them), of code its lines around the first hit.
 *
 * @returns {{start: number, end: number, isCode: boolean}} of the text
 */
export function bestPassage(text, highlights) {
  const blocks = [...text.matchAll(/\S[\s\S]*?(?=\n\s*\n|$)/g)].map(({ index, 0: block }) => {
    const end = index + block.length;
    return { start: index, end, hits: highlights.filter((hit) => hit.start >= index && hit.end <= end) };
  });
  const best = blocks.reduce((most, each) => (each.hits.length > most.hits.length ? each : most), blocks[0]);
  if (best === undefined) return { start: 0, end: 0, isCode: false };
  const { start, end, hits } = best;
  const first = hits[0]?.start ?? start;
  if (isCode(text.slice(start, end).split('\n'))) return { ...linesAround(text, first, start, end), isCode: true };
  const from = first - start > BEFORE_MAX ? text.lastIndexOf(' ', first - BEFORE_MAX / 2) + 1 : start;
  return { start: Math.max(from, start), end: Math.min(end, from + LENGTH_MAX), isCode: false };
}

function linesAround(text, place, start, end) {
  const lineStart = text.lastIndexOf('\n', place - 1) + 1;
  const before = lineStart > start ? text.lastIndexOf('\n', lineStart - 2) + 1 : lineStart;
  let last = Math.max(before, start);
  for (let line = 0; line < CODE_LINES && last < end; line += 1) {
    const next = text.indexOf('\n', last);
    last = next === -1 || next >= end ? end : next + 1;
  }
  return { start: Math.max(before, start), end: Math.min(last, end, start + 4 * LENGTH_MAX) };
}

/** The passage with its hits marked. */
export function passageElement(text, highlights) {
  const { start, end, isCode: asCode } = bestPassage(text, highlights);
  const parts = [];
  if (start > 0 && !asCode) parts.push('… ');
  let at = start;
  for (const hit of highlights) {
    if (hit.start < at || hit.end > end) continue;
    parts.push(text.slice(at, hit.start), element('mark', {}, text.slice(hit.start, hit.end)));
    at = hit.end;
  }
  parts.push(text.slice(at, end).trimEnd());
  if (end < text.length && !asCode) parts.push(' …');
  return element(
    asCode ? 'code' : 'span',
    { class: asCode ? 'passage code' : 'passage', dir: asCode ? 'ltr' : 'auto' },
    ...parts,
  );
}
