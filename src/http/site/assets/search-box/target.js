import { bestPassage } from '../../best-passage.ts';

const CONTEXT_WORDS = 3;

/** Returns the address of a result. The address is on the host of the site, whatever the path contains. */
export function addressOf({ path, content, metadata, site }) {
  const { origin } = new URL(site?.address ?? '/', location.origin);
  const address = new URL(`/${path.replace(/^[/\\]+/, '')}`, origin);
  // Omit the text fragment (https://wicg.github.io/scroll-to-text-fragment/) in other browsers, which would look for an id of that name.
  const directive = 'fragmentDirective' in document ? textDirective(content, metadata) : '';
  if (directive !== '') address.hash = `${address.hash === '' ? '#' : address.hash}:~:text=${directive}`;
  return address.href;
}

/** Builds a text fragment with the words around the hit: with only the hit, the browser would find the first such word of the page. */
function textDirective(text, { highlights, code, language }) {
  const { start, end } = bestPassage(text, highlights, code);
  const hit = highlights.find((each) => each.start >= start && each.end <= end);
  if (hit === undefined) return '';
  const { from, to } = lineOf(text, hit);
  const words = wordsOf(text.slice(from, to), language).map(([index, length]) => [from + index, from + index + length]);
  const first = words.findIndex(([, wordEnd]) => wordEnd > hit.start);
  const last = words.findLastIndex(([wordStart]) => wordStart < hit.end);
  if (first === -1 || last < first) return '';
  const [hitStart] = words[first];
  const [, hitEnd] = words[last];
  const before = text.slice(words[Math.max(0, first - CONTEXT_WORDS)][0], hitStart).trim();
  const after = text.slice(hitEnd, words[Math.min(words.length - 1, last + CONTEXT_WORDS)][1]).trim();
  return [
    ...(before === '' ? [] : [`${encode(before)}-`]),
    encode(text.slice(hitStart, hitEnd)),
    ...(after === '' ? [] : [`-${encode(after)}`]),
  ].join();
}

/** Returns the line or table cell of the hit, without line breaks, separators of cells and bullets: only the index has these. */
function lineOf(text, hit) {
  const lineStart = text.lastIndexOf('\n', hit.start - 1) + 1;
  const textStart = lineStart + (text.startsWith('- ', lineStart) ? 2 : 0);
  const newLine = text.indexOf('\n', hit.end);
  const dot = text.lastIndexOf(' · ', hit.start);
  const nextDot = text.indexOf(' · ', hit.end);
  const ends = [newLine, nextDot].filter((at) => at !== -1);
  return {
    from: Math.min(hit.start, Math.max(textStart, dot === -1 ? 0 : dot + 3)),
    to: Math.min(text.length, ...ends),
  };
}

/** Splits words like the browser. @returns {[index: number, length: number][]} */
function wordsOf(line, language) {
  let locale;
  try {
    [locale] = Intl.getCanonicalLocales(language ?? []);
  } catch {}
  const segments = new Intl.Segmenter(locale, { granularity: 'word' }).segment(line);
  return [...segments].filter(({ isWordLike }) => isWordLike).map(({ index, segment }) => [index, segment.length]);
}

const encode = (words) => encodeURIComponent(words.replaceAll(/\s+/g, ' ')).replaceAll('-', '%2D');
