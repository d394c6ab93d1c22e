import { type Element, findElement, isElement, isHeading, isText } from './tree.ts';

/** Cells that lay out code or headings hold no data. */
export function isLayoutCell(cell: Element): boolean {
  return holdsBlocks(cell) || isCodeCell(cell);
}

export function holdsBlocks(cell: Element): boolean {
  return findElement(cell, (inner) => inner.tagName === 'table' || isHeading(inner)) !== null;
}

/** Sphinx and others number lines of code in a table of two cells. */
function isCodeCell(cell: Element): boolean {
  const [only, ...others] = cell.childNodes.filter(
    (child) => isElement(child) || (isText(child) && child.value.trim() !== ''),
  );
  if (!isElement(only) || others.length > 0) return false;
  return only.tagName === 'pre' || (only.tagName === 'div' && isCodeCell(only));
}
