import type { Section } from '../../section.ts';
import { IDENTIFIERS, termsOf } from '../terms.ts';

/** What is written of a section's text. */
export interface SectionTerms {
  /** Of title, headings and text: one term a position. */
  readonly sequences: readonly (readonly string[])[];
  readonly identifiers: readonly string[];
  /** Every occurrence, with the column that it counts in. */
  readonly each: (count: (term: string, column: number) => void) => void;
}

/** @param isOfPage the first section of its page, which the document's title belongs to */
export function sectionTerms(
  { title, headings, text, documentTitle }: Section,
  isOfPage: boolean,
  termOf: (surface: string) => string,
): SectionTerms {
  // The page's first heading is its title on most sites; a title counts once.
  const below = [...(headings[0] === title ? headings.slice(1) : headings), isOfPage ? (documentTitle ?? '') : ''];
  const columns = [title, below.join('\n'), text].map((each) => termsOf(each, termOf));
  const identifiers = columns.flatMap((column) => column.identifiers);
  return {
    sequences: columns.map(({ sequence }) => sequence),
    identifiers,
    each(count) {
      for (const [column, { sequence, characters }] of columns.entries()) {
        for (const term of sequence) count(term, column);
        for (const term of characters) count(term, column);
      }
      for (const term of identifiers) count(term, IDENTIFIERS);
    },
  };
}
