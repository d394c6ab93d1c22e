import { normalText } from '../render/words.ts';

/** How a text differs from another one. */
export interface TextChange {
  /** Words that only one of the two has; where they stand is not counted. */
  readonly missing: number;
  readonly added: number;
  /** Where they part, in one line. */
  readonly detail: string;
}

/** Words of each text that are shown where they part. */
const SHOWN_WORDS = 8;
const SHOWN_CHARACTERS_MAX = 120;

/** Null where both read the same. */
export function compareText(live: string, written: string): TextChange | null {
  const before = wordsOf(live);
  const after = wordsOf(written);
  const at = before.findIndex((word, index) => word !== after[index]);
  if (at === -1 && before.length === after.length) return null;
  const from = at === -1 ? before.length : at;
  const missing = countOnlyIn(before, after);
  const added = countOnlyIn(after, before);
  const detail = `${missing} words are missing and ${added} are new: live ${show(before, from)}, written ${show(after, from)}`;
  return { missing, added, detail };
}

function wordsOf(text: string): string[] {
  const normal = normalText(text);
  return normal === '' ? [] : normal.split(' ');
}

function countOnlyIn(words: readonly string[], others: readonly string[]): number {
  const left = new Map<string, number>();
  for (const word of others) left.set(word, (left.get(word) ?? 0) + 1);
  let count = 0;
  for (const word of words) {
    const there = left.get(word) ?? 0;
    if (there === 0) count += 1;
    else left.set(word, there - 1);
  }
  return count;
}

function show(words: readonly string[], from: number): string {
  const shown = words.slice(from, from + SHOWN_WORDS).join(' ');
  return shown === '' ? 'ends there' : `"${shown.slice(0, SHOWN_CHARACTERS_MAX)}"`;
}
