import { isClutter } from './clutter.ts';
import type { ContentRoot } from './content-root.ts';
import type { Element } from './tree.ts';

/** Inside the content's element and no part of it. @param isBeforeText true where nothing was read yet */
export function isBeside(element: Element, { isMarked, density }: ContentRoot, isBeforeText: boolean): boolean {
  if (isClutter(element)) return true;
  const { tagName } = element;
  // An aside is a note of the text, or a menu beside it.
  if (tagName === 'aside') return density.isLinkList(element);
  if (isMarked) return false;
  if (tagName === 'header') return !density.holdsTitle(element);
  // A bare list of links is a menu at the top, and further reading below text.
  if (tagName === 'ul') return isBeforeText && density.isLinkList(element);
  return /^(?:div|section|table|td)$/.test(tagName) && density.isLinkList(element);
}
