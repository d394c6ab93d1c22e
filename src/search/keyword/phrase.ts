import { pairsOf, spellingsOf } from './terms.ts';
import { wordsOf } from './words.ts';

/** FTS5's expression of a phrase: its words side by side in one column, stemmed (English sections) or not. Null without words. */
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
    // A run that the phrase goes on from ends with the section's last character; one that ends the phrase may go on there.
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
