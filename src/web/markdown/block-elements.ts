import { type Element, elementsOf, isElement } from '../content/tree.ts';

export const BLOCKS = new Set(
  (
    'address article aside blockquote center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 ' +
    'header hgroup hr li main ol p pre section summary table tbody td tfoot th thead tr ul caption'
  ).split(' '),
);

/** Inline elements, and those of no name known, that hold blocks. */
export function holdersOfBlocks(root: Element): ReadonlySet<Element> {
  const holders = new Set<Element>();
  for (const element of elementsOf(root)) {
    if (!BLOCKS.has(element.tagName)) continue;
    let { parentNode } = element;
    while (isElement(parentNode) && !BLOCKS.has(parentNode.tagName) && !holders.has(parentNode)) {
      holders.add(parentNode);
      ({ parentNode } = parentNode);
    }
  }
  return holders;
}
