import { bestPassage } from '../../best-passage.ts';
import { element } from './element.js';

export function passageElement(text, { highlights, code }) {
  const { start, end, isCode: asCode } = bestPassage(text, highlights, code);
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
