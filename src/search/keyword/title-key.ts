import { wordsOf } from './words.ts';

/** A title or a query as its words alone, so that `What's new?` and `what's  New` are the same. */
export function titleKey(text: string): string {
  return wordsOf(text)
    .filter((word) => word.kind !== 'joined')
    .map((word) => word.folded)
    .join(' ');
}
